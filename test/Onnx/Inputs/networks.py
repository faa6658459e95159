"""Public architectures with random weights, as exporters write them to ONNX. Each
function gives a network; `small` makes one for quick tests."""
import numpy

from network_layers import Network, ints, single


def resnet18(small):
    size, widths = (64, (16, 32, 48, 64)) if small else (224, (64, 128, 256, 512))
    n = Network("resnet18")
    x = n.feed("image", n.normal(1, 3, size, size))

    def block(x, channels, outputs, stride):
        y = n.op("Relu", n.batch_norm(
            n.conv(x, channels, outputs, 3, stride), outputs))
        y = n.batch_norm(n.conv(y, outputs, outputs, 3), outputs)
        if stride != 1 or channels != outputs:
            x = n.batch_norm(n.conv(x, channels, outputs, 1, stride), outputs)
        return n.op("Relu", n.op("Add", y, x))

    x = n.op("Relu", n.batch_norm(n.conv(x, 3, widths[0], 7, 2), widths[0]))
    x = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2],
             pads=[1, 1, 1, 1])
    channels = widths[0]
    for stage, outputs in enumerate(widths):
        x = block(x, channels, outputs, 2 if stage else 1)
        x = block(x, outputs, outputs, 1)
        channels = outputs
    x = n.op("Flatten", n.op("GlobalAveragePool", x), axis=1)
    x = n.op("Gemm", x, n.weight(1000, channels), n.normal(1000) * 0.1, transB=1)
    n.output(x, numpy.float32, [1, 1000])
    return n, 13


