"""The ops that are timed: each as IR text for anec and as nodes for onnxruntime,
on arrays of a size that is common in models of images or text."""

import dataclasses

import numpy as np

RANDOM = np.random.default_rng(1)


def real(*shape, low=-1.0, high=1.0):
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def whole(*shape, below):
    return RANDOM.integers(0, below, shape).astype(np.int32)


def truth(*shape):
    return RANDOM.integers(0, 2, shape).astype(bool)


def f32(value):
    return np.float32(value)


def i64(*values):
    return np.array(values, np.int64)


@dataclasses.dataclass
class Case:
    family: str
    name: str
    body: str  # IR that computes the results, without their types
    types: list  # of the results of each statement of `body`
    nodes: list  # (kind, operands, attributes[, results]); `_` is the last result
    inputs: dict
    constants: dict  # operands that both know before the first run
    tolerance: float


CASES = []


def add(family, name, body, shape, nodes, constants=None, tolerance=2e-5,
        kind="fp32", inner=None, **inputs):
    """`body` is the right side of `%y = ...`, or whole statements; `inner` has
    the types of those before the last. `shape` is that of `y`, or a list of
    shapes for `y0`, `y1`, ..."""
    many = isinstance(shape, list)
    shapes = shape if many else [shape]
    kinds = kind if isinstance(kind, list) else [kind] * len(shapes)
    types = [f"{k}[{', '.join(map(str, s))}]" if s else k
             for k, s in zip(kinds, shapes)]
    if not body.startswith("%"):
        names = [f"%y{i}" for i in range(len(shapes))] if many else ["%y"]
        body = f"{', '.join(names)} = {body}"
    CASES.append(Case(family, name, body, (inner or []) + [", ".join(types)],
                      nodes, inputs, constants or {}, tolerance))


IMAGE = (1, 64, 112, 112)
TEXT = (8, 128, 768)


def activations():
    def row(name, body, nodes, constants=None, **other):
        add("activation", name, body, IMAGE, nodes, constants,
            x=real(*IMAGE, low=-4, high=4), **other)

    def simple(name, node, attributes=None, body=None):
        row(name, body or f"{name}(%x)", [(node, ["x"], attributes or {})])

    simple("relu", "Relu")
    simple("sigmoid", "Sigmoid")
    simple("tanh", "Tanh")
    simple("erf", "Erf")
    simple("softplus", "Softplus")
    simple("softsign", "Softsign")
    simple("elu", "Elu", {"alpha": 0.75}, "elu(%x) {alpha = 0.75}")
    simple("gelu", "Gelu")
    simple("gelu, tanh", "Gelu", {"approximate": "tanh"},
           'gelu(%x) {mode = "TANH_APPROXIMATION"}')
    simple("leaky_relu", "LeakyRelu", {"alpha": 0.1},
           "leaky_relu(%x) {alpha = 0.1}")
    simple("sigmoid_hard", "HardSigmoid", {"alpha": 0.2, "beta": 0.5},
           "sigmoid_hard(%x) {alpha = 0.2, beta = 0.5}")
    simple("thresholded_relu", "ThresholdedRelu", {"alpha": 0.5},
           "thresholded_relu(%x) {alpha = 0.5}")
    row("silu", "silu(%x)", [("Sigmoid", ["x"], {}), ("Mul", ["x", "_"], {})])
    row("mish", "%a = softplus(%x)\n%b = tanh(%a)\n%y = mul(%x, %b)",
        [("Mish", ["x"], {})], inner=["fp32[1, 64, 112, 112]"] * 2)
    row("prelu", "prelu(%x, %a)", [("PRelu", ["x", "slope"], {})],
        {"a": real(64), "slope": None})
    row("relu6", "relu6(%x)", [("Clip", ["x", f32(0), f32(6)], {})])
    row("clip", "clip(%x) {alpha = -0.5, beta = 0.5}",
        [("Clip", ["x", f32(-0.5), f32(0.5)], {})])


