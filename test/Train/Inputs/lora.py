"""Helps lora.test.

usage: lora.py text FILE        writes plain.txt and cipher.txt, its letters rotated
       lora.py learned A B      run B begins as run A did, and learns
       lora.py small BASE RUN   checkpoint RUN has adapters alone, a small file
       lora.py without ARRAY RUN FILE
                                FILE is checkpoint RUN without an array
       lora.py merged BASE ADAPTER MERGED OUT OUT
                                MERGED is BASE + 2 * b @ a, and the losses agree"""
import codecs
import json
import pathlib
import struct
import sys

try:
    import numpy
except ImportError:
    numpy = None


def arrays(path):
    path = pathlib.Path(path)
    data = (path / "weights.safetensors" if path.is_dir() else path).read_bytes()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    about = header.pop("__metadata__", {})
    return about, {name: (entry["shape"], data[8 + size + entry["data_offsets"][0]:
                                               8 + size + entry["data_offsets"][1]])
                   for name, entry in header.items()}


def losses(folder):
    return [json.loads(line)["loss"] for line in open(folder + "/train.jsonl")]


def text(path):
    plain = pathlib.Path(path).read_text()
    pathlib.Path("plain.txt").write_text(plain)
    pathlib.Path("cipher.txt").write_text(codecs.encode(plain, "rot13"))


def learned(first, run):
    before, after = losses(first), losses(run)
    assert before[0] == after[0], (before[0], after[0])
    assert sum(after[-8:]) / 8 < after[0] - 0.5, (after[0], after[-8:])


def small(base, run):
    _, whole = arrays(base)
    about, adapter = arrays(run)
    assert about["lora_scale"] == "2" and len(about["base_blake3"]) == 64, about
    assert set(adapter) == {f"block.{i}.{w}_lora_{m}" for i in (0, 1)
                            for w in ("w1", "w2") for m in "ab"}, set(adapter)
    assert not set(adapter) & set(whole)
    _, moments = arrays(run + "/optimizer.safetensors")
    assert set(moments) == {f"{name}.{m}" for name in adapter for m in "mv"}


def without(array, run, path):
    about, adapter = arrays(run)
    del adapter[array]
    header, data = {"__metadata__": about}, b""
    for name, (shape, part) in adapter.items():
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    head = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(head)) + head + data)


def merged(base, adapter, result, left, right):
    _, whole = arrays(base)
    _, adapter = arrays(adapter)
    _, result = arrays(result)
    assert set(result) == set(whole)
    if not numpy:
        return
    def array(of, name):
        shape, data = of[name]
        return numpy.frombuffer(data, "<f4").reshape(shape).astype("f8")
    for name in whole:
        wanted = array(whole, name)
        if name + "_lora_a" in adapter:
            # As the kernels have them: the program declares them as fp16.
            b, a = (array(adapter, f"{name}_lora_{part}").astype("f2").astype("f8")
                    for part in "ba")
            wanted = wanted + 2 * b @ a
            assert abs(wanted - array(whole, name)).max() > 1e-3, name
        error = abs(array(result, name) - wanted).max()
        assert error <= 1e-6 * max(1, abs(wanted).max()), (name, error)
    one, other = (numpy.load(next(pathlib.Path(folder).glob("output.npy")))
                  for folder in (left, right))
    assert abs(one - other) < 1e-2 * abs(other), (one, other)


globals()[sys.argv[1]](*sys.argv[2:])
