"""Gives an instance of the kernels and weights of a manifest another number.

usage: rename-instance.py MANIFEST FROM TO"""
import json
import sys

path, old, new = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(path) as file:
    manifest = json.load(file)
for kernel in manifest["kernels"]:
    for instance in kernel["instances"]:
        if instance.get("index") == old:
            instance["index"] = new
for weight in manifest["weights"]:
    weight["instances"] = [new if number == old else number
                           for number in weight["instances"]]
manifest.pop("sha256", None)  # which is of the manifest as it was
with open(path, "w") as file:
    json.dump(manifest, file)