def mobilenet_v2(small):
    size, scale = (64, 4) if small else (224, 1)
    n = Network("mobilenet_v2")
    x = n.feed("image", n.normal(1, 3, size, size))
    channels = 32 // scale
    x = n.relu6(n.batch_norm(n.conv(x, 3, channels, 3, 2), channels))
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
              (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, width, count, stride in stages:
        outputs = width // scale
        for i in range(count):
            inner = channels * expansion
            y = x
            if expansion != 1:
                y = n.relu6(n.batch_norm(n.conv(y, channels, inner, 1), inner))
            y = n.conv(y, inner, inner, 3, 1 if i else stride, groups=inner)
            y = n.relu6(n.batch_norm(y, inner))
            y = n.batch_norm(n.conv(y, inner, outputs, 1), outputs)
            x = n.op("Add", x, y) if i else y
            channels = outputs
    x = n.relu6(n.batch_norm(n.conv(x, channels, 1280 // scale, 1),
                             1280 // scale))
    x = n.op("ReduceMean", x, axes=[2, 3], keepdims=0)
    x = n.op("Gemm", x, n.weight(1000, 1280 // scale), n.normal(1000) * 0.1,
             transB=1)
    n.output(x, numpy.float32, [1, 1000])
    return n, 13


def unet(small):
    size, width = (32, 8) if small else (128, 32)
    n = Network("unet")
    x = n.feed("image", n.normal(1, 3, size, size))

    def twice(x, channels, outputs):
        for inputs in (channels, outputs):
            x = n.op("LeakyRelu", n.op(
                "InstanceNormalization", n.conv(x, inputs, outputs, 3),
                1 + 0.1 * n.normal(outputs), 0.1 * n.normal(outputs)), alpha=0.1)
        return x

    kept, channels = [], 3
    for level in range(3):
        outputs = width << level
        x = twice(x, channels, outputs)
        kept.append((x, outputs))
        x = n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        channels = outputs
    x = twice(x, channels, 2 * channels)
    channels *= 2
    for level, (side, outputs) in enumerate(reversed(kept)):
        if level == 1:  # one level by interpolation
            x = n.op("Resize", x, None, numpy.array([1, 1, 2, 2], numpy.float32),
                     mode="linear",
                     coordinate_transformation_mode="half_pixel")
            x = n.conv(x, channels, outputs, 1)
        else:
            x = n.op("ConvTranspose", x, n.weight(channels, outputs, 2, 2,
                                                  inputs=channels),
                     n.normal(outputs) * 0.1, kernel_shape=[2, 2],
                     strides=[2, 2])
        x = twice(n.op("Concat", side, x, axis=1), 2 * outputs, outputs)
        channels = outputs
    x = n.op("Softmax", n.conv(x, channels, 5, 1, bias=True), axis=1)
    n.output(x, numpy.float32, [1, 5, size, size])
    return n, 13


def bert(small):
    layers, width, length = (2, 64, 16) if small else (12, 768, 128)
    heads, words = width // 32 if small else 12, 1000 if small else 30522
    n = Network("bert")
    tokens = n.feed("input_ids", n.random.integers(0, words, (1, length)),
                    ["batch", "sequence"])
    present = numpy.ones((1, length), numpy.int64)
    present[0, -3:] = 0
    mask = n.feed("attention_mask", present, ["batch", "sequence"])
    hidden = n.op("Unsqueeze", mask, ints(1, 2))
    hidden = n.op("Sub", single(1), n.op("Cast", hidden, to=1))
    hidden = n.op("Mul", hidden, single(-10000))
    positions = n.op("Slice", ints(*range(512)).reshape(1, 512), ints(0),
                     n.extent(tokens, 1), ints(1))
    x = n.op("Add", n.op("Gather", n.normal(words, width), tokens),
             n.op("Gather", n.normal(512, width), positions))
    x = n.old_layer_norm(x, width)
    for _ in range(layers):
        y = n.attention(x, heads, width, lambda s: n.op("Add", s, hidden))
        x = n.old_layer_norm(n.op("Add", y, x), width)
        y = n.linear(n.gelu(n.linear(x, width, 4 * width)), 4 * width, width)
        x = n.old_layer_norm(n.op("Add", y, x), width)
    first = n.op("Gather", x, numpy.array(0), axis=1)
    pooled = n.op("Tanh", n.op("Gemm", first, n.weight(width, width),
                               n.normal(width) * 0.1, transB=1))
    n.output(x, numpy.float32, ["batch", "sequence", width])
    n.output(pooled, numpy.float32, ["batch", width])
    return n, 13


def vit(small):
    layers, width, size, patch = (2, 48, 32, 8) if small else (12, 192, 224, 16)
    count = (size // patch)**2
    n = Network("vit")
    image = n.feed("image", n.normal(1, 3, size, size), ["batch", 3, size, size])
    x = n.conv(image, 3, width, patch, patch, pad=0, bias=True)
    shape = n.op("Concat", n.extent(x, 0), ints(width), ints(-1), axis=0)
    x = n.op("Transpose", n.op("Reshape", x, shape), perm=[0, 2, 1])
    shape = n.op("Concat", n.extent(image, 0), ints(-1), ints(-1), axis=0)
    ones = n.op("ConstantOfShape", n.op("Shape", shape),
                value=numpy.array([1], numpy.int64))
    shape = n.op("Where", n.op("Equal", shape, n.op("Mul", ones, ints(-1))),
                 ones, shape)
    token = n.op("Expand", n.normal(1, 1, width), shape)
    x = n.op("Add", n.op("Concat", token, x, axis=1),
             n.normal(1, count + 1, width))
    heads = 3
    for _ in range(layers):
        y = n.linear(n.layer_norm(x, width), width, 3 * width)
        q, k, v = n.op("Split", y, ints(width, width, width), outputs=3, axis=2)
        y = n.linear(n.attend(q, k, v, heads, width), width, width)
        x = n.op("Add", x, y)
        y = n.linear(n.layer_norm(x, width), width, 4 * width)
        x = n.op("Add", x, n.linear(n.gelu(y), 4 * width, width))
    first = n.op("Gather", n.layer_norm(x, width), numpy.array(0), axis=1)
    x = n.op("Gemm", first, n.weight(1000, width), n.normal(1000) * 0.1, transB=1)
    n.output(x, numpy.float32, ["batch", 1000])
    return n, 17


def gpt2(small):
    layers, width, length = (2, 64, 12) if small else (12, 768, 64)
    heads, words = (4, 500) if small else (12, 50257)
    n = Network("gpt2")
    tokens = n.feed("input_ids", n.random.integers(0, words, (1, length)),
                    ["batch", "sequence"])
    end = n.op("Gather", n.op("Shape", tokens), numpy.array(1), axis=0)
    positions = n.op("Range", numpy.array(0), end, numpy.array(1))
    table = n.constant(n.normal(words, width) * numpy.float32(0.3))
    x = n.op("Add", n.op("Gather", table, tokens),
             n.op("Gather", n.normal(1024, width),
                  n.op("Unsqueeze", positions, ints(0))))
    seen = numpy.tril(numpy.ones((1, 1, 1024, 1024), numpy.bool_))

    def causal(scores):
        size = n.extent(scores, 2)
        part = n.op("Slice", n.op("Slice", seen, ints(0), size, ints(2), ints(1)),
                    ints(0), size, ints(3), ints(1))
        return n.op("Where", part, scores, single(-1e4))

    def conv1d(x, inputs, outputs):
        """As a product of matrices of a flattened input."""
        shape = n.op("Concat", n.extent(x, 0), n.extent(x, 1), ints(outputs),
                     axis=0)
        flat = n.op("Reshape", x, ints(-1, inputs))
        y = n.op("Gemm", flat, n.weight(inputs, outputs, inputs=inputs),
                 n.normal(outputs) * 0.1, alpha=1.0, beta=1.0)
        return n.op("Reshape", y, shape)

    for _ in range(layers):
        y = conv1d(n.old_layer_norm(x, width), width, 3 * width)
        q, k, v = n.op("Split", y, ints(width, width, width), outputs=3, axis=2)
        y = n.attend(q, k, v, heads, width, causal)
        x = n.op("Add", conv1d(y, width, width), x)
        y = n.gelu_tanh(conv1d(n.old_layer_norm(x, width), width, 4 * width))
        x = n.op("Add", x, conv1d(y, 4 * width, width))
    x = n.old_layer_norm(x, width)
    x = n.op("MatMul", x, n.op("Transpose", table, perm=[1, 0]))
    n.output(x, numpy.float32, ["batch", "sequence", words])
    return n, 13


def conformer(small):
    layers, width, frames, bands = (1, 48, 40, 20) if small else (8, 256, 400, 80)
    heads = 4
    n = Network("conformer")
    x = n.feed("features", n.normal(1, frames, bands))
    x = n.op("Unsqueeze", x, ints(1))
    x = n.op("Relu", n.conv(x, 1, width, 3, 2, pad=0, bias=True))
    x = n.op("Relu", n.conv(x, width, width, 3, 2, pad=0, bias=True))
    rest = ((bands - 1) // 2 - 1) // 2
    x = n.op("Transpose", x, perm=[0, 2, 1, 3])
    shape = n.op("Concat", n.extent(x, 0), n.extent(x, 1), ints(width * rest),
                 axis=0)
    x = n.linear(n.op("Reshape", x, shape), width * rest, width)

    def feed_forward(x):
        y = n.linear(n.layer_norm(x, width), width, 4 * width)
        y = n.op("Mul", y, n.op("Sigmoid", y))
        y = n.linear(y, 4 * width, width)
        return n.op("Add", x, n.op("Mul", y, single(0.5)))

    def convolution(x):
        y = n.op("Transpose", n.layer_norm(x, width), perm=[0, 2, 1])
        y = n.conv(y, width, 2 * width, (1,), bias=True)
        a, b = n.op("Split", y, outputs=2, axis=1)
        y = n.op("Mul", a, n.op("Sigmoid", b))
        y = n.conv(y, width, width, (15,), groups=width, bias=True)
        y = n.batch_norm(y, width)
        y = n.op("Mul", y, n.op("Sigmoid", y))
        y = n.conv(y, width, width, (1,), bias=True)
        return n.op("Add", x, n.op("Transpose", y, perm=[0, 2, 1]))

    for _ in range(layers):
        x = feed_forward(x)
        x = n.op("Add", x, n.attention(n.layer_norm(x, width), heads, width))
        x = feed_forward(convolution(x))
        x = n.layer_norm(x, width)
    x = n.op("LogSoftmax", n.linear(x, width, 30), axis=-1)
    n.output(x, numpy.float32, None)
    return n, 17


def speech_lstm(small):
    """Convolutions and LSTMs in two directions."""
    frames, bands, hidden = (32, 16, 24) if small else (300, 80, 320)
    n = Network("speech_lstm")
    x = n.feed("features", n.normal(1, bands, frames))
    x = n.op("Relu", n.batch_norm(
        n.conv(x, bands, hidden, (5,), bias=True), hidden))
    x = n.op("MaxPool", x, kernel_shape=[2], strides=[2])
    x = n.op("Transpose", x, perm=[2, 0, 1])
    width = hidden
    for _ in range(2):
        y, _, _ = n.op(
            "LSTM", x, n.weight(2, 4 * hidden, width),
            n.weight(2, 4 * hidden, hidden), n.normal(2, 8 * hidden) * 0.1,
            None, numpy.zeros((2, 1, hidden), numpy.float32),
            numpy.zeros((2, 1, hidden), numpy.float32), outputs=3,
            direction="bidirectional", hidden_size=hidden)
        y = n.op("Transpose", y, perm=[0, 2, 1, 3])
        x = n.op("Reshape", y, ints(0, 0, -1))
        width = 2 * hidden
    x = n.op("LogSoftmax", n.linear(x, width, 30), axis=-1)
    n.output(x, numpy.float32, None)
    return n, 13


NETWORKS = {network.__name__: network for network in
            (resnet18, mobilenet_v2, unet, bert, vit, gpt2, conformer,
             speech_lstm)}
