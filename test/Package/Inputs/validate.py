#!/usr/bin/env python3
"""Checks a JSON document against a schema that uses no more of JSON Schema than
is implemented here; a keyword that is not ends in an error.

usage: validate.py SCHEMA DOCUMENT"""
import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool,
         "integer": int, "number": (int, float)}
ANNOTATIONS = {"$schema", "$defs", "title", "description"}


def is_type(value, name):
    if isinstance(value, bool) and name != "boolean":
        return False
    return isinstance(value, TYPES[name])


def check(value, schema, root, path):
    """Yields what is wrong with `value`."""
    for key, rule in schema.items():
        if key in ANNOTATIONS:
            continue
        if key == "$ref":
            target = root
            for part in rule.removeprefix("#/").split("/"):
                target = target[part]
            yield from check(value, target, root, path)
        elif key == "type":
            if not is_type(value, rule):
                yield f"{path}: not of type {rule}"
                return
        elif key == "const":
            if value != rule:
                yield f"{path}: not {rule!r}"
        elif key == "enum":
            if value not in rule:
                yield f"{path}: {value!r} is none of {rule}"
        elif key == "pattern":
            if not re.search(rule, value):
                yield f"{path}: {value!r} does not match {rule}"
        elif key == "minimum":
            if value < rule:
                yield f"{path}: {value} is below {rule}"
        elif key == "minItems":
            if len(value) < rule:
                yield f"{path}: fewer than {rule} items"
        elif key == "maxItems":
            if len(value) > rule:
                yield f"{path}: more than {rule} items"
        elif key == "minProperties":
            if len(value) < rule:
                yield f"{path}: fewer than {rule} members"
        elif key == "maxProperties":
            if len(value) > rule:
                yield f"{path}: more than {rule} members"
        elif key == "anyOf":
            if all(any(check(value, one, root, path)) for one in rule):
                yield f"{path}: {value!r} is none of what it may be"
        elif key == "required":
            for name in rule:
                if name not in value:
                    yield f"{path}: no {name}"
        elif key == "items":
            for index, item in enumerate(value):
                yield from check(item, rule, root, f"{path}[{index}]")
        elif key == "properties":
            for name, member in rule.items():
                if name in value:
                    yield from check(value[name], member, root, f"{path}.{name}")
        elif key == "additionalProperties":
            for name in value.keys() - schema.get("properties", {}).keys():
                if rule is False:
                    yield f"{path}: {name} is not allowed"
                else:
                    yield from check(value[name], rule, root, f"{path}.{name}")
        else:
            sys.exit(f"error: the schema uses {key}, which is not implemented")


def main(schema_path, document_path):
    with open(schema_path) as file:
        schema = json.load(file)
    with open(document_path) as file:
        document = json.load(file)
    errors = list(check(document, schema, schema, "manifest"))
    print("\n".join(errors + [f"{len(errors)} errors"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