def functions():
    def row(name, nodes, low=-1.0, high=1.0, body=None):
        nodes = nodes if isinstance(nodes, list) else [(nodes, ["x"], {})]
        add("unary", name, body or f"{name}(%x)", IMAGE, nodes,
            x=real(*IMAGE, low=low, high=high))

    row("abs", "Abs")
    row("acos", "Acos")
    row("asin", "Asin")
    row("atan", "Atan", -4, 4)
    row("atanh", "Atanh", -0.9, 0.9)
    row("ceil", "Ceil", -9, 9)
    row("cos", "Cos", -9, 9)
    row("cosh", "Cosh", -4, 4)
    row("exp", "Exp")
    row("floor", "Floor", -9, 9)
    row("inverse", "Reciprocal", 0.5, 2, "inverse(%x) {epsilon = 0.0}")
    row("log", "Log", 0.1, 9)
    row("round", "Round", -9, 9)
    row("rsqrt", [("Sqrt", ["x"], {}), ("Reciprocal", ["_"], {})], 0.1, 9)
    row("sign", "Sign")
    row("sin", "Sin", -9, 9)
    row("sinh", "Sinh", -4, 4)
    row("sqrt", "Sqrt", 0, 9)
    row("square", [("Mul", ["x", "x"], {})])
    row("tan", "Tan")
    row("threshold", [("Max", ["x", f32(0.25)], {})],
        body="threshold(%x) {alpha = 0.25}")


def pairs():
    def row(name, node, y=IMAGE, low=-1.0, kind="fp32", label=None, **other):
        add("binary", label or name, f"{name}(%x, %z)", IMAGE,
            [(node, ["x", "z"], other)], kind=kind,
            x=real(*IMAGE, low=low), z=real(*y, low=low))

    row("add", "Add")
    row("add", "Add", (64, 1, 1), label="add, by channel")
    row("mul", "Mul", (112,), label="mul, by column")
    row("sub", "Sub")
    row("mul", "Mul")
    row("real_div", "Div", low=0.5)
    row("maximum", "Max")
    row("minimum", "Min")
    row("pow", "Pow", low=0.1)
    row("mod", "Mod", low=0.1, fmod=1)
    row("equal", "Equal", kind="bool")
    row("less", "Less", kind="bool")
    row("greater_equal", "GreaterOrEqual", kind="bool")
    add("binary", "floor_div", "floor_div(%x, %z)", IMAGE,
        [("Div", ["x", "z"], {}), ("Floor", ["_"], {})],
        x=real(*IMAGE), z=real(*IMAGE, low=0.5))
    for name, node in [("logical_and", "And"), ("logical_xor", "Xor")]:
        add("binary", name, f"{name}(%x, %z)", IMAGE, [(node, ["x", "z"], {})],
            kind="bool", x=truth(*IMAGE), z=truth(*IMAGE))
    add("binary", "select", "select(%c, %x, %z)", IMAGE,
        [("Where", ["c", "x", "z"], {})],
        c=truth(*IMAGE), x=real(*IMAGE), z=real(*IMAGE))
    add("binary", "cast to int32", 'cast(%x) {dtype = "int32"}', IMAGE,
        [("Cast", ["x"], {"to": 7})], kind="int32",
        x=real(*IMAGE, low=-99, high=99))


