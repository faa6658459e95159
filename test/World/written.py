"""What anec writes, in the hands of a user of coremltools.

The subjects are in _subjects.py. Steps: written by anec; loaded by coremltools, whose
inference finds the declared type and rank of every value; weights, bit by bit those of
the source; biases, where Apple's passes join none more; run; onnxruntime, for an ONNX
source. Then what a user does next, each time read by anec again with the same numbers: the
passes of coremltools, weights as int8 and as palettes, several functions, a pipeline, the
two halves, other types at the border."""
import functools
import json
import shutil

import _packages
import _subjects
import harness
from harness import RIGHT, Item, near, relative_error, wrong

EXACT = 1e-4  # Of the largest element, in fp32; fp16 constants are rounded in both.


def items():
    return [Item(row.name, row.variant, functools.partial(check, row), sample=row.sample,
                 seconds=200) for row in _subjects.subjects()]


def check(row, ctx):
    source, flags, arrays = row.make(ctx)
    package = ctx.folder / "m.mlpackage"
    outcome = ctx.step(ctx.run("anec", source, *flags, "-o", package))
    steps = {"written": outcome or RIGHT}
    if outcome:
        return steps
    try:
        program = _packages.load_program(package)
    except Exception as error:  # Whatever coremltools raises.
        steps["loaded"] = raised(error)
        return steps
    steps["loaded"] = RIGHT
    if row.variant == "summed_biases":
        steps["biases"] = judge_biases(package)
    if arrays:
        steps["weights"] = judge_weights(program, arrays)
    function = default_function(package)
    inputs = draw_inputs(package, function)
    right, outcome = ctx.outputs(package, inputs, "--numerics=fp32")
    steps["run"] = outcome or RIGHT
    if outcome:
        return steps
    if source.suffix == ".onnx":
        steps["onnxruntime"] = beside_onnxruntime(source, inputs, right)
    if all(flag.startswith(KEPT) for flag in flags):
        steps["source"] = beside_source(ctx, source, flags, package, inputs, function)
    if row.name == "random":  # Many, and only the first steps.
        return steps
    user = NextSteps(ctx, package, function, inputs, right)
    for name, step in NextSteps.ALL.items():
        try:
            outcome = step(user)
        except NotImplementedError:  # What coremltools does not do with any package.
            outcome = None
        except Exception as error:  # Whatever coremltools raises.
            outcome = raised(error)
        if outcome:
            steps[name] = outcome
    return steps


def raised(error):
    return wrong(f"coremltools: {type(error).__name__}: {error}")


def default_function(package):
    """The name of the function that runs; None where only `main` is."""
    import coremltools as ct
    description = ct.utils.load_spec(str(package)).description
    return description.defaultFunctionName or None


def described_inputs(package, function):
    import coremltools as ct
    description = ct.utils.load_spec(str(package)).description
    if len(description.functions):
        description = next(one for one in description.functions if one.name == function)
    return description.input


def draw_inputs(package, function):
    """Arrays by name: small numbers, and indices that every table has."""
    import numpy
    random = numpy.random.default_rng(1)
    arrays = {}
    for one in described_inputs(package, function):
        if one.type.WhichOneof("Type") == "imageType":
            image = one.type.imageType
            arrays[one.name] = random.integers(0, 256, (image.height, image.width, 3)).astype(
                numpy.float32)
            continue
        array = one.type.multiArrayType
        integer = array.dataType & 0xFFFF == 32 and array.dataType >> 16 == 2
        shape = tuple(array.shape)
        arrays[one.name] = random.integers(0, 2, shape).astype(numpy.int32) if integer else \
            random.standard_normal(shape).astype(numpy.float32)
    return arrays


def judge_biases(package):
    """Apple's passes that join biases find none that is left."""
    from coremltools.converters.mil.mil.passes.pass_registry import PASS_REGISTRY
    program = _packages.load_program(package)
    before = [op.op_type for op in program.functions["main"].operations]
    for name in ("common::fuse_conv_bias", "common::fuse_linear_bias",
                 "common::fuse_matmul_weight_bias"):
        PASS_REGISTRY[name](program)
    left = [op for op in ("add", "sub") if before.count(op) != sum(
        one.op_type == op for one in program.functions["main"].operations)]
    return wrong(f"Apple's passes join a bias of `{left[0]}`") if left else RIGHT


def judge_weights(program, arrays):
    """Every array of the source is among the constants, element by element. Programs lay
    weights out in other orders."""
    import numpy

    def key(array):
        return numpy.sort(array.reshape(-1)).tobytes()

    constants = {}
    for function in program.functions.values():
        for op in function.operations:
            if op.op_type == "const" and isinstance(op.outputs[0].val, numpy.ndarray):
                value = op.outputs[0].val
                constants.setdefault(value.dtype, set()).add(key(value))
    for name, array in arrays.items():
        forms = [array, array.astype(numpy.float16)]
        if not any(key(form) in constants.get(form.dtype, ()) for form in forms):
            return wrong(f"`{name}` is not among the constants")
    return RIGHT


