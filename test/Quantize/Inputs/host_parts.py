#!/usr/bin/env python3
"""Packages whose host computes with a quantized weight: what is wrong with values or with
the manifest is an error that says so.

usage: host_parts.py ANEC ANE_RUN FOLDER"""
import json
import pathlib
import subprocess
import sys

import numpy as np

import reference

anec, ane_run, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
PROGRAM = """model net(x: fp16[64, 4]) -> fp32 {{
  weight w: fp16[64, 64];
{steps}  return mean(square(cast(w @ {last}, fp32)));
}}
"""


def compile_package(weights, name="n", count=0):
    """The host has `count` steps before its product."""
    steps = "".join(f"  x{i + 1} = tanh(x{i or ''});\n" for i in range(count))
    (folder / "n.tdsl").write_text(PROGRAM.format(steps=steps, last=f"x{count or ''}"))
    reference.write_safetensors(folder / "w.safetensors", weights)
    return subprocess.run(
        [anec, folder / "n.tdsl", f"--weights={folder / 'w.safetensors'}", "--forward-only",
         "--quantize=int8", "-o", folder / f"{name}.anepkg"], capture_output=True, text=True)


def run(name="n"):
    return subprocess.run([ane_run, folder / f"{name}.anepkg", f"--input=x={folder / 'x.npy'}",
                           "--output-dir", folder / "out"], capture_output=True, text=True)


def refused(done, words, what):
    assert done.returncode == 1 and words in done.stderr, (what, done.returncode, done.stderr)


def main():
    folder.mkdir(parents=True)
    draw = np.random.default_rng(3)
    weight = (draw.standard_normal((64, 64)) / 8).astype(np.float16)
    np.save(folder / "x.npy", draw.standard_normal((64, 4)).astype(np.float16))

    broken = weight.copy()
    broken[3, 5] = np.nan
    refused(compile_package({"net.w": broken}), "[not-finite]", "NaN")
    refused(compile_package({"net.v": weight}), "`net.w`", "a missing weight")
    assert not (folder / "n.anepkg").exists(), "a part of a package was left"

    # Chains of many lengths: the values of the host's program are in a hash table.
    for count in range(36, 48):
        done = compile_package({"net.w": weight}, count=count)
        assert done.returncode == 0 and run().returncode == 0, (count, done.stderr)
        subprocess.run(["rm", "-r", folder / "n.anepkg"], check=True)

    assert compile_package({"net.w": weight}).returncode == 0
    assert run().returncode == 0
    x, dense = np.load(folder / "x.npy").astype(np.float64), weight.astype(np.float64)
    loss, wanted = float(np.load(next((folder / "out").glob("*.npy")))), ((dense @ x)**2).mean()
    assert abs(loss / wanted - 1) < 1e-2, (loss, wanted)

    manifest = folder / "n.anepkg/manifest.json"
    text = json.loads(manifest.read_text())
    del text["sha256"]
    parts = text["host_parts"]
    assert [part["quantized"]["part"] for part in parts] == ["data", "scale"]

    def edited(change):
        copy = json.loads(json.dumps(text))
        change(copy["host_parts"])
        manifest.write_text(json.dumps(copy))
        return run()

    def wider(found):
        found[0]["quantized"] |= {"dtype": "fp32", "shape": [1024]}

    refused(edited(lambda found: found.insert(1, found[0])), "twice", "a name twice")
    refused(edited(lambda found: found.reverse()), "out of order", "an order")
    refused(edited(lambda found: found[1].update(name="net.w")), "no weight", "a weight")
    refused(edited(lambda found: found.pop()), "scale of", "a part less")
    refused(edited(wider), "is read as", "another type")
    refused(edited(lambda found: found[0]["quantized"].update(shape=[64, 63])),
            "is read as", "another shape")
    (folder / "n.anepkg/manifest.json").write_text(json.dumps(text))
    assert run().returncode == 0
    print("0 failed")


main()
