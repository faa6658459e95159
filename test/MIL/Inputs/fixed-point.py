"""Prints every program three times, in both dialects: each time from the last."""
import glob
import pathlib
import subprocess
import sys

anec, folder, *patterns = sys.argv[1:]
folder = pathlib.Path(folder)
folder.mkdir(parents=True, exist_ok=True)
programs = sorted(p for pattern in patterns for p in glob.glob(pattern))
assert len(programs) >= 8, programs


def print_mil(path, *flags):
    done = subprocess.run([anec, path, "--emit=mil", *flags], capture_output=True)
    assert done.returncode == 0, (path, done.stderr.decode())
    return done.stdout


for program in programs:
    for flags in ([], ["--mil-version=1.0"]):
        first = print_mil(program, *flags)
        path = folder / "printed.mil"
        path.write_bytes(first)
        assert print_mil(path) == first, program
        assert first.count(b"\n    func ") == 1, program