def reductions():
    def row(name, node, axes, place, low=-1.0, tolerance=2e-5):
        shape = tuple(n for i, n in enumerate(IMAGE) if i not in axes)
        add("reduction", f"{name}, {place}",
            f"{name}(%x) {{axes = {axes}, keep_dims = false}}", shape,
            [(node, ["x", i64(*axes)], {"keepdims": 0})], tolerance=tolerance,
            x=real(*IMAGE, low=low))

    for axes, place in [([3], "columns"), ([2, 3], "positions"),
                        ([1], "channels"), ([0, 1, 2, 3], "all")]:
        row("reduce_sum", "ReduceSum", axes, place, 0.1)
        row("reduce_max", "ReduceMax", axes, place)
    row("reduce_mean", "ReduceMean", [2, 3], "positions", 0.1)
    row("reduce_min", "ReduceMin", [1], "channels")
    row("reduce_l1_norm", "ReduceL1", [3], "columns")
    row("reduce_l2_norm", "ReduceL2", [3], "columns")
    row("reduce_sum_square", "ReduceSumSquare", [1], "channels")
    row("reduce_log_sum", "ReduceLogSum", [3], "columns", 0.1)
    for axes, place in [([3], "columns"), ([1], "channels")]:
        row("reduce_log_sum_exp", "ReduceLogSumExp", axes, place)
        row("reduce_prod", "ReduceProd", axes, place, 0.9)
        add("reduction", f"reduce_argmax, {place}",
            f"reduce_argmax(%x) {{axis = {axes[0]}, keep_dims = true}}",
            tuple(1 if i in axes else n for i, n in enumerate(IMAGE)),
            [("ArgMax", ["x"], {"axis": axes[0], "keepdims": 1})],
            kind="int32", x=real(*IMAGE))
    rows = (1000, 1000)
    add("reduction", "softmax, columns", "softmax(%x) {axis = -1}", rows,
        [("Softmax", ["x"], {"axis": -1})], x=real(*rows))
    add("reduction", "softmax, channels", "softmax(%x) {axis = 1}", IMAGE,
        [("Softmax", ["x"], {"axis": 1})], x=real(*IMAGE))
    for axis, place in [(1, "columns"), (0, "rows")]:
        add("reduction", f"cumsum, {place}", f"cumsum(%x) {{axis = {axis}}}",
            rows, [("CumSum", ["x", i64(axis)[0]], {})],
            x=real(*rows, low=0.1))
    add("reduction", "topk, 10 of 1000", "topk(%x) {k = 10, axis = 1}",
        [(1000, 10), (1000, 10)],
        [("TopK", ["x", i64(10)], {"axis": 1}, ["y0", "y1"])],
        kind=["fp32", "int32"], x=real(*rows))
    add("reduction", "argsort", "argsort(%x) {axis = 1}", rows,
        [("TopK", ["x", i64(1000)], {"axis": 1, "largest": 1}, ["v", "y"])],
        kind="int32", x=real(*rows))


def norms():
    channels = {"g": real(64), "b": real(64)}
    add("norm", "layer_norm, columns", "layer_norm(%x, %g, %b) {axes = [2]}",
        TEXT, [("LayerNormalization", ["x", "g", "b"], {"axis": 2,
                                                        "epsilon": 1e-5})],
        {"g": real(768), "b": real(768)}, x=real(*TEXT))
    add("norm", "batch_norm", "batch_norm(%x, %m, %v, %g, %b)", IMAGE,
        [("BatchNormalization", ["x", "g", "b", "m", "v"], {"epsilon": 1e-5})],
        {**channels, "m": real(64), "v": real(64, low=0.5)}, x=real(*IMAGE))
    add("norm", "instance_norm", "instance_norm(%x, %g, %b)", IMAGE,
        [("InstanceNormalization", ["x", "g", "b"], {"epsilon": 1e-5})],
        channels, x=real(*IMAGE))
    add("norm", "local_response_norm",
        "local_response_norm(%x) {size = 5, alpha = 1e-4, beta = 0.75, k = 1.0}",
        IMAGE, [("LRN", ["x"], {"size": 5, "alpha": 1e-4, "beta": 0.75,
                                "bias": 1.0})], x=real(*IMAGE))


