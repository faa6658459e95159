#!/usr/bin/env python3
"""Writes a synthetic module of N ops, as MIL text, IR text, or MLIR's tosa.

Usage: generate.py mil|ir|tosa N > FILE

The three are the same program: a random graph in which an op takes its operands
from the last eight values, a mix of scalar constants added to tensors, reshapes
and binary ops. In MIL a parameter's value is a named `const`, as its printer
writes it, and counts as an op, as `tosa.const` does.
"""

import random
import sys

SHAPE = [1, 768, 1, 256]
SCALARS = [0.5, 1.0, 2.0, 3.5]
RECENT = 8


def program(count):
    """Yields (kind, result, operands, scalar); ops are numbered from 0, the
    two parameters are `x` and `y`."""
    choose = random.Random(0)
    values, number = ["x", "y"], 0
    while number < count:
        a, b = choose.choice(values[-RECENT:]), choose.choice(values[-RECENT:])
        draw = choose.random()
        if draw < 0.35 and number + 1 < count:
            scalar = f"c{number}"
            yield "const", scalar, [], choose.choice(SCALARS)
            yield "add", f"v{number + 1}", [a, scalar], None
            values.append(f"v{number + 1}")
            number += 2
            continue
        kind = "reshape" if draw < 0.6 else "maximum"
        yield kind, f"v{number}", [a] if kind == "reshape" else [a, b], None
        values.append(f"v{number}")
        number += 1


def shape(separator=", "):
    return separator.join(map(str, SHAPE))


def mil(count, out):
    tensor = f"tensor<fp16, [{shape()}]>"
    out.write('program(1.3)\n[buildInfo = dict<string, string>({})]\n{\n')
    out.write(f"    func main<ios18>({tensor} x, {tensor} y) {{\n")
    out.write(f'        tensor<int32, [4]> to = const()[name = string("to"), '
              f'val = tensor<int32, [4]>([{shape()}])];\n')
    last = "x"
    for kind, result, operands, scalar in program(count):
        name = f'[name = string("{result}")'
        if kind == "const":
            out.write(f"        fp16 {result} = const(){name}, "
                      f"val = fp16({float(scalar).hex()})];\n")
            continue
        arguments = (f"shape = to, x = {operands[0]}" if kind == "reshape"
                     else f"x = {operands[0]}, y = {operands[1]}")
        out.write(f"        {tensor} {result} = {kind}({arguments}){name}];\n")
        last = result
    out.write(f"    }} -> ({last});\n}}\n")


def ir(count, out):
    tensor = f"fp16[{shape()}]"
    out.write(f"kernel @main(%x: {tensor}, %y: {tensor}) -> (%output: {tensor}) {{\n")
    last = "x"
    for kind, result, operands, scalar in program(count):
        if kind == "const":
            out.write(f"  %{result} = const() {{val = fp16({scalar})}} "
                      ": fp16\n")
            continue
        values = ", ".join(f"%{name}" for name in operands)
        constants = f" {{shape = [{shape()}]}}" if kind == "reshape" else ""
        out.write(f"  %{result} = {kind}({values}){constants} : {tensor}\n")
        last = result
    out.write(f"  return %{last}\n}}\n")


def tosa(count, out):
    tensor = f"tensor<{shape('x')}xf16>"
    one = "tensor<1x1x1x1xf16>"
    out.write(f"func.func @main(%x: {tensor}, %y: {tensor}) -> {tensor} {{\n")
    last = "x"
    for kind, result, operands, scalar in program(count):
        values = ", ".join(f"%{name}" for name in operands)
        if kind == "const":
            out.write(f'  %{result} = "tosa.const"() <{{value = dense<{scalar}>'
                      f" : {one}}}> : () -> {one}\n")
            continue
        if kind == "reshape":
            out.write(f"  %{result} = tosa.reshape {values} {{new_shape = "
                      f"array<i64: {shape()}>}} : ({tensor}) -> {tensor}\n")
        else:
            second = one if kind == "add" else tensor
            out.write(f"  %{result} = tosa.{kind} {values} : "
                      f"({tensor}, {second}) -> {tensor}\n")
        last = result
    out.write(f"  return %{last} : {tensor}\n}}\n")


if __name__ == "__main__":
    {"mil": mil, "ir": ir, "tosa": tosa}[sys.argv[1]](
        int(sys.argv[2]), sys.stdout)
