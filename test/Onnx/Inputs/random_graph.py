"""Random graphs of ONNX operators, every value of which is an output."""
import numpy

from onnx_writer import Graph

UNARY = ["Abs", "Neg", "Relu", "Sigmoid", "Tanh", "Softplus", "Softsign", "Erf",
         "Floor", "Ceil", "Round", "Sign", "Exp", "Sin", "Cos", "Atan",
         "HardSwish", "Identity", "Reciprocal", "Sqrt", "Log"]
ALPHA = ["LeakyRelu", "Elu", "Celu", "ThresholdedRelu"]
BINARY = ["Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"]
COMPARE = ["Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"]
REDUCE = ["ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
          "ReduceLogSumExp", "ReduceSumSquare", "ReduceProd"]
MAXIMUM = 4000  # elements of a value


class RandomGraph:
    def __init__(self, seed, nodes=12):
        self.random = numpy.random.default_rng(seed)
        self.graph = Graph("random")
        self.values = []  # name, shape, type
        self.feeds = {}
        for i in range(self.pick(1, 3)):
            self.add_input(f"x{i}")
        makers = [getattr(self, name) for name in dir(self)
                  if name.startswith("make_")]
        while len(self.graph.nodes) < nodes:
            makers[self.pick(0, len(makers) - 1)]()
        for name, shape, type in self.values:
            if name not in self.feeds:
                self.graph.output(name, type, None)

    # Drawing.

    def pick(self, low, high):
        return int(self.random.integers(low, high + 1))

    def chance(self, share):
        return self.random.random() < share

    def choose(self, items):
        return items[self.pick(0, len(items) - 1)]

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype(numpy.float32)

    def add_input(self, name):
        shape = [self.pick(1, 6) for _ in range(self.pick(1, 4))]
        self.feeds[name] = self.normal(*shape)
        self.graph.input(name, numpy.float32, shape)
        self.values.append((name, shape, numpy.float32))

    def value(self, type=numpy.float32, rank=None):
        """A value of a rank; nothing if there is none."""
        fitting = [v for v in self.values if v[2] == type and
                   (rank is None or len(v[1]) in rank)]
        return self.choose(fitting) if fitting else None

    def emit(self, op, inputs, results, **attributes):
        """Adds a node whose results have these shapes and types."""
        if any(numpy.prod(shape, dtype=int) > MAXIMUM or min(shape, default=1) < 1
               or len(shape) > 5 for shape, _ in results):
            return
        names = self.graph.op(op, *inputs, outputs=len(results), **attributes)
        names = [names] if isinstance(names, str) else names
        self.values += [(name, list(shape), type)
                        for name, (shape, type) in zip(names, results)]

    def axis(self, rank):
        return self.pick(-rank, rank - 1)

    # Nodes.

    def make_unary(self):
        x, shape, type = self.value()
        self.emit(self.choose(UNARY), [x], [(shape, type)])

    def make_alpha(self):
        x, shape, type = self.value()
        op = self.choose(ALPHA)
        self.emit(op, [x], [(shape, type)],
                  alpha=float(self.random.uniform(0.1, 2)))

    def make_clip(self):
        x, shape, type = self.value()
        low, high = sorted(self.normal(2))
        self.emit("Clip", [x, numpy.array(low) if self.chance(0.8) else None,
                           numpy.array(high) if self.chance(0.8) else None],
                  [(shape, type)])

    def partner(self, shape, one_way=False):
        """A constant or a value that broadcasts with the shape."""
        fitting = [v for v in self.values if v[2] == numpy.float32 and
                   len(v[1]) <= len(shape) and
                   all(a in ((1, b) if one_way else (1, b)) for a, b in
                       zip(v[1][::-1], shape[::-1]))]
        if fitting and self.chance(0.6):
            return self.choose(fitting)[0]
        cut = shape[self.pick(0, len(shape)):]
        return self.normal(*[d if self.chance(0.7) else 1 for d in cut])

    def make_binary(self):
        x, shape, type = self.value()
        op = self.choose(BINARY)
        pair = [x, self.partner(shape)]
        if op != "PRelu" and self.chance(0.3):
            pair.reverse()
        self.emit(op, pair, [(shape, type)])

    def make_compare(self):
        x, shape, _ = self.value()
        self.emit(self.choose(COMPARE), [x, self.partner(shape)],
                  [(shape, numpy.bool_)])

    def make_logic(self):
        x = self.value(numpy.bool_)
        if not x:
            return
        if self.chance(0.5):
            return self.emit("Not", [x[0]], [(x[1], x[2])])
        others = [v for v in self.values if v[2] == numpy.bool_ and v[1] == x[1]]
        self.emit(self.choose(["And", "Or", "Xor"]),
                  [x[0], self.choose(others)[0]], [(x[1], x[2])])

    def make_where(self):
        c = self.value(numpy.bool_)
        if c:
            self.emit("Where", [c[0], self.partner(c[1]), self.partner(c[1])],
                      [(c[1], numpy.float32)])

    def make_cast(self):
        type = self.choose([numpy.bool_, numpy.int64])
        x = self.value(type)
        if x:
            self.emit("Cast", [x[0]], [(x[1], numpy.float32)], to=1)

    def make_reduce(self):
        x, shape, type = self.value()
        if not shape:
            return
        axes = sorted({self.pick(0, len(shape) - 1)
                       for _ in range(self.pick(1, len(shape)))})
        keep = self.pick(0, 1)
        result = [1 if i in axes else d for i, d in enumerate(shape)
                  if keep or i not in axes]
        axes = [a - len(shape) if self.chance(0.3) else a for a in axes]
        if self.chance(0.3):
            return self.emit("ReduceSum", [x, numpy.array(axes)],
                             [(result, type)], keepdims=keep)
        self.emit(self.choose(REDUCE), [x], [(result, type)], axes=axes,
                  keepdims=keep)

    def make_softmax(self):
        x, shape, type = self.value()
        if shape:
            self.emit(self.choose(["Softmax", "LogSoftmax", "Hardmax"]), [x],
                      [(shape, type)], axis=self.axis(len(shape)))

    def make_arg(self):
        x, shape, _ = self.value()
        if not shape:
            return
        axis, keep = self.axis(len(shape)), self.pick(0, 1)
        result = list(shape)
        result[axis] = 1
        if not keep:
            del result[axis]
        self.emit(self.choose(["ArgMax", "ArgMin"]), [x],
                  [(result, numpy.int64)], axis=axis, keepdims=keep,
                  select_last_index=self.pick(0, 1))

    def make_topk(self):
        x, shape, type = self.value()
        if not shape:
            return
        axis = self.axis(len(shape))
        result = list(shape)
        result[axis] = self.pick(1, shape[axis])
        self.emit("TopK", [x, numpy.array([result[axis]])],
                  [(result, type), (result, numpy.int64)], axis=axis,
                  largest=self.pick(0, 1))

    def make_cumsum(self):
        x, shape, type = self.value()
        if shape:
            self.emit("CumSum", [x, numpy.array(self.axis(len(shape)))],
                      [(shape, type)], exclusive=self.pick(0, 1),
                      reverse=self.pick(0, 1))

    def make_transpose(self):
        x, shape, type = self.value()
        perm = [int(i) for i in self.random.permutation(len(shape))]
        if shape:
            self.emit("Transpose", [x], [([shape[i] for i in perm], type)],
                      perm=perm)

    def make_reshape(self):
        x, shape, type = self.value()
        size = int(numpy.prod(shape, dtype=int))
        result = []
        while size > 1 and len(result) < 3 and self.chance(0.8):
            divisors = [d for d in range(1, size + 1) if size % d == 0]
            result.append(self.choose(divisors))
            size //= result[-1]
        result.append(size)
        written = list(result)
        if self.chance(0.4):
            written[self.pick(0, len(written) - 1)] = -1
        self.emit("Reshape", [x, numpy.array(written)], [(result, type)])

    def make_unsqueeze(self):
        x, shape, type = self.value()
        axis = self.pick(-len(shape) - 1, len(shape))
        result = list(shape)
        result.insert(axis if axis >= 0 else len(shape) + 1 + axis, 1)
        self.emit("Unsqueeze", [x, numpy.array([axis])], [(result, type)])

    def make_squeeze(self):
        x, shape, type = self.value()
        if 1 in shape:
            axis = shape.index(1)
            self.emit("Squeeze", [x, numpy.array([axis])],
                      [(shape[:axis] + shape[axis + 1:], type)])

    def make_flatten(self):
        x, shape, type = self.value()
        axis = self.pick(0, len(shape))
        self.emit("Flatten", [x],
                  [([int(numpy.prod(shape[:axis], dtype=int)),
                     int(numpy.prod(shape[axis:], dtype=int))], type)], axis=axis)

    def make_concat(self):
        x, shape, type = self.value()
        if not shape:
            return
        axis = self.axis(len(shape))
        other = list(shape)
        other[axis] = self.pick(1, 3)
        result = list(shape)
        result[axis] += other[axis]
        self.emit("Concat", [x, self.normal(*other)], [(result, type)], axis=axis)

    def make_split(self):
        x, shape, type = self.value()
        if not shape:
            return
        axis = self.axis(len(shape))
        if shape[axis] < 2:
            return
        cut = self.pick(1, shape[axis] - 1)
        parts = [cut, shape[axis] - cut]
        results = []
        for part in parts:
            result = list(shape)
            result[axis] = part
            results.append((result, type))
        self.emit("Split", [x, numpy.array(parts)], results, axis=axis)

    def make_slice(self):
        x, shape, type = self.value()
        if not shape:
            return
        axis = self.axis(len(shape))
        extent = shape[axis]
        step = self.choose([1, 1, 2, -1, -2])
        begin, end = self.pick(-extent - 1, extent + 1), self.pick(-9, 9)
        count = len(range(extent)[slice(begin, end, step)])
        if step < 0 and end < -extent:
            count = len(range(extent)[slice(begin, None, step)])
        result = list(shape)
        result[axis] = count
        self.emit("Slice", [x, numpy.array([begin]), numpy.array([end]),
                            numpy.array([axis]), numpy.array([step])],
                  [(result, type)])

    def make_pad(self):
        x, shape, type = self.value()
        if not shape:
            return
        mode = self.choose(["constant", "reflect", "edge"])
        pads = [[self.pick(0, min(2, d - 1 if mode == "reflect" else 2))
                 for d in shape] for _ in range(2)]
        result = [d + a + b for d, a, b in zip(shape, *pads)]
        self.emit("Pad", [x, numpy.array(pads[0] + pads[1])], [(result, type)],
                  mode=mode)

    def make_tile(self):
        x, shape, type = self.value()
        if shape:
            repeats = [self.pick(1, 2) for _ in shape]
            self.emit("Tile", [x, numpy.array(repeats)],
                      [([a * b for a, b in zip(shape, repeats)], type)])

    def make_expand(self):
        x, shape, type = self.value()
        result = [self.pick(1, 3) if d == 1 else d for d in shape]
        if self.chance(0.3):
            result.insert(0, 2)
        if result:
            self.emit("Expand", [x, numpy.array(result)], [(result, type)])

    def make_gather(self):
        x, shape, type = self.value()
        if not shape:
            return
        axis = self.axis(len(shape))
        where = [self.pick(1, 3) for _ in range(self.pick(0, 2))]
        indices = self.random.integers(-shape[axis], shape[axis], where)
        at = axis % len(shape)
        self.emit("Gather", [x, numpy.array(indices)],
                  [(shape[:at] + where + shape[at + 1:], type)], axis=axis)

    def make_gather_elements(self):
        x, shape, type = self.value()
        if not shape:
            return
        axis = self.axis(len(shape))
        result = [self.pick(1, d) for d in shape]
        indices = self.random.integers(-shape[axis], shape[axis], result)
        self.emit("GatherElements", [x, indices], [(result, type)], axis=axis)

    def make_scatter_elements(self):
        x, shape, type = self.value()
        if not shape:
            return
        axis = self.axis(len(shape))
        part = [self.pick(1, d) for d in shape]
        order = self.random.permuted(
            numpy.broadcast_to(numpy.arange(shape[axis]).reshape(
                [-1 if i == axis % len(shape) else 1
                 for i in range(len(shape))]), shape), axis=axis)
        indices = order[tuple(slice(d) for d in part)]
        self.emit("ScatterElements", [x, indices, self.normal(*part)],
                  [(shape, type)], axis=axis,
                  reduction=self.choose(["none", "add", "mul"]))

    def make_trilu(self):
        x = self.value(rank=(2, 3, 4))
        if x:
            self.emit("Trilu", [x[0], numpy.array(self.pick(-3, 3))],
                      [(x[1], x[2])], upper=self.pick(0, 1))

    def make_matmul(self):
        x = self.value(rank=(2, 3, 4))
        if x:
            columns = self.pick(1, 5)
            self.emit("MatMul", [x[0], self.normal(x[1][-1], columns)],
                      [(x[1][:-1] + [columns], x[2])])

    def make_gemm(self):
        x = self.value(rank=(2,))
        if not x:
            return
        turn_a, turn_b = self.pick(0, 1), self.pick(0, 1)
        rows, inner = x[1][::-1] if turn_a else x[1]
        columns = self.pick(1, 5)
        weight = self.normal(*((columns, inner) if turn_b else (inner, columns)))
        self.emit("Gemm", [x[0], weight, self.choose(
            [None, self.normal(columns), self.normal(rows, 1)])],
            [([rows, columns], x[2])], transA=turn_a, transB=turn_b,
            alpha=float(self.normal(1)[0]), beta=float(self.normal(1)[0]))

    def make_einsum(self):
        x = self.value(rank=(3,))
        if x:
            a, b, c = x[1]
            equation, other, result = self.choose([
                ("bij,bjk->bik", [a, c, 2], [a, b, 2]),
                ("bij,kj->bik", [3, c], [a, b, 3]),
                ("bij,bij->b", [a, b, c], [a]),
                ("...j,j->...", [c], [a, b]),
                ("bij,k->kjib", [2], [2, c, b, a]),
                ("bij,ij", [b, c], [a])])
            self.emit("Einsum", [x[0], self.normal(*other)], [(result, x[2])],
                      equation=equation)

    def windows(self, shape, most=3):
        """Kernel, strides, pads, dilations and the extents of the result."""
        kernel = [self.pick(1, min(most, d)) for d in shape]
        strides = [self.pick(1, 2) for _ in shape]
        pads = [[self.pick(0, k - 1) for k in kernel] for _ in range(2)]
        dilations = [self.pick(1, 2) for _ in shape]
        result = [(d + a + b - dil * (k - 1) - 1) // s + 1 for d, a, b, dil, k, s
                  in zip(shape, *pads, dilations, kernel, strides)]
        return kernel, strides, pads[0] + pads[1], dilations, result

    def make_conv(self):
        x = self.value(rank=(3, 4))
        if not x:
            return
        batch, channels, *spatial = x[1]
        kernel, strides, pads, dilations, result = self.windows(spatial)
        groups = channels if self.chance(0.3) else 1
        outputs = groups * self.pick(1, 3)
        self.emit("Conv", [x[0], self.normal(outputs, channels // groups, *kernel),
                           self.normal(outputs) if self.chance(0.5) else None],
                  [([batch, outputs, *result], x[2])], group=groups,
                  kernel_shape=kernel, strides=strides, pads=pads,
                  dilations=dilations)

    def make_conv_transpose(self):
        x = self.value(rank=(3, 4))
        if not x:
            return
        batch, channels, *spatial = x[1]
        kernel = [self.pick(1, 3) for _ in spatial]
        strides = [self.pick(1, 3) for _ in spatial]
        pads = [self.pick(0, (k - 1) // 2) for k in kernel]
        extra = [self.pick(0, s - 1) for s in strides]
        outputs = self.pick(1, 3)
        result = [s * (d - 1) + e + k - 2 * p for s, d, e, k, p in
                  zip(strides, spatial, extra, kernel, pads)]
        self.emit("ConvTranspose", [x[0], self.normal(channels, outputs, *kernel)],
                  [([batch, outputs, *result], x[2])], kernel_shape=kernel,
                  strides=strides, pads=pads + pads, output_padding=extra)

    def make_pool(self):
        x = self.value(rank=(3, 4))
        if not x:
            return
        batch, channels, *spatial = x[1]
        kernel, strides, pads, dilations, result = self.windows(spatial)
        op = self.choose(["MaxPool", "AveragePool"])
        more = {"dilations": dilations}
        if op == "AveragePool":
            more = {"count_include_pad": self.pick(0, 1)}
            result = [(d + a + b - k) // s + 1 for d, a, b, k, s in
                      zip(spatial, pads, pads[len(spatial):], kernel, strides)]
        self.emit(op, [x[0]], [([batch, channels, *result], x[2])],
                  kernel_shape=kernel, strides=strides, pads=pads, **more)

    def make_norm(self):
        x = self.value(rank=(3, 4))
        if not x:
            return
        channels = x[1][1]
        kind = self.choose(["InstanceNormalization", "BatchNormalization", "LRN",
                            "MeanVarianceNormalization"])
        if kind == "LRN" and len(x[1]) != 4:
            return
        if kind == "LRN":
            return self.emit(kind, [x[0]], [(x[1], x[2])], size=3)
        if kind == "MeanVarianceNormalization":
            return self.emit(kind, [x[0]], [(x[1], x[2])],
                             axes=[0] + list(range(2, len(x[1]))))
        rest = [self.normal(channels), self.normal(channels)]
        if kind == "BatchNormalization":
            rest += [self.normal(channels), numpy.abs(self.normal(channels)) + 0.1]
        self.emit(kind, [x[0], *rest], [(x[1], x[2])])

    def make_global_pool(self):
        x = self.value(rank=(3, 4))
        if x:
            self.emit(self.choose(["GlobalAveragePool", "GlobalMaxPool"]), [x[0]],
                      [(x[1][:2] + [1] * len(x[1][2:]), x[2])])

    def make_blocks(self):
        x = self.value(rank=(4,))
        if not x:
            return
        n, c, h, w = x[1]
        if c % 4 == 0:
            return self.emit("DepthToSpace", [x[0]],
                             [([n, c // 4, 2 * h, 2 * w], x[2])], blocksize=2,
                             mode=self.choose(["DCR", "CRD"]))
        if h % 2 == 0 and w % 2 == 0:
            self.emit("SpaceToDepth", [x[0]],
                      [([n, 4 * c, h // 2, w // 2], x[2])], blocksize=2)

    def make_resize(self):
        x = self.value(rank=(4,))
        if not x:
            return
        mode = self.choose(["nearest", "linear", "cubic"])
        more = {"nearest_mode": self.choose(
            ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
            } if mode == "nearest" else {}
        how = self.choose(["half_pixel", "asymmetric", "align_corners",
                           "pytorch_half_pixel"])
        result = x[1][:2] + [self.pick(1, 9) for _ in range(2)]
        self.emit("Resize", [x[0], None, None, numpy.array(result)],
                  [(result, x[2])], mode=mode,
                  coordinate_transformation_mode=how, **more)

    def make_grid_sample(self):
        x = self.value(rank=(4,))
        if not x:
            return
        rows, columns = self.pick(1, 4), self.pick(1, 4)
        grid = self.normal(x[1][0], rows, columns, 2)
        self.emit("GridSample", [x[0], grid],
                  [(x[1][:2] + [rows, columns], x[2])],
                  mode=self.choose(["bilinear", "nearest", "bicubic"]),
                  padding_mode=self.choose(["zeros", "border", "reflection"]),
                  align_corners=self.pick(0, 1))
