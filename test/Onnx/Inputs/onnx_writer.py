"""Models written as ONNX: a graph takes nodes, and gives bytes."""
import numpy

import onnx_messages


def attribute(name, value):
    """An attribute, of the type of its value."""
    if isinstance(value, (bool, int, numpy.integer)):
        return {"name": name, "i": int(value), "type": 2}
    if isinstance(value, float):
        return {"name": name, "f": value, "type": 1}
    if isinstance(value, str):
        return {"name": name, "s": value.encode(), "type": 3}
    if isinstance(value, numpy.ndarray):
        return {"name": name, "t": onnx_messages.tensor(value), "type": 4}
    if isinstance(value, Graph):
        return {"name": name, "g": value.message(), "type": 5}
    if all(isinstance(item, (int, numpy.integer)) for item in value):
        return {"name": name, "ints": list(value), "type": 7}
    if all(isinstance(item, str) for item in value):
        return {"name": name, "strings": [s.encode() for s in value], "type": 8}
    return {"name": name, "floats": list(value), "type": 6}


def value_info(name, type, dims):
    """A value's name and type; a dim that is text is a symbol, None unknown."""
    def dim(size):
        if size is None:
            return {}
        return {"param": size} if isinstance(size, str) else {"value": size}
    tensor = {"elem_type": onnx_messages.CODES[numpy.dtype(type)]}
    if dims is not None:
        tensor["shape"] = {"dim": [dim(size) for size in dims]}
    return {"name": name, "type": {"tensor": tensor}}


class Graph:
    """A graph: `graph.op("Relu", x)` adds a node and gives its output's name."""

    def __init__(self, name="graph", prefix=""):
        self.name, self.prefix = name, prefix
        self.nodes, self.initializers = [], []
        self.inputs, self.outputs = [], []
        self.count = 0

    def input(self, name, type, dims):
        self.inputs.append(value_info(name, type, dims))
        return name

    def output(self, name, type, dims=None):
        self.outputs.append(value_info(name, type, dims))

    def constant(self, array, name=None):
        name = name or f"{self.prefix}c{len(self.initializers)}"
        self.initializers.append(onnx_messages.tensor(array, name))
        return name

    def op(self, op, *inputs, outputs=1, name=None, domain="", **attributes):
        """Adds a node; gives its output's name, or a list where there are more.
        An input may be an array, which becomes an initializer; None is absent."""
        inputs = [self.constant(i) if isinstance(i, numpy.ndarray) else i or ""
                  for i in inputs]
        if isinstance(outputs, int):
            outputs = [f"{self.prefix}t{self.count + i}" for i in range(outputs)]
        self.count += len(outputs)
        node = {"op_type": op, "input": inputs, "output": outputs,
                "name": name or f"{op}_{len(self.nodes)}",
                "attribute": [attribute(*pair) for pair in attributes.items()
                              if pair[1] is not None]}
        if domain:
            node["domain"] = domain
        self.nodes.append(node)
        return outputs[0] if len(outputs) == 1 else outputs

    def message(self):
        return {"name": self.name, "node": self.nodes,
                "initializer": self.initializers, "input": self.inputs,
                "output": self.outputs}

    def model(self, opset=13, functions=(), domains=()):
        """The bytes of a model; domains are pairs of a name and a version."""
        opsets = [{"domain": "", "version": opset}]
        opsets += [{"domain": name, "version": version}
                   for name, version in domains]
        model = {"ir_version": 8, "producer_name": "onnx_writer",
                 "graph": self.message(), "opset_import": opsets,
                 "functions": list(functions)}
        return onnx_messages.write("Model", model)

    def save(self, path, opset=13, **more):
        with open(path, "wb") as file:
            file.write(self.model(opset, **more))
