"""Checks Core ML packages against Apple's definitions: the message against the .proto
files of `format`, and each op against `op-definitions.txt`.

    definitions.py PACKAGE.mlpackage...    prints what is wrong, and how much was checked
"""
import pathlib
import re
import sys

import proto

HERE = pathlib.Path(__file__).parent
OPSETS = {"CoreML5": 15, "CoreML6": 16, "CoreML7": 17, "CoreML8": 18, "CoreML9": 26}
DTYPES = {"FLOAT16": "fp16", "FLOAT32": "fp32", "FLOAT64": "fp64", "BFLOAT16": "bf16"}
# Of the dialect of Core ML, which registers no inputs for the back end.
EXTRA = {"write_state": "ios18 input* State; data* T{fp16,fp32,int8,int16,int32,uint8,uint16,bool}"}
# Lists, tuples, blocks and states, whose types are not those of tensors.
STRUCTURED = {"List", "Tuple", "PyFunction", "State", "Internal", "ListOrTensorOrDict"}


class Input:
    def __init__(self, text):
        name, kind = text.split(None, 1)
        self.required, self.constant = "*" in name, ":c" in name
        self.name = name.split(":")[0].rstrip("*")
        self.family, types = re.fullmatch(r"(\w*)(?:\{([^}]*)\})?", kind).groups()
        self.types = types.split(",") if types else None


def definitions():
    """The inputs of each op by opset, with the oldest opset first."""
    table = {}
    lines = (HERE / "op-definitions.txt").read_text().splitlines()
    for line in lines + [f"{name} {text}" for name, text in EXTRA.items()]:
        if line.startswith("#"):
            continue
        name, opset, inputs = line.split(" ", 2)
        inputs = [Input(text) for text in inputs.split("; ")]
        table.setdefault(name, []).append((int(opset[3:]), {i.name: i for i in inputs}))
    return {name: sorted(forms, key=lambda form: form[0]) for name, forms in table.items()}


def element(value_type):
    """The element type of a tensor or of the tensor in a state; None for others."""
    if "stateType" in value_type:
        return element(value_type["stateType"]["wrappedType"])
    if "tensorType" not in value_type:
        return None
    dtype = value_type["tensorType"]["dataType"]
    return DTYPES.get(dtype, dtype.lower())


class Program:
    def __init__(self, schema, table):
        self.schema, self.table = schema, table
        self.wrong, self.ops, self.inputs = [], 0, 0

    def complain(self, text):
        self.wrong.append(f"{self.path}: {text}")

    def check(self, path, data):
        self.path = path
        try:
            model = self.schema.decode("CoreML.Specification.Model", data)
        except (proto.Malformed, UnicodeDecodeError) as error:
            return self.complain(str(error))
        if model.get("specificationVersion") not in range(6, 11):
            self.complain("no version of the specification")
        for name, function in model["mlProgram"]["functions"].items():
            blocks = function["block_specializations"]
            if set(blocks) != {function["opset"]}:
                self.complain(f"the blocks of {name} are for {sorted(blocks)}")
            types = {v["name"]: v["type"] for v in function.get("inputs", [])}
            self.opset = OPSETS[function["opset"]]
            self.block(blocks[function["opset"]], types, set())

    def block(self, block, types, constants):
        types = types | {v["name"]: v["type"] for v in block.get("inputs", [])}
        constants = set(constants)
        for op in block.get("operations", []):
            self.ops += 1
            self.operation(op, types, constants)
            for inner in op.get("blocks", []):
                self.block(inner, types, constants)
            for output in op.get("outputs", []):
                if output["name"] in types:
                    self.complain(f"{output['name']} is defined twice")
                types[output["name"]] = output["type"]
        for name in block.get("outputs", []):
            if name not in types:
                self.complain(f"the result {name} is not defined")

    def operation(self, op, types, constants):
        name = op["type"]
        label = f"{op['attributes']['name'] and op['outputs'][0]['name'] if op.get('outputs') else ''} ({name})"
        if name == "const" or name.startswith("constexpr_"):
            constants.update(output["name"] for output in op["outputs"])
        forms = [inputs for opset, inputs in self.table.get(name, []) if opset <= self.opset]
        if not forms:
            return self.complain(f"{label}: ios{self.opset} does not have the op")
        form, families = forms[-1], {}
        given = self.arguments(op, types, constants, label)
        for input_name, (kinds, is_constant) in given.items():
            self.inputs += 1
            declared = form.get(input_name)
            if declared is None:
                self.complain(f"{label}: ios{self.opset} has no input {input_name}")
                continue
            if declared.constant and not is_constant:
                self.complain(f"{label}: {input_name} must be a constant")
            if declared.types is None:
                if declared.family not in STRUCTURED:
                    self.complain(f"{label}: {declared.family} is unknown")
                continue
            for kind in kinds:
                if kind not in declared.types:
                    self.complain(f"{label}: {input_name} is {kind} in ios{self.opset}")
                if declared.family:
                    families.setdefault(declared.family, set()).add(kind)
        for family, kinds in families.items():
            if len(kinds) > 1:
                self.complain(f"{label}: {family} is {', '.join(sorted(kinds))} in ios{self.opset}")
        for declared in form.values():
            if declared.required and declared.name not in given and \
                    declared.family not in ("PyFunction", "Internal"):
                self.complain(f"{label}: {declared.name} is missing")

    def arguments(self, op, types, constants, label):
        """The element types of each argument, and whether it is a constant."""
        given = {}
        for name, argument in op.get("inputs", {}).items():
            kinds, is_constant = [], True
            for binding in argument["arguments"]:
                if "value" in binding:
                    kinds.append(element(binding["value"]["type"]))
                elif binding["name"] in types:
                    kinds.append(element(types[binding["name"]]))
                    is_constant &= binding["name"] in constants
                else:
                    self.complain(f"{label}: {binding['name']} is not defined")
            given[name] = (kinds, is_constant)
        for name, value in op.get("attributes", {}).items():
            if name != "name":
                given[name] = ([element(value["type"])], True)
        return given


def main():
    schema = proto.Schema(HERE / "format")
    program = Program(schema, definitions())
    for path in sys.argv[1:]:
        model = pathlib.Path(path) / "Data/com.apple.CoreML/model.mlmodel"
        program.check(path, model.read_bytes())
    print("\n".join(program.wrong))
    print(f"{len(sys.argv) - 1} packages, {program.ops} ops, {program.inputs} inputs, "
          f"{sum(schema.decoded.values())} fields of {len(schema.decoded)} kinds: "
          f"{len(program.wrong)} wrong")
    sys.exit(bool(program.wrong))


if __name__ == "__main__":
    main()
