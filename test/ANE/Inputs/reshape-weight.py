#!/usr/bin/env python3
"""Says in a manifest that a constant is stored as half of what it is."""
import json
import sys

path, weight = sys.argv[1:]
with open(path) as file:
    manifest = json.load(file)
for kernel in manifest["kernels"]:
    for constant in kernel["constants"]:
        if constant["weight"] == weight:
            constant["stored"][0] //= 2
with open(path, "w") as file:
    json.dump(manifest, file)
