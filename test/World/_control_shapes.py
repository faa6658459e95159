"""Random shape arithmetic of MIL, built by coremltools: extents of inputs that can have any,
computed with, and numbers of inputs, decide how much is cut, filled, repeated and chosen. A
program is a list of statements; one that numpy or coremltools does not take is left out. What
is right is computed by numpy, and compared with what coremltools infers of constants."""
import copy
import dataclasses
import logging
import warnings

import numpy as np

import _control_mil
import _control_onnx

MOST = 400  # elements
FIXED_ONLY = True  # What values decide is written after --fix.
ARITHMETIC = ["add", "sub", "mul", "floor_div", "mod", "maximum", "minimum"]


class Draw(_control_onnx.Draw):
    def statement(self, _):
        return getattr(self, "draw_" + self.pick(STATEMENTS))()

    # Integers.
    def draw_shape(self):
        return ["shape", self.place()]

    def draw_item(self):
        return ["item", self.place(), self.int(-2, 1)]

    def draw_part(self):
        return ["part", self.place(), self.int(-2, 1), self.int(0, 3)]

    def draw_join(self):
        return ["join", [self.place() for _ in range(self.int(1, 3))]]

    def draw_arithmetic(self):
        return ["arithmetic", self.pick(ARITHMETIC), self.place(), self.pick([None, self.place()]),
                self.int(1, 4)]

    def draw_scale(self):
        return ["scale", self.place(), self.pick([0.5, 1.5, 2.0]), self.pick(["floor", "ceil"])]

    def draw_total(self):
        return ["total", self.place(), self.pick(["sum", "prod", "max", "min"])]

    def draw_choose(self):
        return ["choose", self.place(), self.int(1, 5), self.place(), self.int(1, 4)]

    def draw_range(self):
        return ["range", self.int(0, 2), self.place(), self.int(1, 2)]

    # Arrays.
    def draw_reshape(self):
        return ["reshape", self.place(), self.place(), self.pick([0, 1])]

    def draw_tile(self):
        return ["tile", self.place(), self.int(0, 2), self.place()]

    def draw_cut(self):
        return ["cut", self.place(), self.int(0, 2), self.pick([None, self.place()]),
                self.pick([None, self.place()]), self.pick([1, 1, 2])]

    def draw_window(self):
        return ["window", self.place(), self.int(0, 2), self.place(), self.int(1, 3),
                self.pick([1, 1, 2])]

    def draw_row(self):
        return ["row", self.place(), self.int(0, 2), self.place()]

    def draw_block(self):
        return ["block", self.place(), self.int(0, 2), self.place(), self.place()]

    def draw_fill(self):
        return ["fill", self.place()]

    def draw_take(self):
        return ["take", self.place(), self.int(0, 2), self.place()]

    def draw_nonzero(self):
        return ["nonzero", self.place(), round(float(self.random.standard_normal()), 2),
                self.pick([True, False])]

    def draw_pad(self):
        return ["pad", self.place(), self.int(0, 2), self.place()]

    def draw_onehot(self):
        return ["onehot", self.place(), self.place()]

    def draw_concat(self):
        return ["concat", self.place(), self.place(), self.int(0, 2)]

    def draw_unary(self):
        return ["unary", self.pick(["abs", "square", "relu"]), self.place()]

    def draw_sum(self):
        return ["sum", self.place(), self.int(0, 2)]

    def draw_number(self):
        return ["number", self.place(), self.place()]


STATEMENTS = [name[5:] for name in dir(Draw) if name.startswith("draw_")]


def draw(seed):
    drawn = Draw(("shapes", seed))
    shape = [drawn.int(1, 6) for _ in range(drawn.int(1, 3))]
    return {"body": [["shape", 0]] * drawn.int(0, 2) + [drawn.statement(0) for _ in range(drawn.int(8, 18))],
            "x": np.round(drawn.random.standard_normal(shape), 2).tolist(),
            "fixed": drawn.pick([[], [], [0]]), "n": drawn.int(1, 4)}


def smaller(program):
    for index in range(len(program["body"])):
        yield {**copy.deepcopy(program),
               "body": program["body"][:index] + program["body"][index + 1:]}


text = _control_onnx.text


class Skip(Exception):
    """The statement is not one here."""