def convolutions():
    def row(name, x, weight, out, node="Conv", op="conv", **attributes):
        spatial = len(x) - 2
        pads = attributes.pop("pads", [0] * 2 * spatial)
        text = {"pad_type": '"custom"', "pad": pads}
        onnx = {"pads": pads[::2] + pads[1::2]}
        for ours, theirs in [("strides", "strides"), ("groups", "group"),
                             ("dilations", "dilations")]:
            if ours in attributes:
                text[ours] = attributes[ours]
                onnx[theirs] = attributes[ours]
        add("convolution", name, f"{op}(%x, %w) {{" +
            ", ".join(f"{k} = {v}" for k, v in text.items()) + "}", out,
            [(node, ["x", "w"], onnx)], {"w": real(*weight)},
            tolerance=1e-4, x=real(*x))

    same = [1, 1, 1, 1]
    row("1x1, 64 to 256", (1, 64, 56, 56), (256, 64, 1, 1), (1, 256, 56, 56))
    row("3x3, 64 to 64", (1, 64, 56, 56), (64, 64, 3, 3), (1, 64, 56, 56),
        pads=same)
    row("3x3, 64 to 128, stride 2", (1, 64, 56, 56), (128, 64, 3, 3),
        (1, 128, 28, 28), pads=same, strides=[2, 2])
    row("3x3, 256 to 256, 14x14", (1, 256, 14, 14), (256, 256, 3, 3),
        (1, 256, 14, 14), pads=same)
    row("7x7, 3 to 64, stride 2", (1, 3, 224, 224), (64, 3, 7, 7),
        (1, 64, 112, 112), pads=[3, 3, 3, 3], strides=[2, 2])
    row("3x3, 3 to 32, stride 2", (1, 3, 224, 224), (32, 3, 3, 3),
        (1, 32, 112, 112), pads=same, strides=[2, 2])
    row("depthwise 3x3", (1, 96, 112, 112), (96, 1, 3, 3), (1, 96, 112, 112),
        pads=same, groups=96)
    row("depthwise 3x3, stride 2", (1, 96, 112, 112), (96, 1, 3, 3),
        (1, 96, 56, 56), pads=same, groups=96, strides=[2, 2])
    row("depthwise 5x5", (1, 240, 28, 28), (240, 1, 5, 5), (1, 240, 28, 28),
        pads=[2, 2, 2, 2], groups=240)
    row("depthwise 7x7", (1, 96, 56, 56), (96, 1, 7, 7), (1, 96, 56, 56),
        pads=[3, 3, 3, 3], groups=96)
    row("32 groups 3x3", (1, 128, 56, 56), (128, 4, 3, 3), (1, 128, 56, 56),
        pads=same, groups=32)
    row("2 groups 5x5", (1, 96, 27, 27), (256, 48, 5, 5), (1, 256, 27, 27),
        pads=[2, 2, 2, 2], groups=2)
    row("dilated 3x3", (1, 64, 56, 56), (64, 64, 3, 3), (1, 64, 56, 56),
        pads=[2, 2, 2, 2], dilations=[2, 2])
    row("one axis, 9", (8, 80, 500), (256, 80, 9), (8, 256, 500), pads=[4, 4])
    row("three axes, 3x3x3", (1, 16, 16, 56, 56), (32, 16, 3, 3, 3),
        (1, 32, 16, 56, 56), pads=[1] * 6)
    row("conv_transpose 4x4, stride 2", (1, 64, 28, 28), (64, 64, 4, 4),
        (1, 64, 56, 56), "ConvTranspose", "conv_transpose", pads=same,
        strides=[2, 2])


