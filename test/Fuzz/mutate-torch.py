#!/usr/bin/env python3
"""Damages archives of PyTorch and reads them: each run must end with exit code 0 or 1, in
10 seconds and 1 GB of memory, and an error must name a file.

  mutate-torch.py ANEC ARCHIVES [--info=ANE-RUN] [--count=1000] [--seed=1] [--work=DIR]

With --info, every other archive is read by `ane-run info`, which reads no weights.
ARCHIVES has .pt2 files, at any depth. Half of the runs damage the bytes of the archive,
and half an entry, whose checksum then is right. Prints the failing archives, which stay
in the folder --work, and returns 1 when there are any."""
import argparse
import io
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Shell"))
import memory
from damage import damage
from outcomes import Outcomes

WORDS = [b"\0", b"\xff" * 4, b"PK\1\2", b"PK\3\4", b"PK\5\6", b"9223372036854775807", b"-1",
         b"0", b'{"as_int": 1000000000}', b'{"as_none": true}', b"null", b"Infinity", b"[", b"{",
         b"as_tensors", b"as_sym_int", b"Integer(0)", b"FloorDiv(", b"Symbol('s0')",
         b"aten.view.default", b"aten.cat.default", b"aten.add_.Tensor", b"\x87", b"R", b"}"]


def damaged(contents, choose):
    """The archive with damaged bytes, or with one of its entries damaged."""
    if choose.random() < 0.5:
        return damage(contents, WORDS, choose)
    with zipfile.ZipFile(io.BytesIO(contents)) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    index = choose.choice([index for index, (name, text) in enumerate(entries)
                           if text and name.endswith((".json", ".pt"))])
    name, text = entries[index]
    entries[index] = (name, damage(text, WORDS, choose))
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, text in entries:
            archive.writestr(zipfile.ZipInfo(name), text)
    return written.getvalue()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anec")
    parser.add_argument("archives", type=pathlib.Path)
    parser.add_argument("--info", metavar="ANE-RUN")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=pathlib.Path)
    arguments = parser.parse_args()
    work = arguments.work or pathlib.Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    archives = []
    for path in sorted(arguments.archives.rglob("*.pt2")):
        if zipfile.is_zipfile(path):
            archives.append(path.read_bytes())
    outcomes = Outcomes(arguments.seed)
    for number in range(arguments.count):
        choose = random.Random(f"{arguments.seed}.{number}")
        target = work / f"{number}.pt2"
        target.write_bytes(damaged(choose.choice(archives), choose))
        command = [arguments.anec, target, "-o", "/dev/null"]
        if arguments.info and number % 2:
            command = [arguments.info, "info", target]
        result, why, text = None, "", ""
        try:
            result = subprocess.run(memory.within(1 << 30, command), capture_output=True,
                                    timeout=10)
            text = result.stderr.decode(errors="replace")
            if result.returncode not in (0, 1):
                why = f"exit code {result.returncode}"
            elif "[bug" in text or (result.returncode == 1 and "error: " not in text):
                why = "no error of the archive"
        except subprocess.TimeoutExpired:
            why = "more than 10 seconds"
        outcomes.add(number, command, result, why, text)
        if not why:
            target.unlink()
    if not outcomes.failed and not arguments.work:
        shutil.rmtree(work)
    outcomes.exit()


if __name__ == "__main__":
    main()
