"""Layers of networks as exporters write them to ONNX."""
import numpy

from onnx_writer import Graph


def ints(*values):
    return numpy.array(values, numpy.int64)


def single(value):
    return numpy.array(value, numpy.float32)


class Network(Graph):
    """A graph with random weights, which it scales so that values keep their
    size from layer to layer."""

    def __init__(self, name, seed=1):
        super().__init__(name)
        self.random = numpy.random.default_rng(seed)
        self.feeds = {}

    def feed(self, name, array, dims=None):
        """An input, and the value that it is run with."""
        self.feeds[name] = array
        return self.input(name, array.dtype, dims or list(array.shape))

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype(numpy.float32)

    def weight(self, *shape, inputs=None):
        inputs = inputs or shape[-1]
        return self.normal(*shape) / numpy.float32(numpy.sqrt(inputs))

    # Images.

    def conv(self, x, channels, outputs, kernel, stride=1, groups=1, pad=None,
             bias=False):
        sizes = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        pads = [k // 2 for k in sizes] if pad is None else [pad] * len(sizes)
        weight = self.weight(outputs, channels // groups, *sizes,
                             inputs=channels // groups * numpy.prod(sizes))
        return self.op("Conv", x, weight * numpy.float32(1.4),
                       self.normal(outputs) * 0.1 if bias else None,
                       kernel_shape=list(sizes), strides=[stride] * len(sizes),
                       pads=pads + pads, group=groups,
                       dilations=[1] * len(sizes))

    def batch_norm(self, x, channels):
        return self.op("BatchNormalization", x, 1 + 0.1 * self.normal(channels),
                       0.1 * self.normal(channels), 0.1 * self.normal(channels),
                       1 + 0.1 * numpy.abs(self.normal(channels)),
                       epsilon=1e-5, momentum=0.9)

    def relu6(self, x):
        return self.op("Clip", x, single(0), single(6))

    # Sequences.

    def linear(self, x, inputs, outputs):
        y = self.op("MatMul", x, self.weight(inputs, outputs, inputs=inputs))
        return self.op("Add", self.normal(outputs) * numpy.float32(0.1), y)

    def layer_norm(self, x, width):
        gain, bias = 1 + 0.1 * self.normal(width), 0.1 * self.normal(width)
        return self.op("LayerNormalization", x, gain, bias, axis=-1,
                       epsilon=1e-5)

    def old_layer_norm(self, x, width):
        """As versions before 17 write it."""
        mean = self.op("ReduceMean", x, axes=[-1], keepdims=1)
        centered = self.op("Sub", x, mean)
        square = self.op("Pow", centered, single(2))
        variance = self.op("ReduceMean", square, axes=[-1], keepdims=1)
        root = self.op("Sqrt", self.op("Add", variance, single(1e-5)))
        scaled = self.op("Mul", self.op("Div", centered, root),
                         1 + 0.1 * self.normal(width))
        return self.op("Add", scaled, 0.1 * self.normal(width))

    def gelu(self, x):
        erf = self.op("Erf", self.op("Div", x, single(numpy.sqrt(2))))
        y = self.op("Mul", x, self.op("Add", erf, single(1)))
        return self.op("Mul", y, single(0.5))

    def gelu_tanh(self, x):
        cube = self.op("Mul", self.op("Pow", x, single(3)), single(0.044715))
        inner = self.op("Mul", self.op("Add", x, cube),
                        single(numpy.sqrt(2 / numpy.pi)))
        y = self.op("Add", self.op("Tanh", inner), single(1))
        return self.op("Mul", self.op("Mul", x, single(0.5)), y)

    def extent(self, x, axis):
        """The extent of an axis as a list of one number."""
        size = self.op("Gather", self.op("Shape", x), numpy.array(axis), axis=0)
        return self.op("Unsqueeze", size, ints(0))

    def heads(self, x, count, width):
        """[batch, length, width] to [batch, head, length, rest], by a shape that
        is computed."""
        shape = self.op("Concat", self.extent(x, 0), self.extent(x, 1),
                        ints(count), ints(width // count), axis=0)
        return self.op("Transpose", self.op("Reshape", x, shape),
                       perm=[0, 2, 1, 3])

    def merge(self, x, width):
        x = self.op("Transpose", x, perm=[0, 2, 1, 3])
        shape = self.op("Concat", self.extent(x, 0), self.extent(x, 1),
                        ints(width), axis=0)
        return self.op("Reshape", x, shape)

    def attend(self, q, k, v, count, width, mask=None):
        """Attention of values [batch, length, width]; `mask` changes scores."""
        q, k, v = (self.heads(x, count, width) for x in (q, k, v))
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.op("Div", scores, single(numpy.sqrt(width // count)))
        scores = mask(scores) if mask else scores
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        return self.merge(mixed, width)

    def attention(self, x, count, width, mask=None):
        q, k, v = (self.linear(x, width, width) for _ in range(3))
        mixed = self.attend(q, k, v, count, width, mask)
        return self.linear(mixed, width, width)
