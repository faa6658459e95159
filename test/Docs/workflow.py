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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Onnx" / "Inputs"))
import onnx_writer  # noqa: E402


def write_model(path):
    """silu of a product, in fp32."""
    graph = onnx_writer.Graph()
    graph.input("x", numpy.float32, [64, 16])
    weight = numpy.random.default_rng(2).normal(size=(16, 32)).astype(numpy.float32)
    product = graph.op("MatMul", "x", graph.constant(weight))
    graph.op("Mul", product, graph.op("Sigmoid", product), outputs=["y"])
    graph.output("y", numpy.float32)
    graph.save(path, 17)


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
    write_model(folder / "model.onnx")
    (folder / "gate.py").write_text(re.search(r"^```python\n(.*?)^```$", page,
                                              re.M | re.S)[1])
    numpy.save(folder / "x.npy",
               numpy.random.default_rng(1).normal(size=(64, 16)).astype(numpy.float32))
    for command in (
            "anec model.onnx -o model.mlpackage",
            "anec check model.mlpackage --target=m1,m2,m4 --for=coreml --fail-on=warning "
            "--write-baseline=anec-baseline.json",
            "ane-run model.onnx --input x=x.npy --numerics=fp32 --output-dir exact",
            "mv exact/y.npy expected.npy"):
        subprocess.run(command, shell=True, check=True, cwd=folder, env=environment)
    return environment


def offline(step):
    """A step without a network; None for one that is about it, or builds anec."""
    commands = step["run"]
    if any(word in commands for word in ("apt-get", "install-dependencies", "cmake")):
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
