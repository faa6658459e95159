"""The cases of ONNX's own test data: models, inputs, and expected outputs."""
import pathlib
import re

import numpy

import onnx_messages

DATA = pathlib.Path("/usr/share/libonnx-testdata/data")
FOLDERS = ("node", "pytorch-converted", "pytorch-operator", "simple")

# What a case is about that has no counterpart in MIL, by ops.
KINDS = [
    ("training", "Gradient|Momentum|Adam|Adagrad"),
    ("control flow", "Loop|Scan|If"),
    ("sequences", "Sequence.*|.*Sequence|Optional.*"),
    ("strings", "StringNormalizer"),
    ("random", "Random.*|Bernoulli|Multinomial"),
]
NOT_SEQUENCES = ("ReverseSequence",)


class Case:
    def __init__(self, folder):
        self.folder = folder
        self.name = f"{folder.parent.name}/{folder.name}"
        self.model = onnx_messages.read_model(folder / "model.onnx")
        graph = self.model["graph"]
        known = {tensor.get("name") for tensor in graph["initializer"]}
        self.inputs = [value for value in graph["input"]
                       if value["name"] not in known]
        self.outputs = graph["output"]
        self.ops = {node["op_type"] for node in graph["node"]}

    def kind(self):
        """`tensors`, or what the case is about that MIL lacks."""
        for kind, pattern in KINDS:
            if any(re.fullmatch(pattern, op) and op not in NOT_SEQUENCES
                   for op in self.ops):
                return kind
        graph = self.model["graph"]
        for value in graph["input"] + graph["output"]:
            if "tensor" not in value["type"]:
                return "sequences"
            if value["type"]["tensor"]["elem_type"] == 8:
                return "strings"
        return "tensors"

    def data(self):
        """Pairs of inputs and outputs, by name. A name in a file, where it is
        one of the graph's, takes precedence over the number of the file."""
        for folder in sorted(self.folder.glob("test_data_set_*")):
            yield (read_values(folder, "input", self.inputs),
                   read_values(folder, "output", self.outputs))


def read_values(folder, kind, declared):
    """The tensors among the values that a graph declares."""
    names = [value["name"] for value in declared]
    values = {}
    for position, value in enumerate(declared):
        path = folder / f"{kind}_{position}.pb"
        if path.exists() and "tensor" in value["type"]:
            written, array = onnx_messages.read_tensor(path)
            values[written if written in names else value["name"]] = array
    return values


def cases():
    return [Case(folder) for group in FOLDERS
            for folder in sorted((DATA / group).iterdir())]


def difference(got, expected):
    """None where ONNX takes the array for the expected one, or what differs."""
    if got.shape != expected.shape:
        return f"shape {list(got.shape)}, not {list(expected.shape)}"
    if expected.dtype.kind == "f":
        good = numpy.isclose(got.astype(numpy.float64),
                             expected.astype(numpy.float64), rtol=1e-3,
                             atol=1e-7, equal_nan=True)
    else:
        good = got.astype(expected.dtype) == expected
    if numpy.all(good):
        return None
    index = tuple(int(i) for i in numpy.argwhere(~numpy.atleast_1d(good))[0])
    index = index if expected.ndim else ()
    return (f"{numpy.count_nonzero(~good)} of {expected.size} differ, at "
            f"{list(index)} {got[index]}, not {expected[index]}")
