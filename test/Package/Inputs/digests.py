#!/usr/bin/env python3
"""Compares the bytes of everything that anec writes for many programs with a table of
digests, which is the same for every compiler and processor.

  digests.py ANEC ROOT CORPUS TABLE WORK [--update] [--only=TEXT] [--jobs=N]

CORPUS is `programs`, what the source tree has, or a folder of ONNX models. What differs
stays in WORK. --update writes the table: look at the outputs before it is committed."""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

TINY = "test/Train/Inputs/tiny.tdsl"
# Beside the defaults, on a few programs each.
VARIANTS = [
    ("examples/llama.tdsl", ["--target=m1"], "anepkg"),
    ("examples/llama.tdsl", ["--fuse=max"], "anepkg"),
    ("examples/llama.tdsl", ["--io=separate"], "anepkg"),
    ("examples/llama.tdsl", ["--decode"], "anepkg"),
    (TINY, ["--forward-only", "--init=1", "--quantize=int4"], "anepkg"),
    (TINY, ["--forward-only", "--init=1", "--quantize=lut4"], "anepkg"),
    ("examples/gpt2.tdsl", ["--lora=rank=4,alpha=8,targets=wq:wv"], "anepkg"),
    ("examples/gpt2.tdsl", ["--target=m1", "--fuse=max"], "anepkg"),
    ("examples/resnet.tdsl", ["--init=1"], "mlpackage"),
    ("examples/vit.tdsl", ["--init=1", "--precision=fp16"], "mlpackage"),
    ("examples/mamba.tdsl", ["--init=1"], "mil"),
    ("examples/unet.tdsl", ["--emit=html"], "html"),
    ("examples/moe.tdsl", ["--emit=dot"], "dot"),
]


def programs(root):
    """(name, folder to run in, arguments, ending) of each run on the tree's programs."""
    for folder in ("examples", "test/Gradients/Inputs", "test/Train/Inputs",
                   "test/Frontend", "test/Passes", "test/Passes/Inputs"):
        for path in sorted((root / folder).glob("*.tdsl")):
            name = f"{folder}/{path.name}"
            if re.search(r"^model ", path.read_text(), re.M):
                yield name, root, [name], "anepkg"
            else:
                yield name, root, [name, "--init=1"], "mil"
    for path in sorted((root / "test/Gradients").glob("*.ir")):
        name = f"test/Gradients/{path.name}"
        for passes in ("differentiate", "differentiate,decompose"):
            yield (f"{name} --passes={passes}", root,
                   [name, f"--passes={passes}", "--emit=ir"], None)
    for path in sorted((root / "lib/Target/RulePrograms").glob("*.bad.mil")):
        name = f"lib/Target/RulePrograms/{path.name}"
        yield (f"{name} --passes=legalize,dce", root,
               [name, "--passes=legalize,dce", "--target=m1", "--emit=mil"], None)
    for path in sorted((root / "test/Onnx/Inputs/half").glob("*.onnx")):
        name = f"test/Onnx/Inputs/half/{path.name}"
        yield name, root, [name], "mlpackage"
    for name, flags, ending in VARIANTS:
        yield " ".join([name, *flags, ending]), root, [name, *flags], ending


def onnx_models(folder):
    """A run on every fourth model below a folder, which have most operators."""
    for path in sorted(folder.glob("**/model.onnx"))[::4]:
        name = str(path.parent.relative_to(folder))
        yield name, folder, [f"{name}/model.onnx", "--emit=ir"], None


def everything(anec, number, item, work):
    """What a run prints and writes, as one digest."""
    name, folder, arguments, ending = item
    out = work / str(number)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    command = [anec, *arguments]
    if ending:
        command += ["-o", str(out / f"out.{ending}")]
    done = subprocess.run(command, cwd=folder, capture_output=True)
    for stream, text in (("stdout", done.stdout), ("stderr", done.stderr)):
        (out / stream).write_bytes(text.replace(os.fsencode(out), b"OUT"))
    digest = hashlib.sha256(f"{done.returncode}".encode())
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        contents = path.read_bytes()
        digest.update(f"{path.relative_to(out)} {len(contents)}\n".encode())
        digest.update(contents)
    return digest.hexdigest()[:16]


def read_table(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return {name: digest for digest, name in
            (line.split(" ", 1) for line in lines if line and line[0] != "#")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anec")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("corpus")
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    anec = shutil.which(options.anec)
    if options.corpus == "programs":
        items = list(programs(options.root))
    else:
        items = list(onnx_models(pathlib.Path(options.corpus)))
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    work = options.work.resolve()
    numbered = [(number, item) for number, item in enumerate(items)
                if options.only in item[0]]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda each: everything(anec, *each, work), numbered))
    digests = {item[0]: digest for (_, item), digest in zip(numbered, found)}
    if options.update:
        table = "".join(f"{digest} {name}\n" for name, digest in sorted(digests.items()))
        options.table.write_text(
            "# Made by test/Package/Inputs/digests.py --update.\n" + table)
        return 0
    expected = read_table(options.table)
    differ = [(number, item[0]) for number, item in numbered
              if digests[item[0]] != expected.get(item[0])]
    gone = [name for name in expected if name not in digests and not options.only]
    for number, name in differ:
        print(f"{name}: other bytes than in the table, in {work / str(number)}")
    for name in gone:
        print(f"{name}: in the table only")
    print(f"{len(digests)} programs, {len(differ) + len(gone)} differ")
    return 1 if differ or gone or not digests else 0


if __name__ == "__main__":
    sys.exit(main())
