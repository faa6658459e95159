"""The checks of operators of ONNX."""
import collections
import dataclasses
import pathlib
import re

import numpy as np

import harness
import _onnx_draw
import _onnx_elements  # noqa: F401 (adds makers)
import _onnx_images  # noqa: F401
import _onnx_layers  # noqa: F401
import _onnx_microsoft  # noqa: F401
import _onnx_moves  # noqa: F401
import _onnx_schemas
import _onnx_sequences  # noqa: F401
from _onnx_schemas import OWN_DOMAIN, TYPES, default_text, onnx_schemas

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMITS = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-4, np.dtype(np.float16): 4e-3}
# Operators that compute otherwise than the peer, as docs/formats/onnx.md says.
# Or that add -10000 to all scores of a row, whose last digits are lost then.
WIDER = {"microsoft.DynamicQuantizeLSTM": 0.15, "microsoft.Attention": 1e-3,
         "microsoft.QAttention": 1e-3, "microsoft.MultiHeadAttention": 1e-3}


class Tally:
    """The outcome of a step that many cases have."""

    def __init__(self):
        self.counts = collections.Counter()
        self.notes = {}

    def add(self, outcome, about):
        self.counts[outcome.kind] += 1
        self.notes.setdefault(outcome.kind, f"{about}: {outcome.note}")

    def outcome(self):
        total = sum(self.counts.values())
        for kind in ("wrong", "refused"):
            if self.counts[kind]:
                return harness.Outcome(
                    kind, f"{self.counts[kind]} of {total}, {self.notes[kind]}"[:200])
        return harness.RIGHT