def products():
    add("product", "matmul, 512", "matmul(%x, %z)", (512, 512),
        [("MatMul", ["x", "z"], {})], tolerance=1e-4,
        x=real(512, 512), z=real(512, 512))
    add("product", "matmul, 96 of 128", "matmul(%x, %z)", (8, 12, 128, 128),
        [("MatMul", ["x", "z"], {})], tolerance=1e-4,
        x=real(8, 12, 128, 64), z=real(8, 12, 64, 128))
    add("product", "linear", "linear(%x, %w, %b)", (256, 512),
        [("Gemm", ["x", "w", "b"], {"transB": 1})],
        {"w": real(512, 512), "b": real(512)}, tolerance=1e-4,
        x=real(256, 512))
    add("product", "einsum", 'einsum(%x, %z) {equation = "nchw,nwhu->nchu"}',
        (2, 64, 32, 64), [("Einsum", ["x", "z"],
                           {"equation": "nchw,nwhu->nchu"})],
        tolerance=1e-4, x=real(2, 64, 32, 64), z=real(2, 64, 32, 64))
    heads = (1, 12, 256, 64)
    scores = [("Transpose", ["k"], {"perm": [0, 1, 3, 2]}),
              ("MatMul", ["q", "_"], {}), ("Mul", ["_", f32(0.125)], {})]
    rest = [("Softmax", ["_"], {"axis": -1}), ("MatMul", ["_", "v"], {})]
    qkv = {name: real(*heads) for name in "qkv"}
    add("product", "attention", "scaled_dot_product_attention(%q, %k, %v)",
        heads, scores + rest, tolerance=1e-4, **qkv)
    add("product", "attention, mask",
        "scaled_dot_product_attention(%q, %k, %v, %m)", heads,
        scores + [("Add", ["_", "m"], {})] + rest, tolerance=1e-4, **qkv,
        m=real(256, 256))
    add("product", "attention, boolean mask",
        "scaled_dot_product_attention(%q, %k, %v, %m)", heads,
        scores + [("Where", ["m", "_", f32(-1e30)], {})] + rest,
        tolerance=1e-4, **qkv, m=truth(256, 256))

    steps, hidden = 64, 128
    x = (steps, 1, hidden)

    def weights(gates):
        return {"wi": real(gates * hidden, hidden) / 8,
                "wh": real(gates * hidden, hidden) / 8}

    def swap(w, order):  # of gates, to that of onnx
        parts = np.split(w, len(order))
        return np.concatenate([parts[i] for i in order])[None]

    zeros = np.zeros((1, hidden), np.float32)
    w = weights(4)
    order = [0, 2, 1, 3]
    add("recurrent", "lstm", "lstm(%x, %h, %c, %wi, %wh) {output_sequence = true}",
        [x, (1, hidden), (1, hidden)],
        [("LSTM", ["x", swap(w["wi"], order), swap(w["wh"], order)],
          {"hidden_size": hidden}, ["all", "h1", "c1"]),
         ("Squeeze", ["all", i64(1)], {}, ["y0"]),
         ("Squeeze", ["h1", i64(0)], {}, ["y1"]),
         ("Squeeze", ["c1", i64(0)], {}, ["y2"])],
        {**w, "h": zeros, "c": zeros}, tolerance=1e-4, x=real(*x))
    w = weights(3)
    order = [2, 0, 1]
    add("recurrent", "gru", "gru(%x, %h, %wi, %wh) {output_sequence = true}",
        [x, (1, hidden)],
        [("GRU", ["x", swap(w["wi"], order), swap(w["wh"], order)],
          {"hidden_size": hidden}, ["all", "h1"]),
         ("Squeeze", ["all", i64(1)], {}, ["y0"]),
         ("Squeeze", ["h1", i64(0)], {}, ["y1"])],
        {**w, "h": zeros}, tolerance=1e-4, x=real(*x))
    w = weights(1)
    add("recurrent", "rnn", "rnn(%x, %h, %wi, %wh) {output_sequence = true}",
        [x, (1, hidden)],
        [("RNN", ["x", w["wi"][None], w["wh"][None]],
          {"hidden_size": hidden}, ["all", "h1"]),
         ("Squeeze", ["all", i64(1)], {}, ["y0"]),
         ("Squeeze", ["h1", i64(0)], {}, ["y1"])],
        {**w, "h": zeros}, tolerance=1e-4, x=real(*x))


