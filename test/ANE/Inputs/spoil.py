#!/usr/bin/env python3
"""spoil.py FOLDER ANEC PROGRAM: makes files from FOLDER/good.json that are wrong
in one way each, and prints what `ANEC check --target` says of them."""
import copy
import json
import pathlib
import subprocess
import sys

folder, anec, program = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
text = (folder / "good.json").read_text()
good = json.loads(text)


def changed(change):
    other = copy.deepcopy(good)
    change(other)
    return json.dumps(other, indent=2)


def check(name, text):
    path = folder / f"{name}.json"
    path.write_text(text)
    done = subprocess.run([anec, "check", f"--target={path}", program],
                          text=True, capture_output=True)
    print(f"{name}: exit code {done.returncode}")
    print(done.stderr.replace(str(folder) + "/", ""), end="")


check("good", text)
check("empty", "")
check("cut", text[:len(text) // 2])
check("list", "[1, 2]")
check("foreign", '{"name": "something else"}')
check("old", changed(lambda r: r.update(probe=1)))
check("no-target", changed(lambda r: r.pop("target")))
check("target", changed(lambda r: r.update(target="m99")))
check("no-rules", changed(lambda r: r.pop("rules")))
check("rule", changed(lambda r: r["rules"][0].update(rule="no-such")))
check("number", changed(lambda r: r["rules"].append(3)))
check("verdict", changed(lambda r: r["rules"][0].update(verdict="perhaps")))
check("twice", changed(lambda r: r["rules"].append(r["rules"][0])))
check("assume", changed(lambda r: r["assume"].append("no-such=allow")))
check("sense", changed(lambda r: r["assume"].append("no-mod=perhaps")))
check("no-trials", changed(lambda r: r.pop("trials")))
check("trial", changed(lambda r: r["trials"][0].update(trial="no-such")))
check("no-path", changed(lambda r: r["trials"][0].pop("path")))
check("trial-verdict", changed(lambda r: r["trials"][0].update(verdict="holds")))
check("trial-twice", changed(lambda r: r["trials"].append(r["trials"][0])))
