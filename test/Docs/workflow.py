"""Runs the commands of the workflow in a page, as CI does, in a folder with the files
that they read.

usage: workflow.py PAGE ROOT BUILD FOLDER [--offline]

ROOT is the source tree, and BUILD its build, which is ROOT/build for the commands that
build. With --offline the steps that need a network are left out: packages of the system
are installed, anec is built, and the virtual environment sees the system's numpy."""
import os
import pathlib
import re
import subprocess
import sys

import numpy

PROGRAM = """kernel main(x: fp16[16, 64]) -> (y: fp16[32, 64]) {
  weight w: fp16[32, 16];
  return silu(w @ x);
}
"""


def steps(page):
    """The steps with commands in the first workflow of a page, as dicts."""
    block = re.search(r"^```yaml\n(.*?)^```$", page, re.M | re.S)[1]
    for step in re.split(r"^      - ", block, flags=re.M)[1:]:
        found = dict(re.findall(r"^ *([a-z-]+): (?!\|$)(.+)$", step, re.M))
        many = re.search(r"^ *run: \|\n((?: {10}.*\n)+)", step, re.M)
        if many:
            found["run"] = re.sub(r"^ {10}", "", many[1], flags=re.M)
        if "run" in found:
            yield found


def prepare(folder, page, root, build):
    """The files that the repository of a model has. Returns the environment."""
    # `python3` is the one that runs this.
    python = pathlib.Path(sys.executable).resolve().parent
    environment = {**os.environ, "GITHUB_PATH": str(folder / "paths"),
                   "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1",
                   "PATH": f"{build}/bin:{python}:{os.environ['PATH']}"}
    if build == root / "build":
        (folder / "anec").symlink_to(root)
    else:
        (folder / "anec").mkdir()
        (folder / "anec/build").symlink_to(build)
    (folder / "program.tdsl").write_text(PROGRAM)
    (folder / "gate.py").write_text(re.search(r"^```python\n(.*?)^```$", page,
                                              re.M | re.S)[1])
    numpy.save(folder / "x.npy",
               numpy.random.default_rng(1).normal(size=(16, 64)).astype(numpy.float32))
    for command in (
            "anec program.tdsl --init=1 -o model.mlpackage",
            "anec check model.mlpackage --target=m1,m2,m4 --for=coreml --fail-on=warning "
            "--write-baseline=anec-baseline.json",
            "ane-run model.mlpackage --input x=x.npy --numerics=fp32 --output-dir exact",
            "mv exact/y.npy expected.npy"):
        subprocess.run(command, shell=True, check=True, cwd=folder, env=environment)
    return environment


def offline(step):
    """A step without a network; None for one that is about it."""
    commands = step["run"]
    if "apt-get" in commands or "install-dependencies" in commands:
        return None
    return commands.replace("-m venv", "-m venv --system-site-packages").replace(
        "pip install", "pip install --no-index")


def main():
    page, root, build, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:5])
    folder.mkdir(parents=True)
    page = page.read_text()
    environment = prepare(folder, page, root, build)
    for step in steps(page):
        commands = offline(step) if "--offline" in sys.argv else step["run"]
        if not commands:
            continue
        # As root, which installs packages, or as the one who has them.
        if "apt-get" in commands and os.getuid():
            continue
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands],
                              cwd=folder / step.get("working-directory", ""),
                              env=environment)
        if done.returncode:
            sys.exit(f"exit code {done.returncode}: {commands}")
        print("done:", commands.splitlines()[-1], flush=True)
        if (folder / "paths").exists():
            environment["PATH"] = ":".join(
                [*(folder / "paths").read_text().split(), environment["PATH"]])


if __name__ == "__main__":
    main()
