"""Compares a compiled model with the package of the same program.

    compiled.py PACKAGE.mlpackage MODEL.mlmodelc [--no-data]
"""
import base64
import collections
import hashlib
import json
import pathlib
import re
import struct
import sys

import proto

HERE = pathlib.Path(__file__).parent
SPELLED = {"FLOAT16": "Float16", "FLOAT32": "Float32", "DOUBLE": "Double", "INT32": "Int32",
           "INT8": "Int8"}


def features(description, key):
    return [feature(f) for f in description.get(key, [])]


def feature(description):
    """The entry of a schema."""
    kind = description["type"]
    entry = {"name": description["name"], "isOptional": str(int(kind.get("isOptional", 0))),
             "shortDescription": description.get("shortDescription", "")}
    if "multiArrayType" in kind or "stateType" in kind:
        is_state = "stateType" in kind
        array = kind["stateType"]["arrayType"] if is_state else kind["multiArrayType"]
        word, shape = "State" if is_state else "MultiArray", array.get("shape", [])
        dtype = SPELLED[array["dataType"]]
        text = " × ".join(map(str, shape))
        entry |= {"type": word, "dataType": dtype, "shape": str(shape),
                  "formattedType": f"{word} ({dtype}{' ' + text if text else ''})"}
        if not is_state:
            entry["hasShapeFlexibility"] = "0"
    elif "imageType" in kind:
        image = kind["imageType"]
        gray = image["colorSpace"].startswith("GRAYSCALE")
        entry |= {"type": "Image", "width": str(image["width"]), "height": str(image["height"]),
                  "colorspace": "Grayscale" if gray else image["colorSpace"],
                  "isColor": str(int(not gray)), "hasSizeFlexibility": "0",
                  "formattedType": f"Image ({'Grayscale' if gray else 'Color'} "
                                   f"{image['width']} × {image['height']})"}
    elif "dictionaryType" in kind:
        key = "String" if "stringKeyType" in kind["dictionaryType"] else "Int64"
        entry |= {"type": "Dictionary", "keyType": key,
                  "formattedType": f"Dictionary ({key} → Double)"}
    else:
        word = "String" if "stringType" in kind else "Int64"
        entry |= {"type": word, "formattedType": word}
    return entry


def histogram(function):
    counts = collections.Counter()
    for op in function["block_specializations"][function["opset"]]["operations"]:
        if op["type"] != "const":
            counts[op["type"].replace("_", "").lower()] += 1
    return counts


def without_opsets(counts):
    return {re.sub(r"^Ios\d+\.", "", name).lower(): count for name, count in counts.items()}


def same(what, mine, theirs):
    if mine != theirs:
        sys.exit(f"{what}: {mine!r}, not {theirs!r}")


def check_function(metadata, description, function):
    for key in ("input", "output", "state"):
        same(key, metadata[key + "Schema"], features(description, key))
    same("histogram", without_opsets(metadata["mlProgramOperationTypeHistogram"]),
         histogram(function))


def check_data(folder, model, message, functions):
    data = (folder / "coremldata.bin").read_bytes()
    version = message["specificationVersion"]
    description = next(v for number, _, v in proto.fields(model) if number == 2)
    same("header", data[:83],
         struct.pack("<II20xQ7sI28xQ", 502, version, 7, b"generic", version, len(description)))
    same("description", data[83:83 + len(description)], description)
    same("trailer", data[83 + len(description):], struct.pack("<I12x", 502) * functions)
    digest = base64.b64encode(hashlib.sha256(model).digest())
    expected = b""
    for section in ([b"NeuralNetworkModelDetails", 2, b"containsCustomLayer", b"0",
                     b"modelDimension", b"0"],
                    [b"SpecificationDetails", 2, b"modelHash", digest, b"modelName",
                     folder.stem.encode()]):
        for item in section:
            expected += struct.pack("<Q", item if isinstance(item, int) else len(item))
            expected += b"" if isinstance(item, int) else item
    same("analytics", (folder / "analytics/coremldata.bin").read_bytes(), expected)


def main():
    package, folder = map(pathlib.Path, sys.argv[1:3])
    inner = package / "Data/com.apple.CoreML"
    model = (inner / "model.mlmodel").read_bytes()
    message = proto.Schema(HERE / "format").decode("CoreML.Specification.Model", model)
    description, functions = message["description"], message["mlProgram"]["functions"]
    (metadata,) = json.loads((folder / "metadata.json").read_text())
    same("version", metadata["specificationVersion"], message["specificationVersion"])
    same("user's metadata", metadata["userDefinedMetadata"], description["metadata"]["userDefined"])
    if "functions" in description:
        names = [f["name"] for f in description["functions"]]
        same("functions", [f["name"] for f in metadata["functions"]], names)
        for entry, described in zip(metadata["functions"], description["functions"]):
            check_function(entry, described, functions[entry["name"]])
        default = description["defaultFunctionName"]
        same("default", metadata["defaultFunctionName"], default)
        described = description["functions"][names.index(default)]
    else:
        default, described = "main", description
    check_function(metadata, described, functions[default])
    weights = folder / "weights/weight.bin"
    same("weights", weights.exists(), (inner / "weights/weight.bin").exists())
    if weights.exists():
        same("bytes of weights", weights.read_bytes(), (inner / "weights/weight.bin").read_bytes())
    if "--no-data" in sys.argv:
        return same("data", (folder / "coremldata.bin").exists(), False)
    check_data(folder, model, message, len(functions))


if __name__ == "__main__":
    main()