def pooling():
    def row(name, op, node, x, kernel, stride, pad, out, **attributes):
        text = {"kernel_sizes": [kernel] * 2, "strides": [stride] * 2,
                "pad_type": '"custom"', "pad": [pad] * 4}
        onnx = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2,
                "pads": [pad] * 4, **attributes}
        if node == "AveragePool":
            text["exclude_padding_from_average"] = "true"
        add("pooling", name, f"{op}(%x) {{" + ", ".join(
            f"{k} = {v}" for k, v in text.items()) + "}", out,
            [(node, ["x"], onnx)], x=real(*x))

    row("max_pool 2x2", "max_pool", "MaxPool", IMAGE, 2, 2, 0,
        (1, 64, 56, 56))
    row("max_pool 3x3, stride 2", "max_pool", "MaxPool", IMAGE, 3, 2, 1,
        (1, 64, 56, 56))
    row("max_pool 3x3, stride 1", "max_pool", "MaxPool", (1, 192, 28, 28), 3, 1,
        1, (1, 192, 28, 28))
    row("avg_pool 2x2", "avg_pool", "AveragePool", IMAGE, 2, 2, 0,
        (1, 64, 56, 56))
    row("avg_pool 3x3, stride 1", "avg_pool", "AveragePool", (1, 192, 28, 28),
        3, 1, 1, (1, 192, 28, 28))
    row("l2_pool 2x2", "l2_pool", "LpPool", IMAGE, 2, 2, 0, (1, 64, 56, 56),
        p=2)
    add("pooling", "avg_pool, whole image",
        'avg_pool(%x) {kernel_sizes = [14, 14], pad_type = "valid"}',
        (8, 512, 1, 1), [("GlobalAveragePool", ["x"], {})],
        x=real(8, 512, 14, 14, low=0.1))


def images():
    small = (1, 64, 56, 56)
    resize = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
    add("image", "upsample_bilinear",
        "upsample_bilinear(%x) {scale_factor_height = 2, scale_factor_width = 2,"
        " align_corners = false, half_pixel_centers = true}", IMAGE,
        [("Resize", ["x", None, None, i64(*IMAGE)], resize)], x=real(*small))
    add("image", "resize_bilinear",
        "resize_bilinear(%x) {target_size_height = 112,"
        ' target_size_width = 112, sampling_mode = "ALIGN_CORNERS"}', IMAGE,
        [("Resize", ["x", None, None, i64(*IMAGE)],
          {"mode": "linear",
           "coordinate_transformation_mode": "align_corners"})],
        x=real(*small))
    add("image", "resize_nearest_neighbor",
        "resize_nearest_neighbor(%x) {target_size_height = 112,"
        " target_size_width = 112}", IMAGE,
        [("Resize", ["x", None, None, i64(*IMAGE)],
          {"mode": "nearest", "nearest_mode": "floor",
           "coordinate_transformation_mode": "asymmetric"})], x=real(*small))
    add("image", "resample",
        'resample(%x, %c) {sampling_mode = "bilinear", padding_mode = "border",'
        ' padding_value = 0.0,'
        ' coordinates_mode = "normalized_minus_one_to_one",'
        " align_corners = true}", small,
        [("GridSample", ["x", "c"], {"mode": "linear", "align_corners": 1,
                                     "padding_mode": "border"})],
        x=real(*small), c=real(1, 56, 56, 2))
    add("image", "depth_to_space", "depth_to_space(%x) {block_size = 2}",
        (1, 16, 224, 224), [("DepthToSpace", ["x"], {"blocksize": 2,
                                                     "mode": "DCR"})],
        x=real(*IMAGE))
    add("image", "pixel_shuffle", "pixel_shuffle(%x) {upscale_factor = 2}",
        (1, 16, 224, 224), [("DepthToSpace", ["x"], {"blocksize": 2,
                                                     "mode": "CRD"})],
        x=real(*IMAGE))
    add("image", "space_to_depth", "space_to_depth(%x) {block_size = 2}",
        (1, 256, 56, 56), [("SpaceToDepth", ["x"], {"blocksize": 2})],
        x=real(*IMAGE))


