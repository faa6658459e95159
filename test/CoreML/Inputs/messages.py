"""Compares lib/CoreML/Messages.h with the definitions of `format`.

    messages.py Messages.h
"""
import pathlib
import re
import sys

import proto

SPEC, MIL = "CoreML.Specification.", "CoreML.Specification.MILSpec."
# What our names stand for, where they differ from Apple's.
MESSAGES = {
    "ConstantDimension": MIL + "Dimension.ConstantDimension",
    "UnknownDimension": MIL + "Dimension.UnknownDimension",
    "ImmediateValue": MIL + "Value.ImmediateValue",
    "BlobFileValue": MIL + "Value.BlobFileValue",
    "KeyValuePair": MIL + "DictionaryValue.KeyValuePair",
    "Binding": MIL + "Argument.Binding",
    "Repeated": MIL + "TensorValue.RepeatedInts",
    "RawBytes": MIL + "TensorValue.RepeatedBytes",
    "ImageSize": SPEC + "ImageFeatureType.ImageSize",
    "ImageSizes": SPEC + "ImageFeatureType.EnumeratedImageSizes",
    "ImageSizeRange": SPEC + "ImageFeatureType.ImageSizeRange",
    "ArrayShape": SPEC + "ArrayFeatureType.Shape",
    "ArrayShapes": SPEC + "ArrayFeatureType.EnumeratedShapes",
    "ArrayShapeRange": SPEC + "ArrayFeatureType.ShapeRange",
    "PickTop": SPEC + "NonMaximumSuppression.PickTop",
}
FIELDS = {"immediate": "immediateValue", "blobFile": "blobFileValue"}
FIELDS |= {name: name + "FeatureName" for name in (
    "confidenceInput", "coordinatesInput", "iouThresholdInput", "confidenceThresholdInput",
    "confidenceOutput", "coordinatesOutput")}
ENUMS = {"DataType": MIL + "DataType", "ColorSpace": SPEC + "ImageFeatureType.ColorSpace",
         "ArrayDataType": SPEC + "ArrayFeatureType.ArrayDataType"}
WALKED = {"model": SPEC + "Model", "program": MIL + "Program", "function": MIL + "Function",
          "block": MIL + "Block", "pipeline": SPEC + "Pipeline",
          "labelled_pipeline": SPEC + "PipelineClassifier"}
WALKED_FIELDS = {"MLProgram": "mlProgram", "Blocks": "block_specializations"}
VALUES = {"Unused": "UNUSED_TYPE", "Invalid": "INVALID"}


def plain(name):
    return name.replace("_", "").lower()


def main():
    schema = proto.Schema(pathlib.Path(__file__).parent / "format")
    text = pathlib.Path(sys.argv[1]).read_text()
    wrong, fields, values = [], 0, 0

    def check(message, number, name):
        field = schema.messages[message].fields.get(number)
        if field is None or plain(field.name) != plain(name):
            wrong.append(f"{message} {number} {name}: {field and field.name}")

    for space, enum in re.findall(r"namespace (\w+) \{\nenum \{([^}]*)\}", text):
        for name, number in re.findall(r"(\w+) = (\d+)", enum):
            fields += 1
            check(WALKED[space], int(number), WALKED_FIELDS.get(name, name))
    for name, body in re.findall(r"enum class (\w+) : int32_t \{([^}]*)\}", text):
        theirs = schema.enums[ENUMS[name]]
        ours = {int(n): v for v, n in re.findall(r"(\w+) = (\d+)", body)}
        values += len(ours)
        if set(ours) != set(theirs):
            wrong.append(f"{name}: {set(ours) ^ set(theirs)}")
        for number, value in ours.items():
            spelled = theirs.get(number, "")
            if not plain(spelled).startswith(plain(VALUES.get(value, value))):
                wrong.append(f"{name}.{value}: {spelled}")
    for name, body in re.findall(r"struct (\w+) \{\n(.*?)\n\};", text, re.S):
        full = MESSAGES.get(name)
        full = full or next((n for n in (MIL + name, SPEC + name) if n in schema.messages), None)
        constants = dict(re.findall(r"(\w+) = (\d+)", "".join(re.findall(r"enum \{[^}]*\}", body))))
        listed = re.findall(r"\bat\((\w+), m\.(\w+)\)", body)
        if listed and not full:
            wrong.append(f"{name}: unknown")
        for number, member in listed if full else []:
            fields += 1
            check(full, int(constants.get(number, number)), FIELDS.get(member, member))
    print("\n".join(wrong))
    print(f"{fields} fields, {values} values: {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
