#!/usr/bin/env python3
"""Writes Attributes.def and Signatures.def of lib/Onnx, of the schemas of the installed
package onnx, and those of lib/Onnx/Microsoft, of onnxruntime's: all attributes, and the
numbers of inputs and outputs, of each operator that has a row.

  _onnx_schemas.py ROOT            writes the files
  _onnx_schemas.py ROOT --check    compares them"""
import collections
import pathlib
import re
import sys

import numpy as np

# The newest version of the operator set that anec knows.
NEWEST = 28
# What onnxruntime has in ONNX's own domain.
OWN_DOMAIN = ("SimplifiedLayerNormalization",)
TYPES = {"FLOAT": "Float", "INT": "Int", "STRING": "String", "TENSOR": "Tensor",
         "GRAPH": "Graph", "FLOATS": "Floats", "INTS": "Ints", "STRINGS": "Strings",
         "SPARSE_TENSOR": "SparseTensor", "TYPE_PROTO": "TypeProto"}

HEAD = """//===- {name} - {what} {dashes}*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
{about}//
// Made by test/World/_onnx_schemas.py; do not edit.
//
//===----------------------------------------------------------------------===//

#ifndef {macro}
#error "define {macro}({parameters})"
#endif

"""
ATTRIBUTES = """// ATTRIBUTE(operator, name, type, since, until, default): in the versions of the
// operator set from `since` to `until`, which is 0 for the newest. The default
// is empty if there is none.
"""
SIGNATURES = """// SIGNATURE(operator, since, least inputs, most inputs, least outputs, most
// outputs): from the version `since` of the operator set on. `many` is no limit.
"""


def head(name, what, about, macro, parameters):
    dashes = "-" * (80 - len(f"//===- {name} - {what} *- C++ -*-===//"))
    return HEAD.format(name=name, what=what, dashes=dashes, about=about, macro=macro,
                       parameters=parameters)


def default_text(attribute):
    """The default of an attribute as the table spells it."""
    import onnx.helper
    default = getattr(attribute, "default_value", None)
    if default is None:  # onnxruntime has the bytes of the message
        default = onnx.AttributeProto()
        default.ParseFromString(attribute._default_value or b"")
    if not default.name:
        return ""
    value = onnx.helper.get_attribute_value(default)
    values = value if isinstance(value, list) else [value]
    return " ".join(one.decode() if isinstance(one, bytes) else
                    str(np.float32(one)) if isinstance(one, float) else str(one)
                    for one in values)


def onnx_schemas():
    """{operator: {version: schema}} of ONNX's own domain, up to the newest version."""
    import onnx.defs
    found = collections.defaultdict(dict)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= NEWEST:
            found[schema.name][schema.since_version] = schema
    return found


def microsoft_schemas():
    """The same of onnxruntime's operators, which have one version."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state
    return {schema.name: {1: schema} for schema in state.get_all_operator_schema()
            if schema.domain == "com.microsoft" or schema.name in OWN_DOMAIN}


def rows_of(folder):
    """The operators that have a row in a file of the folder."""
    names = set()
    for path in folder.glob("*.cpp"):
        for table in re.split(r"\bOpRow \w+\[\] = \{", path.read_text())[1:]:
            names.update(re.findall(r'\{(?:\.name = )?"(\w+)",', table))
    if not names:
        sys.exit(f"error: no rows of operators in {folder}")
    return sorted(names)


def limits(schema):
    counts = [schema.min_input, schema.max_input, schema.min_output, schema.max_output]
    return ["many" if count > 99999 else str(count) for count in counts]


def attribute_rows(op, versions):
    """The rows of an operator's attributes: of each, the versions that declare it alike."""
    rows = []
    for since, schema in sorted(versions.items()):
        declared = {(name, TYPES[str(attribute.type).rpartition(".")[2]], default_text(attribute))
                    for name, attribute in schema.attributes.items()}
        for row in rows:
            if row["until"] == 0 and row["is"] not in declared:
                row["until"] = since - 1
        current = [row["is"] for row in rows if row["until"] == 0]
        rows += [{"is": one, "since": since, "until": 0} for one in declared
                 if one not in current]
    rows.sort(key=lambda row: (row["is"][0], row["since"]))
    return "".join('ATTRIBUTE({}, {}, {}, {}, {}, "{}")\n'.format(
        op, row["is"][0], row["is"][1], row["since"], row["until"], row["is"][2])
        for row in rows)


def signature_rows(op, versions):
    text, before = "", None
    for since, schema in sorted(versions.items()):
        if limits(schema) != before:
            text += f"SIGNATURE({op}, {since}, {', '.join(limits(schema))})\n"
        before = limits(schema)
    return text


def files(root):
    """{path: text} of all files."""
    made = {}
    own = root / "lib/Onnx"
    for folder, source, schemas in ((own, own / "Ops", onnx_schemas()),
                                    (own / "Microsoft", own / "Microsoft", microsoft_schemas())):
        ops = rows_of(source)
        made[folder / "Attributes.def"] = (
            head("Attributes.def", "the attributes of operators", ATTRIBUTES, "ATTRIBUTE",
                 "OPERATOR, NAME, TYPE, SINCE, UNTIL, DEFAULT") +
            "".join(attribute_rows(op, schemas[op]) for op in ops) + "\n#undef ATTRIBUTE\n")
        made[folder / "Signatures.def"] = (
            head("Signatures.def", "the numbers of inputs and outputs", SIGNATURES, "SIGNATURE",
                 "OPERATOR, SINCE, IN, MOST_IN, OUT, MOST_OUT") +
            "".join(signature_rows(op, schemas[op]) for op in ops) + "\n#undef SIGNATURE\n")
    return made


def main(root, check):
    failed = False
    for path, text in files(root).items():
        if check and path.read_text() != text:
            print(f"{path} is not what the schemas declare")
            failed = True
        elif not check:
            path.write_text(text)
    if check and not failed:
        print("equal")
    return failed


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), "--check" in sys.argv))
