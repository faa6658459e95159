"""Checks a program with mypy, if this machine has it: as a user would, and then the
package itself.

usage: typed-check.py PROGRAM.py FOLDER PACKAGE"""
import importlib.util
import pathlib
import shutil
import subprocess
import sys

PROGRAM, FOLDER, PACKAGE = map(pathlib.Path, sys.argv[1:])
found = importlib.util.find_spec("mypy")
MYPY = [sys.executable, "-m", "mypy"] if found else [shutil.which("mypy")]
if not MYPY[0]:
    raise SystemExit(print("no type checker"))
shutil.rmtree(FOLDER, ignore_errors=True)
shutil.copytree(PACKAGE, FOLDER / "anec", ignore=shutil.ignore_patterns("*.so"))
for checked in (FOLDER / "anec" / "__init__.py", PROGRAM.resolve()):
    made = subprocess.run([*MYPY, "--strict", "--cache-dir", "cache", "--python-executable",
                           sys.executable, str(checked)], cwd=FOLDER, capture_output=True, text=True,
                          env={"PYTHONDONTWRITEBYTECODE": "1", "MYPYPATH": str(FOLDER)})
    print(made.stdout, made.stderr)
    if made.returncode:
        raise SystemExit(1)