def difference(got, expected, limit=None):
    """How an array differs from the peer's, or None."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        return f"shape {list(got.shape)}, not {list(expected.shape)}"
    if expected.dtype.kind != "f":
        if (got.astype(np.int64) == expected.astype(np.int64)).all():
            return None
        return f"{got.reshape(-1)[:4].tolist()}, not {expected.reshape(-1)[:4].tolist()}"
    error = harness.relative_error(got, expected)
    if error <= (limit or LIMITS[expected.dtype]) or np.allclose(got, expected, 0, 1e-6, equal_nan=True):
        return None
    place = np.argmax(np.abs(np.nan_to_num(got.astype(np.float64)).reshape(-1)
                             - np.nan_to_num(expected.astype(np.float64)).reshape(-1)))
    return (f"off by {error:.2g}: {got.reshape(-1)[place]}, "
            f"not {expected.reshape(-1)[place]}")


def run(ctx, path, inputs, expected, read, values, about, limit=None):
    """Runs a model with anec in fp32 and compares its outputs by name."""
    got, outcome = ctx.outputs(path, inputs, "--numerics=fp32")
    if outcome:
        return read.add(outcome, about)
    read.add(harness.RIGHT, about)
    for name, array in expected.items():
        if name not in got:
            return values.add(harness.wrong(f"there is no output {name}"), about)
        text = difference(got[name], array, limit)
        if text:
            return values.add(harness.wrong(text), about)
    values.add(harness.RIGHT, about)


def steps(**tallies):
    return {name: tally.outcome() for name, tally in tallies.items()
            if sum(tally.counts.values())}


# The cases of the package onnx.

# Where the expected output is a literal of four digits.
FOUR_DIGITS = ("test_averagepool_2d_ceil_last_window_starts_on_pad",)


def node_cases():
    """The cases by the operator of their only node, or that they are named after."""
    global _cases
    if _cases is None:
        from onnx.backend.test.case.node import collect_testcases
        _cases = collections.defaultdict(list)
        for case in collect_testcases(None):
            graph = case.model.graph
            ops = {node.op_type for node in graph.node if not node.domain}
            if len(ops) == 1:
                _cases[ops.pop()].append(case)
    return _cases


_cases = None


# Of these the package onnx has no node tests; of those nothing is drawn here, since they
# have graphs inside, which section `control` draws.
WITHOUT_CASES = {"ConcatFromSequence", "GlobalLpPool", "Optional", "SequenceAt",
                 "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceLength"}
WITH_GRAPHS = {"If", "Loop", "Scan", "SequenceMap"}


@dataclasses.dataclass
class CheckComplete:
    """Every operator has node tests and random models, besides those named above."""
    onnx: list
    microsoft: list

    def __call__(self, ctx):
        tally = Tally()
        for name in self.onnx:
            has = bool(node_cases()[name])
            tally.add(harness.RIGHT if has != (name in WITHOUT_CASES) else
                      harness.wrong(f"has{'' if has else ' no'} cases"), name)
            tally.add(draws(name, name not in WITH_GRAPHS), name)
        for name in self.microsoft:
            tally.add(draws(f"microsoft.{name}", True), name)
        return steps(cases=tally)


def draws(name, does):
    return harness.RIGHT if (name in _onnx_draw.MAKERS) == does else \
        harness.wrong("is" + " not" * does + " drawn")


def is_array(value):
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fiub"


def plain(value):
    """The array of a tensor; other values as they are."""
    import onnx
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


@dataclasses.dataclass
class CheckCases:
    operator: str

    def __call__(self, ctx):
        import onnx
        read, values = Tally(), Tally()
        for case in node_cases()[self.operator]:
            newest = max(entry.version for entry in case.model.opset_import)
            if newest > _onnx_draw.NEWEST:
                continue
            onnx.save(case.model, ctx.folder / "case.onnx")
            names = [value.name for value in case.model.graph.input]
            outputs = [value.name for value in case.model.graph.output]
            for given, expected in case.data_sets:
                given, expected = ([plain(value) for value in values_of]
                                   for values_of in (given, expected))
                if not all(hasattr(value, "dtype") for value in [*given, *expected]):
                    # A sequence or an optional value: the model is refused.
                    run(ctx, ctx.folder / "case.onnx", {}, {}, read, values, case.name)
                    continue
                arrays = dict(zip(names, map(np.asarray, given)))
                results = dict(zip(outputs, map(np.asarray, expected)))
                if all(map(is_array, [*arrays.values(), *results.values()])):
                    run(ctx, ctx.folder / "case.onnx", arrays, results, read, values, case.name,
                        1e-3 if case.name in FOUR_DIGITS else None)
        return steps(read=read, values=values)


# Random models.

def model_of(operator, version, case, domain=""):
    """The model with the node, and its inputs by name."""
    import onnx
    from onnx import helper, numpy_helper
    names, feeds, infos, initializers = [], {}, [], []
    for index, array in enumerate(case.inputs):
        name = "" if array is None else f"x{index}"
        names.append(name)
        if array is None:
            continue
        if index in case.fixed:
            initializers.append(numpy_helper.from_array(np.asarray(array), name))
            continue
        feeds[name] = np.asarray(array)
        infos.append(helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(feeds[name].dtype), feeds[name].shape))
    outputs = [f"y{index}" for index in range(case.outputs)]
    attributes = {name: numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
                  for name, value in case.attributes.items()}
    nodes = case.graph(names) if case.graph else [helper.make_node(
        operator, names, outputs, name="node", domain=domain, **attributes)]
    graph = helper.make_graph(nodes, "g", infos,
                              [onnx.ValueInfoProto(name=name) for name in outputs], initializers)
    opsets = [helper.make_opsetid("", version)]
    opsets += [helper.make_opsetid(domain, 1)] if domain else []
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return model, feeds


SATURATING = {"DynamicQuantizeLSTM", "MatMulIntegerToFloat", "QAttention"}


def right_outputs(model, feeds, version, case):
    """What onnxruntime computes; what the case does, where it has no kernel; or None."""
    found = peer_outputs(model, feeds, version)
    if found is None and case.right:
        found = {f"y{i}": value for i, value in enumerate(case.right(*case.inputs))}
    return found


def peer_outputs(model, feeds, version):
    """What onnxruntime computes, or None where it does not take the model."""
    import onnx
    import onnx.version_converter
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_DISABLE_ALL
    if any(node.op_type in SATURATING for node in model.graph.node):
        # By an optimization, products of 8 bits do not saturate on AVX2 without VNNI.
        options.graph_optimization_level = levels.ORT_ENABLE_EXTENDED
        options.add_session_config_entry("session.x64quantprecision", "1")
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        model = onnx.shape_inference.infer_shapes(model)
        if version < 7:  # onnxruntime promises nothing of these.
            model = onnx.version_converter.convert_version(model, 8)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(names, feeds)))
    except Exception:
        return None


@dataclasses.dataclass
class CheckRandom:
    """Models `first` to `last` of an operator, over all of its versions."""
    operator: str
    first: int
    last: int

    def __call__(self, ctx):
        import onnx
        maker = _onnx_draw.MAKERS[self.operator]
        versions = onnx_schemas()[self.operator]
        ends = sorted(versions) + [_onnx_draw.NEWEST + 1]
        read, values, constants = Tally(), Tally(), Tally()
        for seed in range(self.first, self.last):
            r = _onnx_draw.Draw(self.operator, seed)
            since = ends[seed % len(versions)]
            version = r.int(since, ends[ends.index(since) + 1] - 1)
            case = maker(r, self.operator, version)
            allowed = versions[since].attributes
            case.attributes = {name: value for name, value in case.attributes.items()
                               if name in allowed}
            model, feeds = model_of(self.operator, version, case)
            expected = right_outputs(model, feeds, version, case)
            if expected is None:
                continue
            about = f"{seed} in {version} {case.attributes}"
            path = ctx.folder / "model.onnx"
            onnx.save(model, path)
            run(ctx, path, feeds, expected, read, values, about)
            if feeds and seed % 3 == 0:
                case.fixed = tuple(range(len(case.inputs)))
                onnx.save(model_of(self.operator, version, case)[0], path)
                run(ctx, path, {}, expected, read, constants, about + " constants")
        if not read.counts:
            read.add(harness.wrong("onnxruntime computes none of the cases"), self.operator)
        return steps(read=read, values=values, constants=constants)


@dataclasses.dataclass
class CheckMicrosoft:
    """The same of an operator of onnxruntime."""
    operator: str
    first: int
    last: int

    def __call__(self, ctx):
        import onnx
        name = f"microsoft.{self.operator}"
        maker, limit = _onnx_draw.MAKERS[name], WIDER.get(name)
        read, values, constants = Tally(), Tally(), Tally()
        for seed in range(self.first, self.last):
            r = _onnx_draw.Draw(name, seed)
            case = maker(r, self.operator, 1)
            domain = "" if self.operator in OWN_DOMAIN else "com.microsoft"
            model, feeds = model_of(self.operator, 17, case, domain)
            expected = right_outputs(model, feeds, 17, case)
            if expected is None:
                continue
            expected = dict(list(expected.items())[:case.compared])
            about = f"{seed} {case.attributes}"
            path = ctx.folder / "model.onnx"
            onnx.save(model, path)
            run(ctx, path, feeds, expected, read, values, about, limit)
            if feeds and seed % 3 == 0:
                case.fixed = tuple(range(len(case.inputs)))
                onnx.save(model_of(self.operator, 17, case, domain)[0], path)
                run(ctx, path, {}, expected, read, constants, about + " constants", limit)
        if not read.counts:
            read.add(harness.wrong("onnxruntime computes none of the cases"), self.operator)
        return steps(read=read, values=values, constants=constants)


# The table of attributes.

def read_tables(folder):
    """The rows of Attributes.def, and {operator: {version: counts}} of Signatures.def."""
    rows = [(op, name, kind, int(since), int(until), default) for op, name, kind, since, until,
            default in re.findall(
                r'^ATTRIBUTE\((\w+), (\w+), (\w+), (\d+), (\d+), "(.*)"\)$',
                (folder / "Attributes.def").read_text(), re.M)]
    numbers = collections.defaultdict(dict)
    for op, since, *counts in re.findall(
            r"^SIGNATURE\((\w+), (\d+), (\w+), (\w+), (\w+), (\w+)\)$",
            (folder / "Signatures.def").read_text(), re.M):
        numbers[op][int(since)] = counts
    return rows, numbers


def compare_schema(schema, told, own, about, attributes, signatures):
    """A schema with the rows of a version of its operator."""
    has = {(name, TYPES[str(a.type).rpartition(".")[2]], default_text(a))
           for name, a in schema.attributes.items()}
    attributes.add(harness.RIGHT if has == told else harness.wrong(str(sorted(has ^ told))), about)
    limits = _onnx_schemas.limits(schema)
    signatures.add(harness.RIGHT if limits == own else
                   harness.wrong(f"{limits}, not {own}"), about)


def as_written(folder):
    """Whether the tables of a folder are what _onnx_schemas.py writes."""
    tally = Tally()
    for path, text in _onnx_schemas.files(ROOT).items():
        if path.parent == ROOT / folder:
            tally.add(harness.RIGHT if path.read_text() == text else
                      harness.wrong("_onnx_schemas.py writes another"), path.name)
    return tally


def check_schemas(ctx):
    """Attributes.def and Signatures.def say what every version of every schema says."""
    rows, numbers = read_tables(ROOT / "lib/Onnx")
    history = onnx_schemas()
    attributes, signatures = Tally(), Tally()
    for op in numbers:
        ends = sorted(history[op])
        for version in range(ends[0], _onnx_draw.NEWEST + 1):
            schema = history[op][max(since for since in ends if since <= version)]
            told = {(name, kind, default) for own, name, kind, since, until, default in rows
                    if own == op and since <= version <= (until or version)}
            own = numbers[op][max(since for since in numbers[op] if since <= version)]
            compare_schema(schema, told, own, f"{op} {version}", attributes, signatures)
        if min(numbers[op]) != ends[0]:
            signatures.add(harness.wrong(f"begins at {ends[0]}"), op)
    page = set(re.findall(r"^\| (\w+) \|", (ROOT / "docs/formats/onnx.md").read_text(), re.M))
    for op in sorted(set(history) - page):
        signatures.add(harness.wrong("it is neither read nor refused"), op)
    return steps(attributes=attributes, signatures=signatures, written=as_written("lib/Onnx"))


def check_microsoft(ctx):
    """The tables of onnxruntime's operators say what its own schemas say."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state
    rows, numbers = read_tables(ROOT / "lib/Onnx/Microsoft")
    attributes, signatures = Tally(), Tally()
    page = (ROOT / "docs/formats/onnx.md").read_text().partition("## Operators of onnxruntime")[2]
    page = set(re.findall(r"^\| (\w+) \|", page, re.M))
    for schema in state.get_all_operator_schema():
        op = schema.name
        if schema.domain != "com.microsoft" and op not in OWN_DOMAIN:
            continue
        if op not in page:
            signatures.add(harness.wrong("it is neither read nor refused"), op)
        if op in numbers:
            told = {row[1:3] + row[5:] for row in rows if row[0] == op}
            compare_schema(schema, told, numbers[op][1], op, attributes, signatures)
    return steps(attributes=attributes, signatures=signatures,
                 written=as_written("lib/Onnx/Microsoft"))