@dataclasses.dataclass
class Value:
    array: np.ndarray
    var: object
    values: frozenset = frozenset()  # the inputs whose numbers decide its numbers
    shape: frozenset = frozenset()   # and its shape


def need(condition):
    if not condition:
        raise Skip


class Machine:
    """Runs a program by numpy and builds it by coremltools' builder at the same time."""

    def __init__(self, x, n):
        from coremltools.converters.mil import Builder
        self.mb = Builder
        self.arrays, self.integers = [x], [n]
        self.deciding = set()

    def run(self, body, left_out):
        """Returns the number of a statement that coremltools does not take, if any."""
        for index, (kind, *words) in enumerate(body):
            if index in left_out:
                continue
            try:
                value = getattr(self, "do_" + kind)(*words)
            except Skip:
                continue
            except (ValueError, TypeError, IndexError, NotImplementedError, AttributeError,
                    AssertionError, RuntimeError):
                return index
            isInt = value.array.dtype.kind == "i"
            (self.integers if isInt else self.arrays).append(value)
            self.deciding |= value.shape

    def at(self, values, place):
        return values[-1 - place % len(values)]

    def number(self, place):
        """A scalar integer."""
        value = self.at(self.integers, place)
        if value.array.ndim == 0:
            return value
        need(value.array.size == 1)
        return Value(value.array[0], self.mb.gather(x=value.var, indices=np.int32(0), axis=0),
                     value.values, value.shape)

    def vector(self, place, empty=False):
        value = self.at(self.integers, place)
        if value.array.ndim == 0:
            return Value(value.array[None], self.mb.expand_dims(x=value.var, axes=[0]),
                         value.values, value.shape)
        need(empty or value.array.size)
        return value

    def array(self, place, empty=False):
        value = self.at(self.arrays, place)
        need(empty or value.array.size)
        return value

    def axis(self, value, axis):
        need(value.array.ndim)
        return axis % value.array.ndim

    def list(self, value, axis, number, others):
        """A list with `number` for `axis` and one of `others` for each other axis."""
        parts = [np.int32([other]) for other in others]
        parts[axis] = self.mb.expand_dims(x=number.var, axes=[0])
        return parts[0] if len(parts) == 1 else self.mb.concat(values=parts, axis=0)

    def make(self, array, var, *operands, sizes=(), values=()):
        """A result of `operands`, whose extents the numbers of `sizes` decide, and whose
        numbers those of `values`."""
        array = np.asarray(array)
        need(array.size <= MOST)
        # coremltools takes some extents for known ones that are not, and removes ops then.
        need(all(not isinstance(extent, (int, np.integer)) or extent == known
                 for extent, known in zip(var.shape, array.shape)))
        decided = frozenset().union(*(value.values for value in (*operands, *sizes, *values)))
        shape = frozenset().union(*(value.shape for value in operands),
                                  *(size.values | size.shape for size in sizes))
        if array.dtype.kind in "iub":
            array = array.astype(np.int32)
            need(array.size == 0 or np.abs(array.astype(np.int64)).max() < 1000)
        else:
            array = array.astype(np.float32)
        return Value(array, var, decided, shape)

    # Integers.
    def do_shape(self, place):
        x = self.array(place)
        need(x.array.ndim)
        return Value(np.int32(x.array.shape), self.mb.shape(x=x.var), x.shape)

    def do_item(self, place, k):
        v = self.vector(place)
        need(-v.array.size <= k < v.array.size)
        return self.make(v.array[k], self.mb.gather(x=v.var, indices=np.int32(k), axis=0), v)

    def do_part(self, place, a, count):
        v = self.vector(place)
        need(-v.array.size <= a < v.array.size)
        a %= v.array.size
        need(a + count <= v.array.size)
        return self.make(v.array[a:a + count],
                         self.mb.slice_by_index(x=v.var, begin=[a], end=[a + count]), v)

    def do_join(self, places):
        parts = [self.vector(place, empty=True) for place in places]
        return self.make(np.concatenate([part.array for part in parts]),
                         self.mb.concat(values=[part.var for part in parts], axis=0), *parts)

    def do_arithmetic(self, op, place, other, constant):
        x = self.at(self.integers, place)
        need(x.array.size)
        y = self.at(self.integers, other) if other is not None else Value(
            np.int32(constant), np.int32(constant))
        need(y.array.size and (x.array.size == 1 or y.array.size == 1
                               or x.array.shape == y.array.shape))
        if op in ("floor_div", "mod"):
            need((y.array > 0).all())
        named = {"sub": "subtract", "mul": "multiply", "floor_div": "floor_divide"}
        return self.make(getattr(np, named.get(op, op))(x.array, y.array),
                         getattr(self.mb, op)(x=x.var, y=y.var), x, y)

    def do_scale(self, place, by, rounding):
        x = self.at(self.integers, place)
        need(x.array.size)
        scaled = self.mb.mul(x=self.mb.cast(x=x.var, dtype="fp32"), y=np.float32(by))
        rounded = getattr(self.mb, rounding)(x=scaled)
        return self.make(getattr(np, rounding)(x.array * by).astype(np.int32),
                         self.mb.cast(x=rounded, dtype="int32"), x)

    def do_total(self, place, op):
        v = self.vector(place)
        return self.make(getattr(np, op)(v.array), getattr(self.mb, "reduce_" + op)(
            x=v.var, axes=[0], keep_dims=False), v)

    def do_choose(self, place, limit, yes, no):
        x, a = self.number(place), self.number(yes)
        condition = self.mb.greater(x=x.var, y=np.int32(limit))
        return self.make(a.array if x.array > limit else np.int32(no),
                         self.mb.select(cond=condition, a=a.var, b=np.int32(no)), x, a)

    def do_range(self, start, place, step):
        end = self.number(place)
        return self.make(np.arange(start, end.array, step, dtype=np.int32),
                         self.mb.range_1d(start=np.int32(start), end=end.var,
                                          step=np.int32(step)), sizes=[end])

    # Arrays.
    def do_reshape(self, place, by, last):
        x, k = self.array(place), self.number(by)
        need(k.array > 0 and x.array.size % k.array == 0)
        shape = [int(k.array), -1] if last else [-1, int(k.array)]
        return self.make(x.array.reshape(shape), self.mb.reshape(
            x=x.var, shape=self.list(x, 0 if last else 1, k, [-1, -1])), x, sizes=[k])

    def do_tile(self, place, axis, by):
        x, k = self.array(place), self.number(by)
        axis = self.axis(x, axis)
        need(1 <= k.array <= 4)
        reps = [1] * x.array.ndim
        reps[axis] = int(k.array)
        return self.make(np.tile(x.array, reps), self.mb.tile(
            x=x.var, reps=self.list(x, axis, k, [1] * x.array.ndim)), x, sizes=[k])

    def do_cut(self, place, axis, begin, end, stride):
        x = self.array(place)
        axis, rank = self.axis(x, axis), x.array.ndim
        bounds, lists, sizes = [None, None], [[0] * rank, [0] * rank], []
        masks = [[True] * rank, [True] * rank]
        for side, which in enumerate((begin, end)):
            if which is None:
                continue
            k = self.number(which)
            need(k.array >= 0)
            sizes.append(k)
            bounds[side] = int(k.array)
            masks[side][axis] = False
            lists[side] = self.list(x, axis, k, lists[side])
        where = [slice(None)] * rank
        where[axis] = slice(bounds[0], bounds[1], stride)
        strides = [1] * rank
        strides[axis] = stride
        return self.make(x.array[tuple(where)], self.mb.slice_by_index(
            x=x.var, begin=lists[0], end=lists[1], stride=strides, begin_mask=masks[0],
            end_mask=masks[1]), x, sizes=sizes)

    def do_window(self, place, axis, begin, count, stride):
        """As many elements wherever it begins."""
        x, k = self.array(place), self.number(begin)
        axis, rank = self.axis(x, axis), x.array.ndim
        first = int(k.array)
        need(0 <= first and first + count <= x.array.shape[axis])
        where = [slice(None)] * rank
        where[axis] = slice(first, first + count, stride)
        strides, masks = [1] * rank, [True] * rank
        strides[axis], masks[axis] = stride, False
        end = Value(None, self.mb.add(x=k.var, y=np.int32(count)))
        return self.make(x.array[tuple(where)], self.mb.slice_by_index(
            x=x.var, begin=self.list(x, axis, k, [0] * rank),
            end=self.list(x, axis, end, [0] * rank), stride=strides, begin_mask=masks,
            end_mask=masks), x, values=[k])

    def do_row(self, place, axis, index):
        x, k = self.array(place), self.number(index)
        axis, rank = self.axis(x, axis), x.array.ndim
        need(rank > 1 and -x.array.shape[axis] <= k.array < x.array.shape[axis])
        squeezed = [at == axis for at in range(rank)]
        masks = [at != axis for at in range(rank)]
        return self.make(np.take(x.array, int(k.array), axis), self.mb.slice_by_index(
            x=x.var, begin=self.list(x, axis, k, [0] * rank), end=[0] * rank,
            begin_mask=masks, end_mask=masks, squeeze_mask=squeezed), x, values=[k])

    def do_block(self, place, axis, begin, count):
        x, k, size = self.array(place), self.number(begin), self.number(count)
        axis, rank = self.axis(x, axis), x.array.ndim
        first, last = int(k.array), int(k.array + size.array)
        need(0 <= first < last <= x.array.shape[axis])
        where = [slice(None)] * rank
        where[axis] = slice(first, last)
        return self.make(x.array[tuple(where)], self.mb.slice_by_size(
            x=x.var, begin=self.list(x, axis, k, [0] * rank),
            size=self.list(x, axis, size, [-1] * rank)), x, values=[k], sizes=[k, size])

    def do_fill(self, place):
        v = self.vector(place)
        need(isinstance(v.var.shape[0], (int, np.integer)))  # A known rank.
        need(v.array.size <= 3 and (v.array >= 0).all() and v.array.prod() <= MOST)
        return self.make(np.full(v.array, 0.5), self.mb.fill(
            shape=v.var, value=np.float32(0.5)), sizes=[v])

    def do_take(self, place, axis, which):
        x, v = self.array(place), self.vector(which)
        axis = self.axis(x, axis)
        need((v.array >= 0).all() and (v.array < x.array.shape[axis]).all())
        return self.make(np.take(x.array, v.array, axis),
                         self.mb.gather(x=x.var, indices=v.var, axis=axis), x, v)

    def do_nonzero(self, place, limit, gathered):
        x = self.array(place)
        need(x.array.ndim)
        places = self.mb.non_zero(x=self.mb.greater(x=x.var, y=np.float32(limit)))
        # Numbers and shape are of what decides the numbers of x.
        decided = Value(x.array, None, x.values | {"x"}, x.shape)
        if gathered:
            return self.make(x.array[x.array > limit], self.mb.gather_nd(
                x=x.var, indices=places), x, sizes=[decided])
        return self.make(np.argwhere(x.array > limit).astype(np.float32),
                         self.mb.cast(x=places, dtype="fp32"), x, sizes=[decided])

    def do_pad(self, place, axis, count):
        x, k = self.array(place), self.number(count)
        axis = self.axis(x, axis)
        need(0 <= k.array <= 5)
        widths = [(0, 0)] * x.array.ndim
        widths[axis] = (0, int(k.array))
        return self.make(np.pad(x.array, widths), self.mb.pad(
            x=x.var, pad=self.list(x, 2 * axis + 1, k, [0] * 2 * x.array.ndim),
            mode="constant", constant_val=np.float32(0)), x, sizes=[k])

    def do_onehot(self, which, count):
        v, k = self.vector(which), self.number(count)
        need(0 < k.array and (v.array >= 0).all() and (v.array < k.array).all())
        return self.make(np.eye(int(k.array), dtype=np.float32)[v.array], self.mb.one_hot(
            indices=v.var, one_hot_vector_size=k.var, on_value=np.float32(1),
            off_value=np.float32(0)), v, sizes=[k])

    def do_concat(self, first, second, axis):
        x, y = self.array(first, empty=True), self.array(second, empty=True)
        axis = self.axis(x, axis)
        need(x.array.ndim == y.array.ndim and x.array.size + y.array.size)
        need(all(a == b for at, (a, b) in enumerate(zip(x.array.shape, y.array.shape))
                 if at != axis))
        return self.make(np.concatenate([x.array, y.array], axis),
                         self.mb.concat(values=[x.var, y.var], axis=axis), x, y)

    def do_unary(self, op, place):
        x = self.array(place)
        need(op != "square" or np.abs(x.array).max() < 100)
        by = {"abs": np.abs, "square": np.square, "relu": lambda v: np.maximum(v, 0)}[op]
        return self.make(by(x.array), getattr(self.mb, op)(x=x.var), x)

    def do_sum(self, place, axis):
        x = self.array(place)
        axis = self.axis(x, axis)
        return self.make(x.array.sum(axis, keepdims=True),
                         self.mb.reduce_sum(x=x.var, axes=[axis], keep_dims=True), x)

    def do_number(self, place, by):
        """An array times a number."""
        x, k = self.array(place), self.number(by)
        return self.make(x.array * np.float32(k.array), self.mb.mul(
            x=x.var, y=self.mb.cast(x=k.var, dtype="fp32")), x, k)


