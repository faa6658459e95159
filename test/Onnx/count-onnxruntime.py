#!/usr/bin/env python3
"""Counts the cases of ONNX's own test data that onnxruntime passes, by the
comparison of run-cases.py.

usage: ANEC_ONNXRUNTIME=FOLDER count-onnxruntime.py WORK_FOLDER [--verbose]
"""
import collections
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import onnx_cases
import onnxruntime


def outcome(worker, case):
    for inputs, expected in case.data():
        try:
            outputs, _ = worker.run(case.folder / "model.onnx", inputs)
        except onnxruntime.Refused as error:
            return f"refused: {error}"
        for name, array in expected.items():
            text = onnx_cases.difference(outputs[name], array)
            if text:
                return f"differs: {text}"
    return "passes"


def main():
    worker = onnxruntime.Worker(sys.argv[1])
    counts = collections.Counter()
    for case in onnx_cases.cases():
        if case.kind() != "tensors":
            continue
        text = outcome(worker, case)
        counts[text.split(":")[0]] += 1
        if "--verbose" in sys.argv and text != "passes":
            print(case.name, text.replace("\n", " "))
    worker.close()
    print(", ".join(f"{count} {name}" for name, count in counts.most_common()))
    return 0 if counts["passes"] else 1


if __name__ == "__main__":
    sys.exit(main())
