#!/usr/bin/env python3
"""half.py FOLDER WORK NAME LIMIT [FLAG...]: compiles a model of FOLDER to a Core ML
package, runs it, and compares the output with the right one."""
import pathlib
import subprocess
import sys

import numpy

folder, work, name, limit, *flags = sys.argv[1:]
folder, work = pathlib.Path(folder), pathlib.Path(work)
work.mkdir(parents=True, exist_ok=True)
package = work / "m.mlpackage"
subprocess.run(["anec", folder / f"{name}.onnx", "-o", package, *flags], check=True)
subprocess.run(["ane-run", package, "--input", f"x={folder / f'{name}_x.npy'}",
                "--output-dir", work / "out"], check=True, stdout=subprocess.DEVNULL)
got = numpy.load(work / "out" / "y.npy").astype("float64")
right = numpy.load(folder / f"{name}_right.npy").astype("float64")
error = numpy.abs(got.reshape(right.shape) - right).max() / numpy.abs(right).max()
if not error <= float(limit):
    sys.exit(f"{name} {' '.join(flags)}: off by {error:.3g}, more than {limit}")