def results(machine):
    """The last arrays with elements, by name."""
    arrays = [value for value in machine.arrays[1:] if value.array.size]
    return {f"y{index}": value for index, value in enumerate(arrays[-3:])}


def inputs_of(program):
    return (np.array(program["x"], np.float32), np.array([program["n"]], np.int32))


def build(program, isConstant=False):
    """The machine after the run, and the function that it built."""
    from coremltools.converters.mil import Builder as mb
    from coremltools.converters.mil.mil import Function, get_new_symbol, types
    import coremltools as ct
    x, n = inputs_of(program)
    extents = [extent if axis in program["fixed"] else get_new_symbol()
               for axis, extent in enumerate(x.shape)]
    specs = {"x": mb.TensorSpec(shape=extents),
             "n": mb.TensorSpec(shape=(1,), dtype=types.int32),
             "z": mb.TensorSpec(shape=(2,))}
    left_out = set()
    while True:
        with Function(specs, ct.target.iOS17) as function:
            variables = {name: mb.const(val=array) if isConstant else function.inputs[name]
                         for name, array in (("x", x), ("n", n))}
            machine = Machine(Value(x, variables["x"]),
                              Value(n, variables["n"], frozenset("n")))
            refused = machine.run(program["body"], left_out)
            if refused is not None:  # It may have left a part behind.
                left_out.add(refused)
                continue
            outputs = [mb.identity(x=value.var, name=name)
                       for name, value in results(machine).items()]
            # An input that is never fixed.
            outputs.append(mb.add(x=function.inputs["z"], y=np.float32(1), name="last"))
            function.set_outputs(outputs)
        return machine, function


