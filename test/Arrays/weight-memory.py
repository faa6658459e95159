"""Bakes a .safetensors file much larger than LIMIT into a package and into a
kernel, and fails when anec holds more than LIMIT bytes at once.

usage: weight-memory.py ANEC
"""

import json
import os
import resource
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../Shell"))
import memory

LAYERS, WIDTH = 24, 1448  # 4 MB each
LIMIT = 64 << 20

PACKAGE = f"""layer f(x: fp16[{WIDTH}, 16]) -> fp16[{WIDTH}, 16] {{
  weight w: fp16[{WIDTH}, {WIDTH}];
  return tanh(w @ x);
}}
model m(x: fp16[{WIDTH}, 16]) -> fp32 {{
  repeat i in 0..{LAYERS} {{ x = f[i](x); }}
  return mean(cast(x, fp32), axes = [0, 1]);
}}
"""


def kernel():
    text = f"kernel k(x0: fp16[{WIDTH}, 16]) -> fp16[{WIDTH}, 16] {{\n"
    for i in range(LAYERS):
        text += (f"  weight w{i}: fp16[{WIDTH}, {WIDTH}];\n"
                 f"  x{i + 1} = w{i} @ x{i};\n")
    return text + f"  return x{LAYERS};\n}}\n"


def write_weights(path, name):
    size = WIDTH * WIDTH * 2
    header = json.dumps({name.format(i): {
        "dtype": "F16", "shape": [WIDTH, WIDTH],
        "data_offsets": [i * size, (i + 1) * size]} for i in range(LAYERS)})
    header += " " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header.encode())
        for i in range(LAYERS):
            file.write(struct.pack("<e", i / 7) * (WIDTH * WIDTH))


def main():
    for text, name, flags, output in [
            (PACKAGE, "f.{}.w", ["--weight-mode=baked", "--forward-only"],
             "m.anepkg"),
            (kernel(), "k.w{}", [], "k.mil")]:
        with open("m.tdsl", "w") as file:
            file.write(text)
        write_weights("m.safetensors", name)
        subprocess.run([sys.argv[1], "m.tdsl", "--weights=m.safetensors",
                        "-o", output] + flags, check=True)
        peak = memory.peak(resource.getrusage(resource.RUSAGE_CHILDREN))
        print(f"{output}: {peak / 1e6:.0f} MB at most")
        if peak > LIMIT:
            sys.exit(1)


main()
