"""The doors through which a model leaves PyTorch: rows of exporters and their options,
and what each writes."""
import dataclasses
import fnmatch
import inspect

import _packages

IMAGE_SCALE, IMAGE_BIAS = 1 / 127.5, -1.0


@dataclasses.dataclass(frozen=True)
class Door:
    """`form` is what is special about a Core ML package; `compression` names the steps
    of coremltools.optimize."""
    name: str
    front: str
    opset: int = 0
    target: str = ""
    precision: str = ""
    form: str = ""
    compression: str = ""

    @property
    def is_onnx(self):
        return bool(self.opset)

    def takes(self, row):
        if any(fnmatch.fnmatch(self.name, pattern) for pattern in row.without):
            return False
        if row.states:
            return self.form == "state"
        needs = {"": True, "image": row.is_image, "image-bgr": row.is_image,
                 "classifier": row.is_classifier, "functions": True, "state": False,
                 "range": bool(row.flexible), "enumerated": bool(row.flexible)}
        return needs[self.form]


ONNX = tuple([Door(f"script-{n}", "script", opset=n) for n in range(17, 21)]
             + [Door(f"dynamo-{n}", "dynamo", opset=n) for n in range(17, 26)])
ONNX_RANGES = tuple(Door(f"{front}-{n}-range", front, opset=n, form="range")
                    for front, n in (("script", 18), ("dynamo", 20)))

TARGETS = ("ios15", "ios16", "ios17", "ios18", "ios26")
PLAIN = tuple(Door(f"{front}-{precision}-{target}", front, target=target, precision=precision)
              for target in TARGETS for front in ("trace", "export")
              for precision in ("fp16", "fp32"))

FORMS = tuple(Door(f"{form}-{target}", "trace", target=target, precision="fp16", form=form)
              for form, target in (("image", "ios15"), ("image-bgr", "ios17"),
                                   ("classifier", "ios16"), ("functions", "ios18"),
                                   ("range", "ios16"), ("range", "ios18"),
                                   ("enumerated", "ios17"), ("state", "ios18"),
                                   ("state", "ios26")))

THRESHOLD = dict(weight_threshold=64)


def linear(**options):
    return "linear_quantize_weights", "OpLinearQuantizerConfig", options


def palette(bits, **options):
    return "palettize_weights", "OpPalettizerConfig", dict(
        {"mode": "uniform", "nbits": bits}, **options)


def prune(**options):
    return "prune_weights", "OpMagnitudePrunerConfig", options


GROUPED = dict(granularity="per_grouped_channel", group_size=4)
# Steps, and the oldest targets whose form of compressed weights they use.
COMPRESSIONS = {
    "int8": ([linear(dtype="int8")], ("ios16", "ios18")),
    "uint8": ([linear(dtype="uint8", mode="linear")], ("ios16", "ios18")),
    "int8-tensor": ([linear(dtype="int8", granularity="per_tensor")], ("ios16", "ios18")),
    "int8-block": ([linear(dtype="int8", granularity="per_block", block_size=8)], ("ios18",)),
    "int4": ([linear(dtype="int4")], ("ios18",)),
    "int4-block": ([linear(dtype="int4", granularity="per_block", block_size=8)], ("ios18",)),
    "uint4-block": ([linear(dtype="uint4", mode="linear", granularity="per_block",
                            block_size=4)], ("ios18",)),
    "palette-1": ([palette(1)], ("ios16", "ios18")),
    "palette-2": ([palette(2)], ("ios16", "ios18")),
    "palette-3": ([palette(3)], ("ios18",)),
    "palette-4": ([palette(4, mode="kmeans")], ("ios16", "ios18")),
    "palette-6": ([palette(6)], ("ios16", "ios18")),
    "palette-8": ([palette(8)], ("ios16", "ios18")),
    "palette-4-grouped": ([palette(4, **GROUPED)], ("ios18",)),
    "palette-4-scaled": ([palette(4, enable_per_channel_scale=True)], ("ios18",)),
    "palette-4-vector": ([palette(4, mode="kmeans", cluster_dim=2)], ("ios18",)),
    "sparse": ([prune(target_sparsity=0.5)], ("ios16", "ios18")),
    "sparse-2-4": ([prune(n_m_ratio=(2, 4))], ("ios16", "ios18")),
    "sparse-block": ([prune(target_sparsity=0.5, block_size=2)], ("ios16",)),
    "sparse-small": ([("prune_weights", "OpThresholdPrunerConfig",
                       dict(threshold=0.02, minimum_sparsity_percentile=0.01))], ("ios16",)),
    "sparse-palette": ([prune(target_sparsity=0.5), palette(4)], ("ios18",)),
    "sparse-int8": ([prune(target_sparsity=0.5), linear(dtype="int8")], ("ios18",)),
    "sparse-int4-block": ([prune(target_sparsity=0.5), linear(
        dtype="int4", granularity="per_block", block_size=8)], ("ios18",)),
    "palette-int8": ([palette(4), linear(dtype="int8", granularity="per_tensor")], ("ios18",)),
    "palette-grouped-int8": ([palette(4, **GROUPED), linear(
        dtype="int8", granularity="per_tensor")], ("ios18",)),
}
COMPRESSED = tuple(Door(f"{name}-{target}", "trace", target=target, precision="fp16",
                        compression=name)
                   for name, (_, targets) in COMPRESSIONS.items() for target in targets)

