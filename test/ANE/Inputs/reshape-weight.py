#!/usr/bin/env python3
"""Says in a manifest that a constant is a view of an array with half of the
elements that its weight has."""
import json
import sys

path, weight = sys.argv[1:]
with open(path) as file:
    manifest = json.load(file)
for kernel in manifest["kernels"]:
    for constant in kernel["constants"]:
        view = constant["view"]
        if view["weight"] == weight:
            view["stored"][0] //= 2
            view["shape"] = view["stored"]
            view["steps"] = []
manifest.pop("sha256", None)  # which is of the manifest as it was
with open(path, "w") as file:
    json.dump(manifest, file)
