"""Random control flow of MIL, built by coremltools: branches and loops that the flag, the
count and values decide, in each other. A program is a tree of statements as in
_control_onnx; what is right is computed by PyTorch, which runs the tree."""
import logging
import warnings

import numpy as np

import _control_onnx
from _control_onnx import smaller, text  # noqa: F401 (this kind's, too)

UNARY = ["abs", "relu", "tanh", "sigmoid", "square"]
BINARY = ["add", "sub", "mul", "maximum", "minimum"]


class Draw(_control_onnx.Draw):
    def statement(self, depth):
        kinds = ["unary", "binary", "binary", "constant"]
        if depth:
            kinds += ["if", "if", "loop", "loop", "while", "pair"]
        kind = self.pick(kinds)
        if kind == "unary":
            return [kind, self.pick(UNARY), self.place()]
        if kind == "binary":
            return [kind, self.pick(BINARY), self.place(), self.place()]
        if kind == "constant":
            return [kind, [round(float(x), 3) for x in self.random.standard_normal(3)]]
        if kind == "if":
            return [kind, self.pick(["flag", "sum", "true", "false"]), self.place(),
                    self.statements(depth - 1, 3), self.statements(depth - 1, 3)]
        if kind == "loop":
            return [kind, self.pick(["count", "known", "array"]), self.int(0, 4),
                    self.place(), self.statements(depth - 1, 3)]
        if kind == "while":
            return [kind, self.int(1, 4), self.place(), self.statements(depth - 1, 2)]
        # Two values that change places, and one that stays as it is.
        return [kind, self.place(), self.place(), self.place(), self.statements(depth - 1, 2)]


def draw(seed):
    drawn = Draw(("mil", seed))
    return {"body": drawn.statements(3, 5), "flag": bool(drawn.int(0, 1)),
            "count": drawn.int(0, 3),
            "x": [round(float(v), 3) for v in drawn.random.standard_normal(3)]}


class Tree:
    """What a tree computes, by the operators of a subclass."""

    def run(self, body, values):
        values = list(values)
        for statement in body:
            values.append(getattr(self, "do_" + statement[0])(values, *statement[1:]))
        return values[-1]

    def at(self, values, place):
        return values[-1 - place % len(values)]

    def do_unary(self, values, op, x):
        return self.unary(op, self.at(values, x))

    def do_binary(self, values, op, x, y):
        return self.binary(op, self.at(values, x), self.at(values, y))

    def do_constant(self, values, numbers):
        return self.constant(np.array(numbers, np.float32))

    def do_if(self, values, kind, x, yes, no):
        return self.choose(self.condition(kind, self.at(values, x)),
                           lambda: self.run(yes, values), lambda: self.run(no, values))

    def do_loop(self, values, kind, turns, x, body):
        return self.count(kind, turns, lambda v: self.run(body, values + [v]),
                          self.at(values, x))

    def do_while(self, values, turns, x, body):
        return self.until(turns, lambda v: self.run(body, values + [v]), self.at(values, x))

    def do_pair(self, values, x, y, z, body):
        a, b = self.swap(lambda a, b, c: (b, self.run(body, values + [a, c])),
                         [self.at(values, place) for place in (x, y, z)])
        return self.binary("add", a, b)