def beside_onnxruntime(source, inputs, outputs):
    import numpy
    import onnxruntime
    session = onnxruntime.InferenceSession(str(source))
    kinds = {one.name: one.type for one in session.get_inputs()}
    given = {name: array.reshape([]) if session_rank(session, name) == 0 else array
             for name, array in inputs.items()}
    given = {name: array.astype(numpy.int64 if "int64" in kinds[name] else numpy.float32)
             for name, array in given.items()}
    expected = session.run(None, given)
    # Weights are rounded where the package is of fp16.
    return near(max(relative_error(got, want.astype(numpy.float64))
                    for got, want in zip(outputs.values(), expected)), 1e-2)


# Flags of a program that computes what its source says.
KEPT = ("--define=", "--init=", "--weights=", "--deployment=")


def beside_source(ctx, source, flags, package, inputs, function):
    """The package's outputs by `--compare --reference`, up to the rounding of weights."""
    import numpy
    words = [flag for flag in flags if not flag.startswith("--deployment=")]
    for place, (name, array) in enumerate(inputs.items()):
        numpy.save(ctx.folder / f"source-{place}.npy", array)
        words += ["--input", f"{name}={ctx.folder / f'source-{place}.npy'}"]
    if function:
        words.append(f"--function={function}")
    result = ctx.run("ane-run", package, *words, "--compare", f"--reference={source}",
                     "--numerics=fp32", "--atol=1e30", "--equal-nan", "--json")
    if outcome := ctx.step(result):
        return outcome
    return near(max((float(one["relative_error"])
                     for one in json.loads(result.stdout)["outputs"]), default=0.0), 1e-2)


def session_rank(session, name):
    return next(len(one.shape) for one in session.get_inputs() if one.name == name)


