"""The checks of operators of MIL: each is built with coremltools, in each operator set
that has a form of its own, and compared with what coremltools infers for constants, or
with PyTorch."""
import dataclasses
import inspect

import numpy as np

import harness
import _mil_draw
import _mil_layers  # noqa: F401 (adds cases)
from _onnx_cases import Tally, run, steps

# Not single operators: control flow, lists, states, and what makes constants; what only
# the older form of neural networks has.
OTHERS = {"_const_symbolic", "const", "cond", "while_loop", "list_gather", "list_length",
          "list_read", "list_scatter", "list_write", "make_list", "read_state", "classify", "conv_quantized"}
RANDOM = {"random_bernoulli", "random_categorical", "random_normal", "random_uniform"}


def items():
    for name in sorted(_mil_draw.CASES):
        yield harness.Item(f"mil.{name}", "values", Check(name, 2), seconds=300)
        yield harness.Item(f"mil.{name}", "values-more", Check(name, 12), sample=False,
                           seconds=900)
    yield harness.Item("mil", "all operators", check_complete)


def registry():
    from coremltools.converters.mil.mil.ops.registry import SSAOpRegistry
    return SSAOpRegistry.core_ops


def check_complete(ctx):
    """Every operator of coremltools has cases."""
    tally = Tally()
    for name in registry():
        if name not in OTHERS | RANDOM:
            tally.add(harness.RIGHT if name in _mil_draw.CASES else
                      harness.wrong("has no cases"), name)
    return steps(cases=tally)


def versions_of(name):
    """The operator sets in which the operator has another class than before."""
    import coremltools as ct
    found, last = [], None
    for version, row in sorted(registry()[name].items(), key=lambda pair: pair[0].value):
        if row is not last and version >= ct.target.iOS15:
            found.append(version)
            last = row
    return found


def sources(name):
    """The texts that the operator's cases depend on."""
    own = inspect.getmodule(_mil_draw.CASES[name])
    return [inspect.getsource(one) for one in dict.fromkeys([_mil_draw, own])]


@dataclasses.dataclass
class Check:
    name: str
    draws: int

    def __call__(self, ctx):
        import logging
        logging.disable(logging.CRITICAL)
        read, values = Tally(), Tally()
        for version in versions_of(self.name):
            for seed in range(self.draws):
                r = _mil_draw.Draw(self.name, seed)
                case = _mil_draw.CASES[self.name](r, self.name)
                if case is None:
                    continue
                about = f"{seed} for {version.name}"
                with ctx.cached("mil", self.name, about, *sources(self.name),
                                make, build, infer) as (folder, fresh):
                    if fresh:
                        make(folder, version, self.name, case)
                    if (folder / "none").exists():
                        continue
                    expected = harness.load_arrays(folder / "expected.npz")
                    run(ctx, folder / "m.mlpackage", case.inputs, expected, read, values, about)
        return steps(read=read, values=values)


def make(folder, version, name, case):
    """The package and what is right, or the file `none` where coremltools does not take
    the case in this version."""
    try:
        try:
            model = build(version, name, case)
        except ValueError:
            if not case.others:
                raise
            case = dataclasses.replace(case, arguments=case.others[0], right=case.others[1])
            model = build(version, name, case)
        expected = case.right(**case.inputs) if case.right else infer(version, name, case)
        if expected is None:
            raise ValueError("no value is inferred")
        if not isinstance(expected, (tuple, list)):
            expected = [expected]
        outputs = [output.name for output in model.get_spec().description.output]
        if len(outputs) != len(expected):
            raise ValueError(f"{len(outputs)} outputs")
        harness.save_arrays(folder / "expected.npz",
                            {key: np.asarray(value) for key, value in zip(outputs, expected)})
        model.save(str(folder / "m.mlpackage"))
    except Exception as error:
        (folder / "none").write_text(f"{type(error).__name__}: {error}")


def call(name, arguments):
    """The operator with these arguments; lists of values stay lists."""
    from coremltools.converters.mil import Builder as mb
    return getattr(mb, name)(**arguments)


def infer(version, name, case):
    """What coremltools computes where every input is a constant."""
    from coremltools.converters.mil.mil import Builder as mb, Function
    with Function({"unused": mb.TensorSpec(shape=(1,))}, version) as function:
        result = call(name, case.arguments(dict(case.inputs)))
        found = list(result) if isinstance(result, (tuple, list)) else [result]
        function.set_outputs([mb.identity(x=function.inputs["unused"])])
    values = [one.val for one in found]
    return None if any(value is None for value in values) else values


def build(version, name, case):
    """A package with the operator, whose inputs are those of the model. Booleans go in
    and out as int32, as packages have them."""
    import coremltools as ct
    from coremltools.converters.mil.mil import Builder as mb, Function, Program, types
    kinds = {"float32": types.fp32, "float16": types.fp16}
    specs = {key: mb.TensorSpec(shape=array.shape,
                                dtype=kinds.get(str(array.dtype), types.int32))
             for key, array in case.inputs.items()}
    with Function(specs, version) as function:
        own = {key: mb.cast(x=value, dtype="bool")
               if case.inputs[key].dtype == np.bool_ else value
               for key, value in function.inputs.items()}
        result = call(name, case.arguments(own))
        result = case.then(result) if case.then else result
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        plain = ("fp32", "fp16", "int32")
        function.set_outputs([
            mb.identity(x=one) if types.builtin_to_string(one.dtype) in plain
            else mb.cast(x=one, dtype="int32") for one in results])
    program = Program()
    program.add_function("main", function)
    return ct.convert(program, convert_to="mlprogram", minimum_deployment_target=version,
                      compute_precision=ct.precision.FLOAT32,
                      pass_pipeline=ct.PassPipeline.EMPTY, skip_model_load=True)