def movement():
    for perm, label in [([0, 2, 3, 1], "channels last"),
                        ([0, 3, 1, 2], "channels first"),
                        ([0, 1, 3, 2], "rows and columns"),
                        ([0, 2, 1, 3], "rows and channels")]:
        add("movement", f"transpose, {label}",
            f"transpose(%x) {{perm = {perm}}}",
            tuple(IMAGE[axis] for axis in perm),
            [("Transpose", ["x"], {"perm": perm})], x=real(*IMAGE))
    heads = (8, 128, 12, 64)
    add("movement", "transpose, heads", "transpose(%x) {perm = [0, 2, 1, 3]}",
        (8, 12, 128, 64), [("Transpose", ["x"], {"perm": [0, 2, 1, 3]})],
        x=real(*heads))
    for axis, shape in [(1, (1, 128, 112, 112)), (3, (1, 64, 112, 224))]:
        add("movement", f"concat, axis {axis}, softmax",
            f"%a = concat(%x, %z) {{axis = {axis}}}\n%y = softmax(%a)"
            " {axis = -1}", shape,
            [("Concat", ["x", "z"], {"axis": axis}),
             ("Softmax", ["_"], {"axis": -1})],
            inner=[f"fp32[{', '.join(map(str, shape))}]"],
            x=real(*IMAGE), z=real(*IMAGE))
    for axis, part in [(1, (1, 32, 112, 112)), (3, (1, 64, 112, 56))]:
        add("movement", f"split, axis {axis}",
            f"split(%x) {{num_splits = 2, axis = {axis}}}", [part, part],
            [("Split", ["x"], {"axis": axis, "num_outputs": 2}, ["y0", "y1"])],
            x=real(*IMAGE))
    add("movement", "stack", "stack(%x, %z) {axis = 1}", (1, 2, 64, 112, 112),
        [("Unsqueeze", ["x", i64(1)], {}, ["a"]),
         ("Unsqueeze", ["z", i64(1)], {}, ["b"]),
         ("Concat", ["a", "b"], {"axis": 1})],
        x=real(*IMAGE), z=real(*IMAGE))
    add("movement", "slice_by_index",
        "slice_by_index(%x) {begin = [0, 0, 4, 4], end = [1, 64, 108, 108]}",
        (1, 64, 104, 104),
        [("Slice", ["x", i64(4, 4), i64(108, 108), i64(2, 3)], {})],
        x=real(*IMAGE))
    add("movement", "slice_by_index, stride 2",
        "slice_by_index(%x) {begin = [0, 0, 0, 0], end = [1, 64, 112, 112],"
        " stride = [1, 1, 2, 2]}", (1, 64, 56, 56),
        [("Slice", ["x", i64(0, 0), i64(112, 112), i64(2, 3), i64(2, 2)], {})],
        x=real(*IMAGE))
    for mode in ["constant", "reflect", "replicate"]:
        add("movement", f"pad, {mode}",
            f'pad(%x) {{pad = [0, 0, 0, 0, 1, 1, 1, 1], mode = "{mode}"}}',
            (1, 64, 114, 114),
            [("Pad", ["x", i64(0, 0, 1, 1, 0, 0, 1, 1)],
              {"mode": "edge" if mode == "replicate" else mode})],
            x=real(*IMAGE))
    add("movement", "tile", "tile(%x) {reps = [1, 1, 2, 2]}", IMAGE,
        [("Tile", ["x", i64(1, 1, 2, 2)], {})], x=real(1, 64, 56, 56))
    add("movement", "reverse", "reverse(%x) {axes = [3]}", IMAGE,
        [("Slice", ["x", i64(-1), i64(-1000), i64(3), i64(-1)], {})],
        x=real(*IMAGE))
    add("movement", "reverse_sequence",
        "reverse_sequence(%x, %n) {seq_axis = 1, batch_axis = 0}", TEXT,
        [("ReverseSequence", ["x", "n"], {"time_axis": 1, "batch_axis": 0})],
        x=real(*TEXT), n=whole(8, below=128) + 1)
    add("movement", "band_part", "band_part(%x) {lower = -1, upper = 0}",
        (12, 256, 256), [("Trilu", ["x"], {"upper": 0})], x=real(12, 256, 256))