class NextSteps:
    """What a user does next. A step that does not apply gives None."""

    def __init__(self, ctx, package, function, inputs, right):
        self.ctx, self.package, self.function = ctx, package, function
        self.inputs, self.right = inputs, right

    @functools.cached_property
    def isPlain(self):
        import coremltools as ct
        spec = ct.utils.load_spec(str(self.package))
        return not len(spec.description.functions)

    @functools.cached_property
    def hasStates(self):
        import coremltools as ct
        description = ct.utils.load_spec(str(self.package)).description
        parts = list(description.functions) or [description]
        return any(len(one.state) for one in parts)

    def model(self):
        import coremltools as ct
        return ct.models.MLModel(str(self.package), skip_model_load=True)

    def again(self, path, right=None, limit=EXACT, function=None, inputs=None, ending=None):
        """The outcome of reading and running what came out. `ending` is what coremltools
        adds to the names of outputs."""
        flags = ["--numerics=fp32"]
        if function or self.function:
            flags.append(f"--function={function or self.function}")
        got, outcome = self.ctx.outputs(path, inputs or self.inputs, *flags, name="again")
        if outcome:
            return outcome
        right = right or self.right
        if ending:
            got = {name.removesuffix(ending): array for name, array in got.items()}
        missing = set(right) - set(got)
        if missing:
            return wrong(f"no output {sorted(missing)[0]}")
        import numpy
        errors = [0.0 if array.dtype.kind in "US" else
                  relative_error(got[name], array.astype(numpy.float64))
                  for name, array in right.items()]
        return near(max(errors), limit)

    def passes(self):
        """The passes that coremltools runs when it converts, then written by it."""
        import coremltools as ct
        from coremltools.converters.mil.mil.passes.pass_pipeline import (PassPipeline,
                                                                         PassPipelineManager)
        if not self.isPlain or self.hasStates:
            return None
        program = _packages.load_program(self.package)
        pipeline = PassPipeline()
        pipeline.remove_passes({"common::add_fp16_cast", "common::add_int16_cast"})
        PassPipelineManager.apply_pipeline(program, pipeline)
        spec = self.model().get_spec()
        target = {6: ct.target.iOS15, 7: ct.target.iOS16, 8: ct.target.iOS17,
                  9: ct.target.iOS18}.get(spec.specificationVersion, ct.target.iOS26)
        description = spec.description
        if description.predictedFeatureName or any(
                one.type.WhichOneof("Type") == "imageType" for one in description.input):
            return None  # Conversion would have to be told of them again.
        for function in program.functions.values():
            function.opset_version = target
        model = ct.converters.mil.converter.mil_convert(
            program, convert_from="milinternal", convert_to="mlprogram",
            specification_version=spec.specificationVersion, skip_model_load=True,
            compute_units=ct.ComputeUnit.CPU_ONLY,
            pass_pipeline=PassPipeline.EMPTY)
        return self.again(_packages.save(model, self.ctx.folder / "passes.mlpackage"))

    def compressed(self, compress, name):
        """Beside what coremltools itself unpacks."""
        import coremltools as ct
        if not self.isPlain or self.model().get_spec().specificationVersion < 7:
            return None
        model = compress(self.model())
        path = _packages.save(model, self.ctx.folder / f"{name}.mlpackage")
        dense = ct.optimize.coreml.decompress_weights(model)
        plain = _packages.save(dense, self.ctx.folder / f"{name}-dense.mlpackage")
        right, outcome = self.ctx.outputs(plain, self.inputs, "--numerics=fp32", name="dense")
        return outcome or self.again(path, right, limit=2 ** -9)

    def linear(self):
        import coremltools.optimize.coreml as cto
        config = cto.OptimizationConfig(global_config=cto.OpLinearQuantizerConfig(
            mode="linear_symmetric", weight_threshold=16))
        return self.compressed(lambda model: cto.linear_quantize_weights(model, config), "linear")

    def palette(self):
        import coremltools.optimize.coreml as cto
        config = cto.OptimizationConfig(global_config=cto.OpPalettizerConfig(
            mode="uniform", nbits=4, weight_threshold=16))
        return self.compressed(lambda model: cto.palettize_weights(model, config), "palette")

    def functions(self):
        from coremltools.models.utils import MultiFunctionDescriptor, save_multifunction
        model = self.model()
        # What coremltools writes then needs macos15 itself, and it asks for weights.
        if model.get_spec().specificationVersion < 9 or not model.weights_dir:
            return None
        name = self.function or "main"
        desc = MultiFunctionDescriptor()
        desc.add_function(str(self.package), name, "first")
        desc.add_function(str(self.package), name, "second")
        desc.default_function_name = "first"
        path = self.ctx.folder / "functions.mlpackage"
        shutil.rmtree(path, ignore_errors=True)
        save_multifunction(desc, str(path))
        return self.again(path, function="second")

    def pipeline(self):
        """The program, and one that doubles its first output."""
        import coremltools as ct
        from coremltools.converters.mil import Builder as mb
        if not self.isPlain or self.hasStates:
            return None
        model = self.model()
        output = model.get_spec().description.output[0]
        if output.type.WhichOneof("Type") != "multiArrayType":
            return None
        array = output.type.multiArrayType
        kinds = {65552: (ct.converters.mil.mil.types.fp16, "fp16"),
                 65568: (ct.converters.mil.mil.types.fp32, "fp32")}
        shape = self.right[output.name].shape
        if array.dataType not in kinds or not shape:
            return None
        import numpy
        kind, spelling = kinds[array.dataType]
        number = numpy.float16(2) if spelling == "fp16" else numpy.float32(2)

        @mb.program(input_specs=[mb.TensorSpec(shape, kind)],
                    opset_version=ct.target.iOS16)
        def double(x):
            return mb.mul(x=x, y=number, name="doubled")

        second = ct.convert(double, minimum_deployment_target=ct.target.iOS16,
                            compute_precision=ct.precision.FLOAT32, skip_model_load=True)
        ct.utils.rename_feature(second._spec, "x", output.name)
        second = ct.models.MLModel(second._spec, weights_dir=second.weights_dir,
                                   skip_model_load=True)
        both = ct.utils.make_pipeline(model, second)
        path = _packages.save(both, self.ctx.folder / "pipeline.mlpackage")
        return self.again(path, {"doubled": 2 * self.right[output.name].astype(numpy.float64)})

    def halves(self):
        """The second half, on what the first half gives."""
        import coremltools as ct
        if not self.isPlain or self.hasStates:
            return None
        folder = self.ctx.folder / "halves"
        folder.mkdir(exist_ok=True)
        try:
            ct.models.utils.bisect_model(str(self.package), str(folder),
                                         check_output_correctness=False)
        except ValueError as error:
            # Nothing to part, or coremltools parts at a number, which is no input.
            if "bisect point" in str(error) or "Rank" in str(error):
                return None
            raise
        first, second = (folder / f"m_chunk{n}.mlpackage" for n in (1, 2))
        names = {one.name for one in described_inputs(first, None)}
        given = {name: array for name, array in self.inputs.items() if name in names}
        middle, outcome = self.ctx.outputs(first, given, "--numerics=fp32", name="first")
        if outcome:
            return outcome
        names = {one.name for one in described_inputs(second, None)}
        given = {name: array for name, array in (self.inputs | middle).items() if name in names}
        return self.again(second, inputs=given, limit=2 ** -9)

    def border(self):
        """fp32 instead of fp16 at the border, or the other way round."""
        import coremltools as ct
        from coremltools.models.utils import change_input_output_tensor_type
        if not self.isPlain or self.model().get_spec().specificationVersion < 7:
            return None
        kinds = ct.proto.FeatureTypes_pb2.ArrayFeatureType
        model = self.model()
        halves = any(one.type.multiArrayType.dataType == kinds.FLOAT16
                     for one in model.get_spec().description.input)
        old, new = (kinds.FLOAT16, kinds.FLOAT32) if halves else (kinds.FLOAT32, kinds.FLOAT16)
        changed = change_input_output_tensor_type(ml_model=model, from_type=old, to_type=new,
                                                  input_names=["*"], output_names=["*"])
        path = _packages.save(changed, self.ctx.folder / "border.mlpackage")
        return self.again(path, limit=2 ** -6, ending="_to_" + ("fp32" if halves else "fp16"))

    ALL = {"passes": passes, "linear": linear, "palette": palette, "functions": functions,
           "pipeline": pipeline, "halves": halves, "border": border}