class Mil(Tree):
    def __init__(self, flag, count, x):
        self.flag, self.most = flag, count
        self.zero = self.mb.sub(x=x, y=x)

    @property
    def mb(self):
        from coremltools.converters.mil import Builder
        return Builder

    def own(self, *values):
        """Values with names of their own: coremltools names inputs of blocks after them,
        and those of loops in each other must differ."""
        return tuple(self.mb.identity(x=value) for value in values)

    def unary(self, op, x):
        return getattr(self.mb, op)(x=x)

    def binary(self, op, x, y):
        return getattr(self.mb, op)(x=x, y=y)

    def constant(self, array):
        # coremltools takes no constant as what a turn gives.
        return self.mb.add(x=self.zero, y=array)

    def condition(self, kind, x):
        if kind == "flag":
            return self.flag
        if kind == "sum":
            return self.mb.greater(x=self.mb.reduce_sum(x=x, axes=[0], keep_dims=False),
                                   y=np.float32(0))
        return self.mb.const(val=kind == "true")

    def choose(self, condition, yes, no):
        return self.mb.cond(pred=condition, _true_fn=yes, _false_fn=no)

    def count(self, kind, turns, turn, x):
        zero = np.int32([0]) if kind == "array" else np.int32(0)
        most = self.most if kind == "count" else np.int32(turns)
        return self.mb.while_loop(
            _cond=lambda k, v: self.mb.less(x=k, y=most),
            _body=lambda k, v: (self.mb.add(x=k, y=np.int32(1)), turn(v)),
            loop_vars=(self.mb.const(val=zero), *self.own(x)))[1]

    def until(self, turns, turn, x):
        def goes_on(k, v):
            total = self.mb.reduce_sum(x=self.mb.abs(x=v), axes=[0], keep_dims=False)
            return self.mb.logical_and(x=self.mb.less(x=k, y=np.int32(turns)),
                                       y=self.mb.less(x=total, y=np.float32(20)))
        return self.mb.while_loop(
            _cond=goes_on, _body=lambda k, v: (self.mb.add(x=k, y=np.int32(1)), turn(v)),
            loop_vars=(self.mb.const(val=np.int32(0)), *self.own(x)))[1]

    def swap(self, turn, values):
        found = self.mb.while_loop(
            _cond=lambda k, a, b, c: self.mb.greater(x=k, y=np.int32(0)),
            _body=lambda k, a, b, c: (self.mb.sub(x=k, y=np.int32(1)), *turn(a, b, c), c),
            loop_vars=self.own(self.most, *values))
        return found[1], found[2]


class Torch(Tree):
    def __init__(self, flag, count):
        self.flag, self.most = flag, count

    def unary(self, op, x):
        import torch
        return getattr(torch, op)(x)

    def binary(self, op, x, y):
        import torch
        return getattr(torch, op)(x, y)

    def constant(self, array):
        import torch
        return torch.from_numpy(array)

    def condition(self, kind, x):
        if kind == "sum":
            return bool(x.sum() > 0)
        return self.flag if kind == "flag" else kind == "true"

    def choose(self, condition, yes, no):
        return yes() if condition else no()

    def count(self, kind, turns, turn, x):
        for _ in range(self.most if kind == "count" else turns):
            x = turn(x)
        return x

    def until(self, turns, turn, x):
        for _ in range(turns):
            if not float(x.abs().sum()) < 20:
                break
            x = turn(x)
        return x

    def swap(self, turn, values):
        a, b, c = values
        for _ in range(self.most):
            a, b = turn(a, b, c)
        return a, b


def write(program, folder):
    """(path, inputs, no inputs to fix: values decide as they are)"""
    import coremltools as ct
    from coremltools.converters.mil import Builder as mb
    from coremltools.converters.mil.mil import Function, Program, types
    logging.disable(logging.CRITICAL)
    specs = {"x": mb.TensorSpec(shape=(3,)), "flag": mb.TensorSpec(shape=(1,), dtype=types.int32),
             "count": mb.TensorSpec(shape=(1,), dtype=types.int32)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Function(specs, ct.target.iOS17) as function:
            scalars = {name: mb.squeeze(x=function.inputs[name], axes=[0])
                       for name in ("flag", "count")}
            flag = mb.cast(x=scalars["flag"], dtype="bool")
            x = function.inputs["x"]
            last = Mil(flag, scalars["count"], x).run(program["body"], [x])
            function.set_outputs([mb.identity(x=last, name="y")])
        model = Program()
        model.add_function("main", function)
        package = ct.convert(model, convert_to="mlprogram",
                             minimum_deployment_target=ct.target.iOS17,
                             compute_precision=ct.precision.FLOAT32,
                             pass_pipeline=ct.PassPipeline.EMPTY, skip_model_load=True)
    path = folder / "m.mlpackage"
    package.save(str(path))
    return path, {"x": np.array(program["x"], np.float32),
                  "flag": np.array([program["flag"]], np.int32),
                  "count": np.array([program["count"]], np.int32)}, []


def reference(program, path, inputs):
    import torch
    torch.set_num_threads(1)
    tree = Torch(program["flag"], program["count"])
    return {"y": tree.run(program["body"], [torch.tensor(program["x"])]).numpy()}


def loads(path):
    """Whether coremltools takes the package, with the checks of its ops."""
    import coremltools as ct
    from coremltools.converters.mil.frontend.milproto.load import load
    spec = ct.models.utils.load_spec(str(path))
    load(spec, specification_version=spec.specificationVersion,
         file_weights_dir=str(path / "Data" / "com.apple.CoreML" / "weights"))
