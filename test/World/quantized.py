"""ONNX models that `onnxruntime.quantization` quantises.

Small models of one kind each, with random weights, by every way of onnxruntime: dynamic,
static as pairs of QuantizeLinear and DequantizeLinear (QDQ) or as operators on integers
(QOperator), int8 and uint8, per channel or per tensor, and weights of 4 or 8 bits in blocks
(MatMulNBits). Steps: read; run, beside onnxruntime on the same file; written, as a package
that coremltools loads; again, that package's numbers."""
import dataclasses
import functools

import _packages
from harness import RIGHT, Item, absent, near, wrong

OPSET = 17


class Model:
    """Nodes in fp32, with random weights."""

    def __init__(self, seed):
        import numpy
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def weight(self, *shape, scale=None):
        import numpy
        import onnx
        array = self.random.standard_normal(shape) * (scale or shape[-1] ** -0.5)
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(array.astype(numpy.float32), name))
        return name

    def constant(self, array):
        import onnx
        name = f"c{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, op, *inputs, outputs=1, **attributes):
        import onnx
        names = [f"v{self.count + i}" for i in range(outputs)]
        self.count += outputs
        self.nodes.append(onnx.helper.make_node(op, list(inputs), names,
                                                name=f"{op}_{self.count}", **attributes))
        return names[0] if outputs == 1 else names

    def save(self, path, inputs, output, shape):
        import onnx
        self.nodes.append(onnx.helper.make_node("Identity", [output], ["y"], name="last"))
        graph = onnx.helper.make_graph(
            self.nodes, "model",
            [onnx.helper.make_tensor_value_info(name, kind, extents)
             for name, (kind, extents) in inputs.items()],
            [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, shape)],
            self.weights)
        model = onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        onnx.save(model, str(path))


FLOATS = 1  # onnx.TensorProto.FLOAT
INTEGERS = 7  # onnx.TensorProto.INT64


def perceptron(path):
    m = Model(1)
    h = m.add("Add", m.add("MatMul", "x", m.weight(64, 48)), m.weight(48))
    h = m.add("Relu", h)
    h = m.add("Gemm", h, m.weight(32, 48), m.weight(32), transB=1)
    h = m.add("Sigmoid", h)
    m.save(path, {"x": (FLOATS, [4, 64])}, m.add("MatMul", h, m.weight(32, 10)), [4, 10])


def convolutions(path):
    m = Model(2)
    h = m.add("Conv", "x", m.weight(8, 3, 3, 3, scale=0.3), m.weight(8), pads=[1, 1, 1, 1])
    h = m.add("Relu", h)
    h = m.add("MaxPool", h, kernel_shape=[2, 2], strides=[2, 2])
    skip = h
    h = m.add("Conv", h, m.weight(8, 1, 3, 3, scale=0.3), m.weight(8), group=8,
              pads=[1, 1, 1, 1])
    h = m.add("Clip", h, m.constant(_scalar(0)), m.constant(_scalar(6)))
    h = m.add("Conv", h, m.weight(8, 8, 1, 1, scale=0.3), m.weight(8))
    h = m.add("Add", h, skip)
    h = m.add("Concat", h, skip, axis=1)
    h = m.add("AveragePool", h, kernel_shape=[2, 2], strides=[2, 2])
    h = m.add("GlobalAveragePool", h)
    h = m.add("Flatten", h)
    m.save(path, {"x": (FLOATS, [1, 3, 16, 16])},
           m.add("Gemm", h, m.weight(10, 16), m.weight(10), transB=1), [1, 10])


