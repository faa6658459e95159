#!/usr/bin/env python3
"""Checks that a build without language models can be linked, by the objects of the full one.

  left-out.py NM WHOLE PART

WHOLE is the full build, and PART one that is configured with -DANEC_LANGUAGE_MODELS=OFF and not
built. Compiles the few sources of PART that WHOLE lacks, and looks for what its objects use
that only the component's define."""
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[3]
sys.dont_write_bytecode = True  # The checkout stays as it is.
sys.path.insert(0, str(ROOT / ".ci"))
import alone  # noqa: E402
COMPONENT = ("lib/Text/", "lib/Generate/", "lib/Import/", "lib/Serve/")


def commands(build):
    """The command of each object, which is named from the folder of the build."""
    entries = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    found = {}
    for entry in entries:
        words = shlex.split(entry["command"])
        if "-o" in words:
            found[words[words.index("-o") + 1]] = entry
    return found


def sources(entry):
    """What a command compiles, from the folder of the project."""
    return {file[len(str(ROOT)) + 1:] for file in alone.sources(entry)}


def symbols(nm, objects):
    """What objects define and what they leave undefined, of C++ and C."""
    defined, undefined = set(), {}
    listed = subprocess.run([nm, "-A", "-P", *map(str, objects)], check=True, text=True,
                            capture_output=True).stdout
    for line in listed.splitlines():
        place, name, kind = line.split()[:3]
        if kind == "U":
            undefined.setdefault(name, place.rstrip(":"))
        elif kind != "w":
            defined.add(name)
    return defined, undefined


def compiled(entry, folder):
    """An object of a source that only the build without the component has."""
    path = pathlib.Path(folder) / f"{len(list(pathlib.Path(folder).iterdir()))}.o"
    words = shlex.split(entry["command"])
    words[words.index("-o") + 1] = str(path)
    subprocess.run(words, check=True, cwd=entry["directory"])
    return path


def main(nm, whole, part):
    own, others = commands(part), commands(whole)
    own = {name: entry for name, entry in own.items() if name.startswith(("lib/", "tools/"))}
    same = {name for name, entry in own.items()
            if name in others and ("/Unity/" not in name or
                                   sources(entry) == sources(others[name]))}
    wrong = [f"{source} is of the component" for entry in own.values()
             for source in sources(entry) if source.startswith(COMPONENT)]
    with tempfile.TemporaryDirectory() as folder:
        built = [pathlib.Path(whole) / name for name in same]
        stubs = {name: compiled(entry, folder) for name, entry in own.items()
                 if name not in same}
        targets = {name.split(".dir/")[0] for name in own}
        left = [pathlib.Path(whole) / name for name in others
                if name.split(".dir/")[0] in targets and name not in same]
        defined, undefined = symbols(nm, [*built, *stubs.values()])
        component, _ = symbols(nm, left)
    wrong += [f"{place} uses {name}" for name, place in sorted(undefined.items())
              if name in component and name not in defined]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{len(own)} objects, {len(stubs)} of them instead of {len(left)} others; "
          f"{len(wrong)} errors")
    return 1 if wrong or not left or not stubs else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
