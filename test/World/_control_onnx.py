"""Random control flow of ONNX. A program is a tree of statements: tuples of a kind, and
of what it reads and of inner lists of statements. Every value is fp32 of the shape [3],
so that statements fit in any place."""
import copy
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
UNARY = ["Neg", "Abs", "Relu", "Tanh", "Sigmoid"]
BINARY = ["Add", "Sub", "Mul", "Max", "Min"]


class Draw:
    def __init__(self, seed):
        self.random = np.random.default_rng(zlib.crc32(repr(("control", seed)).encode()))

    def int(self, low, high):
        return int(self.random.integers(low, high + 1))

    def pick(self, items):
        return items[self.int(0, len(items) - 1)]

    def statements(self, depth, most):
        return [self.statement(depth) for _ in range(self.int(1, most))]

    def place(self):
        """A value: how many before the last one."""
        return self.int(0, 5)

    def statement(self, depth):
        kinds = ["unary", "binary", "binary", "constant"]
        if depth:
            kinds += ["if", "loop", "loop", "while", "scan", "sequence"]
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
            return [kind, self.pick(["count", "known"]), self.int(0, 4), self.place(),
                    self.pick([False, True]), self.statements(depth - 1, 3)]
        if kind == "while":
            return [kind, self.int(1, 4), self.place(), self.statements(depth - 1, 2)]
        if kind == "scan":
            return [kind, self.int(0, 1), self.place(), self.place(),
                    self.statements(depth - 1, 2)]
        return [kind, self.int(0, 2), [self.place() for _ in range(self.int(1, 3))],
                self.pick(["at", "stack"]), self.statements(depth - 1, 2)]


def draw(seed):
    drawn = Draw(seed)
    return {"body": drawn.statements(3, 5), "flag": bool(drawn.int(0, 1)),
            "count": drawn.int(1, 3),
            "x": [round(float(v), 3) for v in drawn.random.standard_normal(3)]}


def smaller(program):
    """Programs with a statement less, or with an inner one in its place."""
    def variants(body):
        for index, statement in enumerate(body):
            yield body[:index] + body[index + 1:]
            for place, part in enumerate(statement):
                if not (isinstance(part, list) and part and isinstance(part[0], list)):
                    continue
                yield body[:index] + part + body[index + 1:]
                for inner in variants(part):
                    if inner:
                        changed = list(statement)
                        changed[place] = inner
                        yield body[:index] + [changed] + body[index + 1:]
    for body in variants(program["body"]):
        if body:
            yield {**copy.deepcopy(program), "body": body}


def text(program):
    lines = []

    def show(body, indent):
        for statement in body:
            inner = [part for part in statement
                     if isinstance(part, list) and part and isinstance(part[0], list)]
            lines.append(" " * indent
                         + " ".join(str(part) for part in statement if part not in inner))
            for part in inner:
                show(part, indent + 4)
                lines.append(" " * indent + "--")
    show(program["body"], 0)
    return "\n".join(lines)