def write(program, folder):
    import coremltools as ct
    from coremltools.converters.mil.mil import Program
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine, function = build(program)
        model = Program()
        model.add_function("main", function)
        x, n = inputs_of(program)
        kinds = [ct.TensorType(name="x", shape=[
            extent if axis in program["fixed"] else ct.RangeDim(1, 64, default=7)
            for axis, extent in enumerate(x.shape)])]
        package = ct.convert(model, convert_to="mlprogram", inputs=kinds + [
            ct.TensorType(name="n", shape=(1,)), ct.TensorType(name="z", shape=(2,))],
            minimum_deployment_target=ct.target.iOS17,
            compute_precision=ct.precision.FLOAT32, skip_model_load=True)
    path = folder / "m.mlpackage"
    package.save(str(path))
    return path, {"x": x, "n": n, "z": np.float32([1, 2])}, sorted(machine.deciding)


def reference(program, path, inputs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine, _ = build(program)
        inferred, _ = build(program, isConstant=True)
    right = {name: value.array for name, value in results(machine).items()}
    for name, value in results(inferred).items():
        found = value.var.val
        if found is not None and name in right and right[name].shape == value.array.shape:
            assert np.allclose(found, value.array, atol=1e-5), (name, found, value.array)
    return {**right, "last": inputs["z"] + 1}


def loads(path):
    try:
        _control_mil.loads(path)
    except TypeError as error:
        # What coremltools gives numpy 2 as `keepdims` of a reduction of constants.
        if "numpy.bool" not in str(error):
            raise


def flags(program):
    """What anec needs to know of the inputs besides what is fixed."""
    shape = "x".join(str(extent) for extent in inputs_of(program)[0].shape)
    return [f"--shape=x={shape}"]
