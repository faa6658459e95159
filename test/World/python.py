"""`import anec` as a new user has it: in clean virtual environments, with the versions
of numpy that are in use, by the workflow that docs/use/check.md shows, and by the tutorial
that needs PyTorch."""
import os
import pathlib
import subprocess
import sys

from harness import Item, RIGHT, wrong

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The last of each generation of the binary interface, the first of the second, and the
# newest there is.
VERSIONS = ("1.24.4", "1.26.4", "2.0.0", "2.0.2", "newest")


def run(command, folder, **environment):
    """None, or the outcome of a command that fails."""
    done = subprocess.run([str(word) for word in command], cwd=folder, text=True,
                          capture_output=True, env={**os.environ, **environment})
    if done.returncode == 0:
        return None
    lines = (done.stderr or done.stdout).strip().splitlines() or [""]
    return wrong(f"exit {done.returncode}: {lines[-1]}")


def environment_with(ctx, version):
    """A virtual environment of the system's Python, with numpy and nothing else; kept,
    as making one needs a network."""
    key = ("python environment", version)
    with ctx.cached(*key) as (folder, is_new):
        if is_new:
            wanted = "numpy" if version == "newest" else f"numpy=={version}"
            subprocess.run(["/usr/bin/python3", "-m", "venv", folder / "env"], check=True)
            subprocess.run([folder / "env/bin/python", "-m", "pip", "install", "--quiet",
                            "--disable-pip-version-check", wanted], check=True)
    with ctx.cached(*key) as (folder, _):  # Where it is kept.
        return folder / "env/bin/python"


def check_numpy(version):
    def check(ctx):
        python = environment_with(ctx, version)
        arrays = ROOT / "test/API/arrays.py"
        api = [ROOT / "test/API/api.py", ctx.folder, ROOT / "examples/llama.tdsl"]
        built = {"PYTHONPATH": str(ctx.build / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        outcomes = {
            "arrays": run([python, arrays, 600], ctx.folder, **built) or RIGHT,
            "api": run([python, *api], ctx.folder, **built) or RIGHT}
        # Installed, without the build.
        wheel = ctx.folder / "installed"
        outcomes["install"] = run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "--no-index", "--no-deps", "--target", wheel, ctx.build / "python"],
            ctx.folder) or run([python, arrays, 60], ctx.folder,
                               PYTHONPATH=str(wheel)) or RIGHT
        return outcomes
    return check


def check_workflow(ctx):
    # Its commands build in place, which does nothing in a build that is up to date.
    cache = (ctx.build / "CMakeCache.txt").read_text()
    is_release = ctx.build == ROOT / "build" and "CMAKE_BUILD_TYPE:STRING=Release" in cache
    flags = [] if is_release else ["--offline"]
    return {"run": run([sys.executable, ROOT / "test/Docs/workflow.py",
                        ROOT / "docs/use/check.md", ROOT, ctx.build, ctx.folder / "model",
                        *flags], ctx.folder) or RIGHT}


def check_tutorial(ctx):
    """The page for users of PyTorch, command by command."""
    return {"run": run([sys.executable, ROOT / "test/Docs/commands.py", ROOT, ctx.build,
                        ctx.folder / "tutorial", "--page=docs/use/tutorial-pytorch.md"],
                       ctx.folder) or RIGHT}


def items():
    for version in VERSIONS:
        yield Item("numpy", version, check_numpy(version), seconds=300)
    yield Item("tutorial", "pytorch", check_tutorial, seconds=300)
    yield Item("workflow", "github", check_workflow, seconds=600, alone=True)