class Builder:
    """The nodes of a graph, and the values that statements in it can read."""

    def __init__(self, writer, values):
        self.writer, self.values, self.nodes = writer, list(values), []

    def node(self, op, *inputs, **attributes):
        name = self.writer.name()
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def nodes_of(self, op, count, *inputs, **attributes):
        names = [self.writer.name() for _ in range(count)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names

    def constant(self, array):
        return self.node("Constant", value=numpy_helper.from_array(np.asarray(array)))

    def value(self, place):
        return self.values[-1 - place % len(self.values)]

    def add(self, body):
        for statement in body:
            self.values.append(getattr(self, "add_" + statement[0])(*statement[1:]))
        return self.values[-1]

    def add_unary(self, op, x):
        return self.node(op, self.value(x))

    def add_binary(self, op, x, y):
        return self.node(op, self.value(x), self.value(y))

    def add_constant(self, numbers):
        return self.constant(np.array(numbers, np.float32))

    def graph(self, body, inputs, outputs):
        """A graph of `body`; `outputs` gives (name, type, shape) for its last value."""
        inner = Builder(self.writer, self.values)
        infos = [helper.make_tensor_value_info(*info) for info in inputs]
        inner.values += [info[0] for info in inputs if info[1:] == (FLOAT, [3])]
        results = outputs(inner, inner.node("Identity", inner.add(body)))
        return helper.make_graph(
            inner.nodes, "g", infos,
            [helper.make_tensor_value_info(*info) for info in results])

    def add_if(self, kind, x, yes, no):
        if kind == "flag":
            condition = "flag"
        elif kind == "sum":
            total = self.node("ReduceSum", self.value(x), keepdims=0)
            condition = self.node("Greater", total, self.constant(np.float32(0)))
        else:
            condition = self.constant(np.array(kind == "true"))
        branches = [self.graph(body, [], lambda _, last: [(last, FLOAT, [3])])
                    for body in (yes, no)]
        return self.node("If", condition, then_branch=branches[0], else_branch=branches[1])

    def loop(self, most, condition, x, body, goes_on, collects):
        names = [self.writer.name() for _ in range(3)]
        inputs = [(names[0], INT, []), (names[1], BOOL, []), (names[2], FLOAT, [3])]

        def outputs(inner, last):
            results = [(goes_on(inner, *names), BOOL, []), (last, FLOAT, [3])]
            if collects:
                results.append((inner.node("Identity", last), FLOAT, [3]))
            return results
        graph = self.graph(body, inputs, outputs)
        return self.nodes_of("Loop", 1 + collects, most, condition, x, body=graph)

    def add_loop(self, kind, turns, x, collects, body):
        most = "count" if kind == "count" else self.constant(np.int64(turns))
        collects = collects and (kind == "count" or turns > 0)
        found = self.loop(most, "", self.value(x), body,
                          lambda inner, turn, goes_on, v: inner.node("Identity", goes_on),
                          collects)
        if not collects:
            return found[0]
        total = self.node("ReduceSum", found[1], self.constant(np.array([0])), keepdims=0)
        return self.node("Add", found[0], total)

    def add_while(self, turns, x, body):
        """The body ends it, by its turn or by its values."""
        def goes_on(inner, turn, goes_on, v):
            small = inner.node("Less", turn, inner.constant(np.int64(turns)))
            total = inner.node("ReduceSum", inner.node("Abs", v), keepdims=0)
            return inner.node("And", small, inner.node("Less", total,
                                                       inner.constant(np.float32(20))))
        return self.loop("", self.constant(np.array(True)), self.value(x), body, goes_on,
                         False)[0]

    def add_scan(self, backwards, state, x, body):
        rows = self.node("Unsqueeze", self.value(x), self.constant(np.array([0])))
        rows = self.node("Concat", rows, rows, axis=0)
        names = [self.writer.name() for _ in range(2)]
        graph = self.graph(body, [(name, FLOAT, [3]) for name in names],
                           lambda inner, last: [(last, FLOAT, [3]),
                                                (inner.node("Neg", last), FLOAT, [3])])
        final, all = self.nodes_of("Scan", 2, self.value(state), rows, body=graph,
                                   num_scan_inputs=1, scan_input_directions=[backwards])
        total = self.node("ReduceMax", all, axes=[0], keepdims=0)
        return self.node("Add", final, total)

    def add_sequence(self, place, parts, kind, body):
        sequence = self.node("SequenceConstruct", *map(self.value, parts))
        if kind == "map":
            name = self.writer.name()
            graph = self.graph(body, [(name, FLOAT, [3])],
                               lambda _, last: [(last, FLOAT, [3])])
            sequence = self.node("SequenceMap", sequence, body=graph)
        if kind == "at":
            place = self.constant(np.int64(place % len(parts)))
            return self.node("SequenceAt", sequence, place)
        stacked = self.node("ConcatFromSequence", sequence, axis=0, new_axis=1)
        return self.node("ReduceSum", stacked, self.constant(np.array([0])), keepdims=0)


class Writer:
    def __init__(self):
        self.count = 0

    def name(self):
        self.count += 1
        return f"v{self.count}"


def write(program, folder):
    """(path, inputs, those that decide branches and turns; none where values do too)"""
    builder = Builder(Writer(), ["x"])
    last = builder.add(program["body"])
    builder.nodes.append(helper.make_node("Identity", [last], ["y"]))
    inputs = [("x", FLOAT, [3]), ("flag", BOOL, []), ("count", INT, [])]
    graph = helper.make_graph(
        builder.nodes, "g", [helper.make_tensor_value_info(*info) for info in inputs],
        [helper.make_tensor_value_info("y", FLOAT, [3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                              ir_version=8)
    onnx.checker.check_model(model)
    path = folder / "m.onnx"
    onnx.save(model, str(path))
    arrays = {"x": np.array(program["x"], np.float32), "flag": np.array(program["flag"]),
              "count": np.array(program["count"], np.int64)}
    return path, arrays, [] if reads_values(program["body"]) else ["flag", "count"]


def reads_values(body):
    """Whether values decide something, and not only the flag and the count."""
    return any(statement[0] == "while" or statement[:2] == ["if", "sum"]
               or any(reads_values(part) for part in statement
                      if isinstance(part, list) and part and isinstance(part[0], list))
               for statement in body)


def reference(program, path, inputs):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    # Its rewrites lose values of branches that it takes.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options,
                                           providers=["CPUExecutionProvider"])
    return {"y": session.run(["y"], inputs)[0]}