COREML = PLAIN + FORMS + COMPRESSED
ALL = ONNX + ONNX_RANGES + COREML


def write_onnx(door, row, model, inputs, count, path):
    import torch
    options = dict(input_names=[one.name for one in row.inputs],
                   output_names=[f"y{i}" for i in range(count)], opset_version=door.opset)
    if door.front == "script":
        torch.onnx.export(model, inputs, str(path), dynamo=False, **options)
    else:
        torch.onnx.export(model, inputs, str(path), dynamo=True, external_data=False,
                          verbose=False, **options)


def write_flexible_onnx(door, row, model, inputs, count, path):
    """Like write_onnx, with names for the extents that a row lets vary."""
    import torch
    axes = {one.name: [axis for name, axis, *_ in row.flexible if name == one.name]
            for one in row.inputs}
    options = dict(input_names=list(axes), output_names=[f"y{i}" for i in range(count)],
                   opset_version=door.opset)
    if door.front == "script":
        torch.onnx.export(model, inputs, str(path), dynamo=False, **options, dynamic_axes={
            name: {axis: f"{name}_{axis}" for axis in found} for name, found in axes.items()})
    else:
        torch.onnx.export(
            model, inputs, str(path), dynamo=True, external_data=False, verbose=False, **options,
            dynamic_shapes={"arguments": tuple({axis: torch.export.Dim.AUTO for axis in found}
                                               for found in axes.values())})


def shapes(row, one, form):
    """The shape of an input for ct.TensorType, flexible where the row says so."""
    import coremltools as ct
    shape = list(one.shape)
    axes = [(axis, low, high) for name, axis, low, high in row.flexible if name == one.name]
    if not axes or form not in ("range", "enumerated"):
        return tuple(shape)
    if form == "range":
        for axis, low, high in axes:
            shape[axis] = ct.RangeDim(lower_bound=low, upper_bound=high, default=shape[axis])
        return ct.Shape(tuple(shape))
    return ct.EnumeratedShapes([other_shape(row, one, end) for end in (0, 1)] + [one.shape],
                               default=one.shape)


def other_shape(row, one, end):
    """The smallest (0) or the largest (1) shape that a row lets an input have."""
    shape = list(one.shape)
    for name, axis, *limits in row.flexible:
        if name == one.name:
            shape[axis] = limits[end]
    return tuple(shape)


def read_scalars():
    """coremltools 9.0 makes scalars of arrays of one element, which NumPy 2.4 refuses."""
    from coremltools.converters.mil import Builder as mb
    from coremltools.converters.mil.frontend.torch import ops
    original = ops._cast
    if hasattr(original, "reads_scalars"):
        return

    def cast(context, node, dtype, name):
        value = ops._get_inputs(context, node, expected=1)[0].val
        if getattr(value, "shape", None) and value.size == 1:
            context.add(mb.const(val=dtype(value.item()), name=node.name), node.name)
        else:
            original(context, node, dtype, name)
    cast.reads_scalars = True
    ops._cast = cast


