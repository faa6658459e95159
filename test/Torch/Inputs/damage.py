#!/usr/bin/env python3
"""Writes damaged archives, and archives of other programs, to a folder.

  damage.py GOOD.pt2 STATE.pt2 FOLDER"""
import json
import pathlib
import struct
import sys
import zipfile


def write(path, entries, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, contents in entries:
            archive.writestr(zipfile.ZipInfo(name), contents,
                             options.get("compression", zipfile.ZIP_STORED))


def with_model(entries, change):
    """The entries with the JSON of the model changed."""
    changed = []
    for name, contents in entries:
        if name.endswith("models/model.json"):
            model = json.loads(contents)
            contents = json.dumps(change(model) or model)
        changed.append((name, contents))
    return changed


def main(good, state, folder):
    folder.mkdir(parents=True, exist_ok=True)
    contents = good.read_bytes()
    with zipfile.ZipFile(good) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    (folder / "cut.pt2").write_bytes(contents[:len(contents) * 3 // 4])
    (folder / "empty.pt2").write_bytes(b"")
    (folder / "text.pt2").write_bytes(b"no archive at all, and longer than a header of one")
    write(folder / "packed.pt2", entries, compression=zipfile.ZIP_DEFLATED)
    write(folder / "twice.pt2", entries + entries[-1:])
    write(folder / "other.pt2", [("a/b", "c")])
    write(folder / "script.pt2", [("m/constants.pkl", ""), ("m/data.pkl", "")])
    write(folder / "compiled.pt2", [("m/data/aotinductor/model/a.so", "")])
    write(folder / "json.pt2", [(name, "{" if name.endswith(".json") else text)
                                for name, text in entries])

    # A byte of a weight.
    weight = next(name for name, _ in entries if name.endswith("weights/weight_0"))
    with zipfile.ZipFile(good) as archive:
        header = archive.getinfo(weight).header_offset
    lengths = struct.unpack_from("<HH", contents, header + 26)
    damaged = bytearray(contents)
    damaged[header + 30 + sum(lengths)] ^= 1
    (folder / "weight.pt2").write_bytes(damaged)
    # The size in front of the data.
    damaged = bytearray(contents)
    damaged[header + 18] ^= 1
    (folder / "header.pt2").write_bytes(damaged)

    # Two entries that begin at the same place.
    end = contents.rfind(b"PK\5\6")
    at = struct.unpack_from("<I", contents, end + 16)[0]
    damaged = bytearray(contents)
    damaged[at] ^= 1
    (folder / "directory.pt2").write_bytes(damaged)
    size = 46 + sum(struct.unpack_from("<HHH", contents, at + 28))
    first = contents[at:at + size]
    both = contents[:end] + first + contents[end:]
    damaged = bytearray(both)
    count = struct.unpack_from("<H", contents, end + 10)[0] + 1
    struct.pack_into("<HHI", damaged, end + size + 8, count, count,
                     struct.unpack_from("<I", contents, end + 12)[0] + size)
    (folder / "overlap.pt2").write_bytes(damaged)

    def schema(model):
        model["schema_version"]["major"] = 9

    def operator(model):
        node = model["graph_module"]["graph"]["nodes"][-1]
        node["target"] = "torch.ops.aten.rand_like.default"

    def unknown(model):
        node = model["graph_module"]["graph"]["nodes"][-1]
        node["target"] = "torch.ops.mine.own.default"

    def argument(model):
        node = model["graph_module"]["graph"]["nodes"][-1]
        node["inputs"].append({"name": "other", "arg": {"as_int": 3}, "kind": 1})

    def repeats(model):
        node = model["graph_module"]["graph"]["nodes"][-1]
        node["target"] = "torch.ops.aten.repeat.default"
        node["inputs"] = [{**node["inputs"][0], "name": "self"},
                          {"name": "repeats", "arg": {"as_ints": [0, -3]}, "kind": 1}]

    def shape(model):
        values = model["graph_module"]["graph"]["tensor_values"]
        last = model["graph_module"]["graph"]["nodes"][-1]["outputs"][0]
        values[last["as_tensor"]["name"]]["sizes"][0] = {"as_int": 77}

    def number(model):
        del model["graph_module"]["graph"]["tensor_values"]["input"]

    def output(model):
        model["graph_module"]["graph"]["outputs"][0]["as_tensor"]["name"] = "none"

    for name, change in (("number", number), ("output", output), ("schema", schema), ("operator", operator), ("unknown", unknown),
                         ("argument", argument), ("repeats", repeats), ("shape", shape)):
        write(folder / f"{name}.pt2", with_model(entries, change))


    # A buffer that the model writes, and that is not a number when it begins.
    with zipfile.ZipFile(state) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    write(folder / "state.pt2",
          [(name, b"\0\0\x80\x7f" * (len(text) // 4) if is_zero(name, text) else text)
           for name, text in entries])
    # Two buffers of one storage.
    write(folder / "shared.pt2", [(name, share(text) if "weights_config" in name else text)
                                  for name, text in entries])


def share(text):
    config = json.loads(text)
    config["config"]["k"]["path_name"] = config["config"]["v"]["path_name"]
    return json.dumps(config)


def is_zero(name, text):
    return "/weights/weight_" in name and not any(text)


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
