"""What coremltools says of a Core ML package: its types, its ranks, its next steps."""
import pathlib
import shutil


def load_program(path):
    """The package's program as coremltools infers its types. Raises where an op, a type
    or a rank is not what Core ML takes."""
    import coremltools as ct
    from coremltools.converters.mil.frontend.milproto.load import load
    model = ct.models.MLModel(str(path), skip_model_load=True)
    spec = model.get_spec()
    program = load(spec, spec.specificationVersion, model.weights_dir)
    program._check_early_error_out_for_invalid_program()
    return program


def features(path, function=None):
    """(names of inputs, names of outputs) in the order of the description."""
    import coremltools as ct
    description = ct.utils.load_spec(str(path)).description
    if len(description.functions):
        description = next(one for one in description.functions
                           if one.name == (function or description.defaultFunctionName))
    return [one.name for one in description.input], [one.name for one in description.output]


def save(model, path):
    path = pathlib.Path(path)
    shutil.rmtree(path, ignore_errors=True)
    model.save(str(path))
    return path