def convert(door, row, model, inputs, **more):
    """The package of coremltools.convert, not saved."""
    import coremltools as ct
    import numpy
    import torch
    read_scalars()
    options = dict(minimum_deployment_target=getattr(ct.target, door.target.replace("ios", "iOS")),
                   compute_precision=getattr(ct.precision, door.precision.replace("fp", "FLOAT")),
                   convert_to="mlprogram", skip_model_load=True)
    types = []
    for one, value in zip(row.inputs, inputs):
        if door.form.startswith("image"):
            types.append(ct.ImageType(name=one.name, shape=one.shape, scale=IMAGE_SCALE,
                                      bias=[IMAGE_BIAS] * 3, color_layout=getattr(
                                          ct.colorlayout, "BGR" if "bgr" in door.form else "RGB")))
        else:
            types.append(ct.TensorType(name=one.name, shape=shapes(row, one, door.form), dtype=(
                numpy.float32 if value.is_floating_point() else numpy.int32)))
    if door.form == "classifier":
        options["classifier_config"] = ct.ClassifierConfig([f"class {i}" for i in range(10)])
    if row.states:
        buffers = dict(model.named_buffers())
        options["states"] = [ct.StateType(name=f"model.{name}", wrapped_type=ct.TensorType(
            shape=tuple(buffers[f"model.{name}"].shape), dtype=numpy.float16))
            for name in row.states]
    options.update(more)
    if door.front == "export":
        program = torch.export.export(model, inputs)
        return ct.convert(program.run_decompositions({}), **options)
    traced = torch.jit.trace(model, inputs, check_trace=False)
    return ct.convert(traced, inputs=types, **options)


def compress(door, model):
    import coremltools.optimize.coreml as cto
    for place, (function, config, options) in enumerate(COMPRESSIONS[door.compression][0]):
        config = cto.OptimizationConfig(getattr(cto, config)(**dict(THRESHOLD, **options)))
        model = getattr(cto, function)(model, config, joint_compression=place > 0)
    return model


def computes_weights(door):
    """Whether weights are products with scales, rather than looked up or copied."""
    return any(function.startswith("linear") or "enable_per_channel_scale" in options
               for function, _, options in COMPRESSIONS[door.compression][0])


def write_package(door, row, model, inputs, path):
    """Writes path, and for compressed weights `dense.mlpackage` beside it."""
    import coremltools as ct
    import coremltools.optimize.coreml as cto
    package = convert(door, row, model, inputs)
    if door.compression:
        package = compress(door, package)
        operations = next(iter(package.get_spec().mlProgram.functions[
            "main"].block_specializations.values())).operations
        if not any(one.type.startswith("constexpr_") for one in operations):
            raise ValueError("no weight of this model is compressed")
    _packages.save(package, path)
    if door.compression:
        _packages.save(cto.decompress_weights(package), path.parent / "dense.mlpackage")
    if door.form == "functions":
        other = _packages.save(convert(door, row, model, inputs), path.parent / "b.mlpackage")
        first = path.rename(path.parent / "a.mlpackage")
        functions = ct.utils.MultiFunctionDescriptor()
        functions.add_function(str(first), "main", "first")
        functions.add_function(str(other), "main", "second")
        functions.default_function_name = "first"
        ct.utils.save_multifunction(functions, str(path))


def sources(door):
    """What a door's file depends on, for the cache."""
    if door.is_onnx:
        return (FLEXIBLE_SOURCE if door.form else ONNX_SOURCE,)
    return (*COREML_SOURCES, repr(COMPRESSIONS.get(door.compression)),
            repr((IMAGE_SCALE, IMAGE_BIAS, THRESHOLD)))


# Taken at once: the file may be edited during a run.
ONNX_SOURCE = inspect.getsource(write_onnx)
FLEXIBLE_SOURCE = inspect.getsource(write_flexible_onnx)
COREML_SOURCES = tuple(inspect.getsource(one) for one in (
    read_scalars, convert, compress, write_package, shapes, other_shape))
