"""Checks that two folders have the same arrays, nearly.

usage: near.py FOLDER FOLDER TOLERANCE"""
import pathlib
import sys

import numpy as np

left, right = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
names = sorted(path.name for path in left.glob("*.npy"))
assert names and names == sorted(path.name for path in right.glob("*.npy"))
for name in names:
    one, other = np.load(left / name), np.load(right / name)
    assert one.shape == other.shape, name
    assert abs(one - other).max() <= float(sys.argv[3]), (name, one, other)
    assert abs(one).max() > 0.1, (name, one)
