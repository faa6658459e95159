#!/usr/bin/env python3
"""Writes files for the fuzz targets to begin with: FOLDER/FuzzJson/..., ...

  seeds.py ANEC ANE_RUN FOLDER [MODELS]

MODELS has .onnx files at any depth, such as Debian's /usr/share/libonnx-testdata. Those
of the tests are added where Python has numpy."""
import importlib
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
mutate = importlib.import_module("mutate-packages")
ROOT = pathlib.Path(__file__).parents[2]


def field(number, data):
    """A field of a message that is bytes, or a small number."""
    if isinstance(data, int):
        return bytes([number << 3, data])
    size, length = len(data), []
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *length, size]) + data


def files_of(package):
    """The message of FuzzMlpackage that has the files of a package."""
    return b"".join(field(1, field(1, str(path.relative_to(package)).encode()) +
                             field(2, path.read_bytes()))
                    for path in sorted(package.rglob("*")) if path.is_file())


def add_gguf(folder):
    """Models of every family, and checkpoints of llama2.c."""
    folder.mkdir()
    if importlib.util.find_spec("numpy"):
        subprocess.run([sys.executable, ROOT / "test/Import/Inputs/gguf_models.py",
                        "--models=13", "--write-only", folder], check=True)


def add_onnx(folder, work, models):
    folder.mkdir()
    if importlib.util.find_spec("numpy"):
        subprocess.run([sys.executable, ROOT / "test/Onnx/Inputs/bad_models.py", work],
                       check=True)
        for path in work.glob("*.onnx"):
            shutil.copy(path, folder / f"test-{path.name}")
    for path in pathlib.Path(models).rglob("*.onnx") if models else []:
        shutil.copy(path, folder / f"{path.parent.name}-{path.name}")


def main(anec, ane_run, folder, models=None):
    anec, ane_run = mutate.program(anec), mutate.program(ane_run)
    folder = pathlib.Path(folder).absolute()
    work = folder / "work"
    mutate.prepare(work, anec, ane_run)
    whole = work / "whole"

    def add(target, choice, path, name=None):
        out = folder / target
        out.mkdir(exist_ok=True)
        first = b"" if choice is None else bytes([choice])
        (out / (name or path.name)).write_bytes(first + path.read_bytes())

    state = sorted(whole.glob("run/step-*/state.json"))[-1]
    for choice, path in enumerate([whole / "p.anepkg/manifest.json", state,
                                   whole / "map.json", whole / "llama/config.json",
                                   whole / "run/train.jsonl"]):
        add("FuzzJson", choice, path)
    report, probe = work / "report.json", work / "probe.json"
    report.write_text('{"benchmark": 1, "chip": "x", "backend": "cpu", "suites": [{"suite": '
                      '"int8", "rows": [{"row": "r", "form": "f", "outcome": "measured", '
                      '"median_ms": 1.5, "tflops": 2}]}]}')
    probe.write_text('{"probe": 2, "complete": true, "backend": "cpu", "framework": "", '
                     '"path": "", "chip": "", "system": "", "target": "m4", "assume": '
                     '["no-mod=allow"], "rules": [{"rule": "no-mod", "verdict": "holds"}]}')
    add("FuzzJson", 5, report)
    add("FuzzJson", 6, probe)
    add("FuzzJson", 7, whole / "p.anepkg/manifest.json", "text")

    language = json.loads((pathlib.Path(__file__).resolve().parents[1] /
                           "Train/Inputs/chat-language.json").read_text())
    for index, case in enumerate(language["cases"]):
        program = work / f"template-{index}.jinja"
        program.write_bytes(case["template"].encode())
        add("FuzzJinja", None, program)

    weights = work / "llama2c.bin"
    subprocess.run([anec, "convert", whole / "llama", "--from=hf", "-o", weights],
                   check=True, stdout=subprocess.DEVNULL)
    add("FuzzTokens", 0, whole / "tokenizer.bin")
    add("FuzzTokens", 2, whole / "tokenizer.bin", "tokenizer")
    add("FuzzTokens", 3, weights)
    add("FuzzTokens", 4, whole / "tokenizer.json")
    subprocess.run([sys.executable, ROOT / "test/Train/Inputs/damaged_sentencepiece.py", work],
                   check=True)
    for path in sorted(work.glob("*.model")):
        add("FuzzTokens", 1, path)

    package = whole / "p.anepkg"
    files = sorted(str(path.relative_to(package)) for path in package.rglob("*")
                   if path.is_file() and path.name != "manifest.json")
    for index, name in enumerate(files + ["manifest.json"]):
        add("FuzzPackage", index, package / name, name.replace("/", "-"))

    add("FuzzArrays", 1, whole / "run/best/weights.safetensors")
    for path in package.glob("weights/*.bin"):
        add("FuzzArrays", 2, path)
    for path in (work / "whole-baked").glob("p.anepkg/weights/*.bin"):
        add("FuzzArrays", 2, path)
    add("FuzzErrorLog", 6, ROOT / "test/Target/Inputs/published-errors.txt")
    add("FuzzIR", None, package / "schedule.ir")
    for path in package.glob("kernels/*.mil"):
        add("FuzzMIL", None, path)
    for package in sorted((ROOT / "test/CoreML/Inputs/models").glob("*/model.mlpackage")):
        out = folder / "FuzzMlpackage"
        out.mkdir(exist_ok=True)
        (out / package.parent.name).write_bytes(files_of(package))
    add_gguf(folder / "FuzzGguf")
    add_onnx(folder / "FuzzOnnx", work / "onnx", models)
    for path in sorted((ROOT / "test/Torch/Inputs").glob("*.pt2")):
        add("FuzzTorch", None, path)
    for path in sorted((ROOT / "examples").glob("*.tdsl")):
        add("FuzzTDSL", None, path)
    shutil.rmtree(work)


main(*sys.argv[1:])