def selections():
    table = (5000, 256)
    rows = (1000, 1000)
    add("selection", "gather, rows", "gather(%x, %i) {axis = 0}",
        (2048, 256), [("Gather", ["x", "i"], {"axis": 0})], x=real(*table),
        i=whole(2048, below=5000))
    add("selection", "gather, columns", "gather(%x, %i) {axis = 1}",
        (1000, 500), [("Gather", ["x", "i"], {"axis": 1})], x=real(*rows),
        i=whole(500, below=1000))
    add("selection", "gather_along_axis, columns",
        "gather_along_axis(%x, %i) {axis = 1}", (1000, 500),
        [("GatherElements", ["x", "i"], {"axis": 1})], x=real(*rows),
        i=whole(1000, 500, below=1000))
    add("selection", "gather_along_axis, rows",
        "gather_along_axis(%x, %i) {axis = 0}", (500, 1000),
        [("GatherElements", ["x", "i"], {"axis": 0})], x=real(*rows),
        i=whole(500, 1000, below=1000))
    pairs = np.stack([whole(4096, below=64), whole(4096, below=112)], 1)
    add("selection", "gather_nd", "gather_nd(%x, %i)", (4096, 112),
        [("GatherND", ["x", "i"], {})], x=real(64, 112, 112), i=pairs)
    pairs = np.stack(np.unravel_index(
        RANDOM.permutation(64 * 112)[:4096], (64, 112)), 1).astype(np.int32)
    for mode, theirs in [("update", "none"), ("add", "add")]:
        add("selection", f"scatter_nd, {mode}",
            f'scatter_nd(%x, %i, %u) {{mode = "{mode}"}}', (64, 112, 112),
            [("ScatterND", ["x", "i", "u"], {"reduction": theirs})],
            x=real(64, 112, 112), i=pairs, u=real(4096, 112))
        add("selection", f"scatter, rows, {mode}",
            f'scatter(%x, %i, %u) {{axis = 0, mode = "{mode}"}}', table,
            [("Unsqueeze", ["i", i64(1)], {}),
             ("ScatterND", ["x", "_", "u"], {"reduction": theirs})],
            x=real(*table), u=real(2048, 256),
            i=RANDOM.permutation(5000)[:2048].astype(np.int32))
        places = np.argsort(RANDOM.random((1000, 1000)), 1)[:, :500]
        add("selection", f"scatter_along_axis, {mode}",
            f'scatter_along_axis(%x, %i, %u) {{axis = 1, mode = "{mode}"}}',
            rows, [("ScatterElements", ["x", "i", "u"],
                    {"axis": 1, "reduction": theirs})],
            x=real(*rows), i=places.astype(np.int32), u=real(1000, 500))
    add("selection", "one_hot",
        "one_hot(%i) {one_hot_vector_size = 1000, axis = -1, on_value = fp32(1),"
        " off_value = fp32(0)}", (1000, 1000),
        [("OneHot", ["i", i64(1000), np.array([0, 1], np.float32)],
          {"axis": -1})], i=whole(1000, below=1000))


def add_all():
    for family in (activations, functions, pairs, reductions, norms,
                   convolutions, products, pooling, images, movement,
                   selections):
        family()
    return CASES


def chosen(names):
    """The ops whose name contains one of `names`, or whose family is one; without names all."""
    return [case for case in add_all()
            if not names or any(name in case.name or name == case.family for name in names)]
