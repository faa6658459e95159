"""Examples for models that are not of language, in the forms that arrays have.

usage: make_arrays.py FOLDER"""
import json
import pathlib
import struct
import sys

import numpy

folder = pathlib.Path(sys.argv[1])
random = numpy.random.default_rng(1)


def save(path, array):
    path = folder / path
    path.parent.mkdir(parents=True, exist_ok=True)
    numpy.save(path, array)


def save_tensors(path, arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        code = {"float32": "F32", "int32": "I32"}[array.dtype.name]
        end = len(data) + array.nbytes
        header[name] = {"dtype": code, "shape": list(array.shape),
                        "data_offsets": [len(data), end]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    (folder / path).write_bytes(struct.pack("<Q", len(text)) + text + data)


# A smooth function of four numbers, which fp16 holds.
x = random.standard_normal((200, 4)).astype("f2").astype("f4")
y = numpy.tanh(x @ [[0.5], [-1], [0.3], [0.8]]).astype("f2").astype("f4")
save("x.npy", x)
save("y.npy", y)
for part in range(4):
    rows = slice(50 * part, 50 * part + 50)
    save(f"parts/{part}/x.npy", x[rows].astype("f8"))
    save(f"parts/{part}/y.npy", y[rows].astype("f8"))
save("parts/3/z.npy", y)
(folder / "parts/README").write_text("What is here.\n")
save_tensors("all.safetensors", {"x": x, "y": y, "z": y})
save("runs.npy", x.reshape(25, 8, 4).transpose(0, 2, 1))
save("runs_y.npy", y.reshape(25, 8, 1).transpose(0, 2, 1))

# A bright row for each of eight classes.
labels = random.integers(0, 8, 300)
images = random.integers(0, 3, (300, 1, 8, 8)).astype("u1")
images[numpy.arange(300), 0, labels] += 3
save("images.npy", images)
save("flat.npy", (images.reshape(300, 64) / 4).astype("f4"))
save("labels.npy", labels)

# Two views of a hidden vector.
hidden = random.standard_normal((160, 6))
for name, width in ("a", 12), ("b", 8):
    view = hidden @ random.standard_normal((6, width))
    save(f"pairs/{name}.npy", view.astype("f4"))

tokens = random.integers(0, 256, (5, 17)).astype("i8")
save("windows/tokens.npy", tokens[:, :-1])
save("windows/targets.npy", tokens[:, 1:])
save("more/tokens.npy", tokens[:, :-1] + 255)
