"""Operators one by one: those of ONNX, in every version of the operator set, against
the cases of the package onnx and against onnxruntime, and those of MIL against
coremltools and PyTorch."""
import pathlib
import re

import harness
import _mil_cases
import _onnx_cases

ROOT = pathlib.Path(__file__).resolve().parents[2]


def items():
    yield harness.Item("onnx", "schemas", _onnx_cases.check_schemas)
    yield harness.Item("onnx", "all operators", _onnx_cases.CheckComplete(
        onnx_operators(), microsoft_operators()))
    for name in onnx_operators():
        if name not in _onnx_cases.WITHOUT_CASES:
            yield harness.Item(f"onnx.{name}", "cases", _onnx_cases.CheckCases(name),
                               seconds=300)
        if name in _onnx_cases.WITH_GRAPHS:
            continue
        yield harness.Item(f"onnx.{name}", "random", _onnx_cases.CheckRandom(name, 0, 10),
                           seconds=300)
        yield harness.Item(f"onnx.{name}", "random-more", _onnx_cases.CheckRandom(name, 10, 60),
                           sample=False, seconds=900)
    yield harness.Item("microsoft", "schemas", _onnx_cases.check_microsoft)
    for name in microsoft_operators():
        yield harness.Item(f"microsoft.{name}", "random",
                           _onnx_cases.CheckMicrosoft(name, 0, 10), seconds=300)
        yield harness.Item(f"microsoft.{name}", "random-more",
                           _onnx_cases.CheckMicrosoft(name, 10, 60), sample=False, seconds=900)
    yield from _mil_cases.items()


def onnx_operators():
    """The operators that anec reads."""
    return signatures("lib/Onnx/Signatures.def")


def microsoft_operators():
    """Those of onnxruntime that anec reads."""
    return signatures("lib/Onnx/Microsoft/Signatures.def")


def signatures(path):
    text = (ROOT / path).read_text()
    return sorted(set(re.findall(r"^SIGNATURE\((\w+),", text, re.M)))
