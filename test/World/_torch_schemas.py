#!/usr/bin/env python3
"""Writes lib/Torch/Schemas.def: the parameters, with defaults, of all operators that have
a row in lib/Torch/Ops, as the installed PyTorch declares them.

  _torch_schemas.py ROOT            writes the file
  _torch_schemas.py ROOT --check    compares it"""
import pathlib
import re
import sys

import torch
import torchvision  # noqa: F401: registers its operators
from torch.ao.quantization.fx import _decomposed  # noqa: F401: the same

HEAD = """//===- Schemas.def - parameters of operators --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// SCHEMA(operator, parameters): with their defaults, as PyTorch declares them.
// Made by test/World/_torch_schemas.py; do not edit.
//
//===----------------------------------------------------------------------===//

// clang-format off

#ifndef SCHEMA
#error "define SCHEMA(OPERATOR, PARAMETERS)"
#endif

"""


def parameter(argument):
    if not argument.has_default_value():
        return argument.name
    value = argument.default_value
    kind = str(argument.type)
    if kind == "float" and value is not None:
        value = float(value)
    return f"{argument.name}={value!r}"


def schema(op):
    namespace, name, overload = op.split(".")
    packet = getattr(getattr(torch.ops, namespace), name)
    arguments = getattr(packet, overload)._schema.arguments
    return ", ".join(parameter(argument) for argument in arguments)


def main(root, check):
    rows = set()
    for path in sorted((root / "lib/Torch/Ops").glob("*.cpp")):
        rows.update(re.findall(r'^    \{"((?:aten|torchvision|quantized_decomposed)'
                               r'\.\w+\.\w+)"', path.read_text(), re.M))
    if not rows:
        sys.exit(f"error: no rows of operators in {root}/lib/Torch/Ops")
    text = HEAD + "".join(f'SCHEMA("{op}", "{schema(op)}")\n' for op in sorted(rows))
    text += "\n#undef SCHEMA\n"
    file = root / "lib/Torch/Schemas.def"
    if check:
        print("equal" if file.read_text() == text else f"{file} is not what PyTorch declares")
        return file.read_text() != text
    file.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), "--check" in sys.argv))