def attention(path):
    import numpy
    m = Model(3)
    width, heads, length = 32, 4, 6
    shape = m.constant(numpy.array([1, length, heads, width // heads], numpy.int64))
    parts = []
    for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        part = m.add("Add", m.add("MatMul", "x", m.weight(width, width)), m.weight(width))
        parts.append(m.add("Transpose", m.add("Reshape", part, shape), perm=perm))
    scores = m.add("MatMul", parts[0], parts[1])
    scores = m.add("Mul", scores, m.constant(_scalar((width // heads) ** -0.5)))
    mixed = m.add("MatMul", m.add("Softmax", scores, axis=-1), parts[2])
    mixed = m.add("Reshape", m.add("Transpose", mixed, perm=[0, 2, 1, 3]),
                  m.constant(numpy.array([1, length, width], numpy.int64)))
    h = m.add("Add", m.add("MatMul", mixed, m.weight(width, width)), "x")
    h = m.add("LayerNormalization", h, m.weight(width, scale=1), m.weight(width), axis=-1)
    f = m.add("MatMul", h, m.weight(width, 64))
    f = m.add("Mul", f, m.add("Sigmoid", f))
    h = m.add("Add", m.add("MatMul", f, m.weight(64, width)), h)
    m.save(path, {"x": (FLOATS, [1, length, width])}, h, [1, length, width])


def recurrent(path):
    m = Model(4)
    width, hidden, length = 16, 24, 5
    h = m.add("LSTM", "x", m.weight(1, 4 * hidden, width), m.weight(1, 4 * hidden, hidden),
              m.weight(1, 8 * hidden, scale=0.2), outputs=3, hidden_size=hidden)[0]
    h = m.add("Squeeze", h, m.constant(_integers(1)))
    m.save(path, {"x": (FLOATS, [length, 1, width])},
           m.add("MatMul", h, m.weight(hidden, 8)), [length, 1, 8])


def embedding(path):
    m = Model(5)
    h = m.add("Gather", m.weight(40, 32, scale=1), "ids")
    h = m.add("ReduceMean", h, axes=[1], keepdims=0)
    h = m.add("Gemm", h, m.weight(32, 64), m.weight(64))
    h = m.add("Tanh", h)
    m.save(path, {"ids": (INTEGERS, [2, 7])}, m.add("MatMul", h, m.weight(64, 12)), [2, 12])


def _scalar(value):
    import numpy
    return numpy.array(value, numpy.float32)


def _integers(*values):
    import numpy
    return numpy.array(values, numpy.int64)


MODELS = {"perceptron": perceptron, "convolutions": convolutions, "attention": attention,
          "recurrent": recurrent, "embedding": embedding}


def draw(path, count):
    """`count` sets of inputs."""
    import numpy
    import onnx
    random = numpy.random.default_rng(7)
    sets = []
    for _ in range(count):
        arrays = {}
        for one in onnx.load(str(path)).graph.input:
            shape = [axis.dim_value for axis in one.type.tensor_type.shape.dim]
            integer = one.type.tensor_type.elem_type == INTEGERS
            arrays[one.name] = random.integers(0, 40, shape) if integer else \
                random.standard_normal(shape).astype(numpy.float32)
        sets.append(arrays)
    return sets


def dynamic(plain, path, **options):
    from onnxruntime.quantization import quantize_dynamic
    quantize_dynamic(str(plain), str(path), **options)


def static(plain, path, form, activations, weights, **options):
    from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                          quantize_static)

    class Reader(CalibrationDataReader):
        sets = iter(draw(plain, 16))

        def get_next(self):
            return next(self.sets, None)

    quantize_static(str(plain), str(path), Reader(), quant_format=QuantFormat[form],
                    activation_type=QuantType[activations], weight_type=QuantType[weights],
                    **options)


def blocks(plain, path, bits, block, symmetric):
    import onnx
    from onnxruntime.quantization.matmul_nbits_quantizer import (
        DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer)
    config = DefaultWeightOnlyQuantConfig(block_size=block, is_symmetric=symmetric, bits=bits)
    quantizer = MatMulNBitsQuantizer(onnx.load(str(plain)), algo_config=config)
    quantizer.process()
    quantizer.model.save_model_to_file(str(path))


def kinds():
    """{variant: a function of (the plain model, where the other goes)}"""
    from onnxruntime.quantization import QuantType
    part = functools.partial
    return {
        "dynamic-int8": part(dynamic, weight_type=QuantType.QInt8),
        "dynamic-uint8": part(dynamic, weight_type=QuantType.QUInt8),
        "dynamic-channel": part(dynamic, weight_type=QuantType.QInt8, per_channel=True),
        "dynamic-reduced": part(dynamic, weight_type=QuantType.QInt8, reduce_range=True),
        "qdq-int8": part(static, form="QDQ", activations="QInt8", weights="QInt8"),
        "qdq-uint8": part(static, form="QDQ", activations="QUInt8", weights="QUInt8"),
        "qdq-channel": part(static, form="QDQ", activations="QUInt8", weights="QInt8",
                            per_channel=True),
        "qdq-int16": part(static, form="QDQ", activations="QInt16", weights="QInt8",
                          extra_options={"UseQDQContribOps": True}),
        "qoperator-int8": part(static, form="QOperator", activations="QInt8", weights="QInt8"),
        "qoperator-uint8": part(static, form="QOperator", activations="QUInt8",
                                weights="QUInt8"),
        "qoperator-channel": part(static, form="QOperator", activations="QUInt8",
                                  weights="QInt8", per_channel=True),
        "blocks-4": part(blocks, bits=4, block=16, symmetric=False),
        "blocks-4-symmetric": part(blocks, bits=4, block=32, symmetric=True),
        "blocks-8": part(blocks, bits=8, block=16, symmetric=False),
    }


VARIANTS = ("dynamic-int8", "dynamic-uint8", "dynamic-channel", "dynamic-reduced",
            "qdq-int8", "qdq-uint8", "qdq-channel", "qdq-int16", "qoperator-int8",
            "qoperator-uint8", "qoperator-channel", "blocks-4", "blocks-4-symmetric",
            "blocks-8")


def items():
    found = []
    for i, model in enumerate(MODELS):
        for j, variant in enumerate(VARIANTS):
            if model == "convolutions" and variant.startswith("blocks"):
                continue  # Only products have such weights.
            found.append(Item(model, variant, functools.partial(check, model, variant),
                              sample=(i + j) % len(MODELS) == 0))
    return found


def check(name, variant, ctx):
    def fill(folder):
        plain = folder / "plain.onnx"
        MODELS[name](plain)
        kinds()[variant](plain, folder / "model.onnx")

    try:
        folder = ctx.computed(fill, name, variant, MODELS[name], Model, kinds, dynamic, static,
                              blocks)
    except Exception as error:  # Whatever onnxruntime raises.
        return {"read": absent(f"onnxruntime: {type(error).__name__}: {error}")}
    source = folder / "model.onnx"
    outcome = ctx.step(ctx.run("anec", source, "-o", "m.mil"))
    steps = {"read": outcome or RIGHT}
    if outcome:
        return steps
    sets = draw(folder / "plain.onnx", 4)
    steps["run"] = beside_onnxruntime(ctx, source, sets, name, variant)
    package = ctx.folder / "m.mlpackage"
    outcome = ctx.step(ctx.run("anec", source, "--precision=fp32", "-o", package))
    steps["written"] = outcome or RIGHT
    if outcome:
        return steps
    try:
        _packages.load_program(package)
    except Exception as error:  # Whatever coremltools raises.
        steps["written"] = wrong(f"coremltools: {type(error).__name__}: {error}")
        return steps
    steps["again"] = beside_source(ctx, source, package, sets[0])
    return steps


def element_errors(got, expected):
    """Of each element, over the largest magnitude."""
    import numpy
    if got.shape != expected.shape:
        return numpy.array([float("inf")])
    difference = numpy.abs(got.astype(float) - expected.astype(float))
    return (difference / numpy.abs(expected).max()).ravel()


EXACT = 1e-5  # Of the largest element.
MOVED = 0.25  # The share of a draw's elements that a value which rounds otherwise moves.


@dataclasses.dataclass
class Rounding:
    """A value that is rounded to integers: by the step `scale`, or, where that is None, by
    one that follows from its least and largest element."""
    name: str
    scale: float | None
    zero: int
    limits: tuple

    def of(self, array):
        import numpy
        scale, zero = self.scale, self.zero
        if scale is None:  # DynamicQuantizeLinear
            least, most = min(array.min(), 0), max(array.max(), 0)
            scale = numpy.float32(most - least) / numpy.float32(255)
            zero = numpy.rint(-least / scale)
        return numpy.clip(numpy.rint(array / scale) + zero, *self.limits)


def roundings(model):
    """Those of activations, in the order of the nodes."""
    import numpy
    import onnx
    constants = {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}
    found = []
    for node in model.graph.node:
        if node.op_type == "DynamicQuantizeLinear":
            found.append(Rounding(node.input[0], None, 0, (0, 255)))
        elif node.op_type == "QuantizeLinear" and node.input[0] not in constants:
            scale, zero = (constants[name] for name in node.input[1:3])
            limits = numpy.iinfo(zero.dtype)
            found.append(Rounding(node.input[0], numpy.float32(scale), int(zero),
                                  (limits.min, limits.max)))
    return found


def open_roundings(source, path):
    """Writes the model with what it rounds as further outputs; their rows."""
    import onnx
    model = onnx.load(str(source))
    found = {one.name: one for one in roundings(model)}
    known = {one.name for one in [*model.graph.input, *model.graph.output]}
    for name in found:
        if name not in known:
            model.graph.output.append(onnx.ValueInfoProto(name=name))
    onnx.save(onnx.shape_inference.infer_shapes(model), str(path))
    return list(found.values())


def output_step(model):
    """The step of an output that is dequantized, or 0."""
    import onnx
    last = [node for node in model.graph.node if node.op_type != "Identity"][-1]
    return next((float(onnx.numpy_helper.to_array(one)) for one in model.graph.initializer
                 if last.op_type == "DequantizeLinear" and one.name == last.input[1]), 0.0)


def rounds_otherwise(rows, got, expected):
    """None where all values agree and round alike. Where one rounds to another step, all
    before it agree, so that it is within their error of the middle between two steps: a
    sum in another order may round either way there. Raises where one does not agree."""
    for row in rows:
        if row.name not in got:  # An input.
            continue
        error = float(element_errors(got[row.name], expected[row.name]).max())
        if error > EXACT:
            raise ArithmeticError(f"`{row.name}` is off by {error:.2g} before it is rounded")
        if (row.of(got[row.name]) != row.of(expected[row.name])).any():
            return row.name
    return None


def beside_onnxruntime(ctx, source, sets, name, variant):
    import onnx
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    # As the operators are defined. Otherwise kernels of processors with AVX2 add products
    # of uint8 and int8 in 16 bits, which saturate: a setting makes the weights uint8, and
    # pairs are computed in floats where they are not joined.
    if variant != "qoperator-int8":  # Nothing is uint8, and the setting breaks it.
        options.add_session_config_entry("session.x64quantprecision", "1")
    if variant.startswith("qdq"):
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    opened = ctx.folder / "opened.onnx"
    rows = open_roundings(source, opened)
    session = onnxruntime.InferenceSession(str(opened), options)
    names = [one.name for one in session.get_outputs()]
    step = output_step(onnx.load(str(source)))
    for inputs in sets:
        expected = dict(zip(names, session.run(None, inputs)))
        got, outcome = ctx.outputs(source, inputs, "--numerics=fp32")
        values, also = ctx.outputs(opened, inputs, "--numerics=fp32", name="opened")
        if outcome or also:
            return outcome or also
        errors = element_errors(got["y"], expected["y"])
        # Of DynamicQuantizeLSTM, anec keeps input and state as floats (docs/formats/onnx.md).
        if name == "recurrent" and variant.startswith("dynamic"):
            limit, share = 0.02, 1
        else:
            try:
                moved = rounds_otherwise(rows, values, expected)
            except ArithmeticError as error:
                return wrong(str(error))
            # Two steps; where each step follows from the values, of all elements.
            limit = 2.1 * step / abs(expected["y"]).max() if step else 0.02
            limit, share = (max(limit, EXACT), MOVED if step else 1) if moved else (EXACT, 0)
        if errors.max() > limit or (errors > EXACT).sum() > share * errors.size:
            return wrong(f"off by {errors.max():.2g}, {(errors > EXACT).sum()} of"
                         f" {errors.size} elements")
    return RIGHT


def beside_source(ctx, source, package, inputs):
    import numpy
    right, outcome = ctx.outputs(source, inputs, "--numerics=fp32", name="right")
    if outcome:
        return outcome
    given = {name: array.astype(numpy.int32) if array.dtype == numpy.int64 else array
             for name, array in inputs.items()}
    got, outcome = ctx.outputs(package, given, "--numerics=fp32", name="again")
    return outcome or near(element_errors(got["y"], right["y"]).max(), EXACT)
