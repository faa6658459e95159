"""Checks two checkpoints of a run of adapters.tdsl: they have the adapters alone,
which change, and the optimizer has state of these alone.

usage: frozen.py EARLY LATE"""
import json
import pathlib
import struct
import sys


def arrays(path):
    data = pathlib.Path(path).read_bytes()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return {name: data[8 + size + entry["data_offsets"][0]:
                       8 + size + entry["data_offsets"][1]]
            for name, entry in header.items()}


early, late = (arrays(f"{folder}/weights.safetensors") for folder in sys.argv[1:])
trained = {f"block.{i}.{name}" for i in (0, 1) for name in "ab"}
assert set(early) == set(late) == trained, set(early)
for name in early:
    assert early[name] != late[name], name
state = json.loads(pathlib.Path(sys.argv[2], "state.json").read_text())
assert len(state["base"]) == 64, state
moments = arrays(f"{sys.argv[2]}/optimizer.safetensors")
assert set(moments) == {f"{name}.{m}" for name in trained for m in "mv"}, moments
