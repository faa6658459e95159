"""Compiles programs of growing size, and fails when four times the size takes
more than LIMIT times as long. Linear growth is 4, quadratic 16.

usage: growth.py ANEC
"""

import resource
import subprocess
import sys

LIMIT = 12.0


def layers(count):
    """A model of `count` different layers."""
    text = "".join(
        f"layer l{i}(x: fp16[8, 16]) -> fp16[8, 16] {{ weight g: fp16[8]; "
        "weight w, v: fp16[8, 8]; h = rmsnorm(x, g); "
        f"return x + v @ (silu(w @ h) * {1 + i / 1000:.3f}); }}\n"
        for i in range(count))
    text += "model m(x0: fp16[8, 16]) -> fp32 {\n"
    text += "".join(f"  x{i + 1} = l{i}(x{i});\n" for i in range(count))
    return text + f"  return mean(cast(x{count}, fp32), axes = [0, 1]);\n}}\n"


def ops(count):
    """A model of one layer of `count` ops."""
    kinds = ["tanh({})", "{} * 0.5", "sigmoid({})", "{} + x", "silu({})"]
    text = ("layer l(x: fp16[8, 16]) -> fp16[8, 16] {\n"
            "  weight w: fp16[8, 8];\n  v0 = w @ x;\n")
    text += "".join(f"  v{i + 1} = {kinds[i % 5].format(f'v{i}')};\n"
                    for i in range(count - 1))
    return (text + f"  return v{count - 1};\n}}\nmodel m(x: fp16[8, 16]) -> "
            "fp32 { return mean(cast(l(x), fp32), axes = [0, 1]); }\n")


def unfused(count):
    """A model of `count` different layers, which are too large to be fused."""
    text = "".join(
        f"layer l{i}(x: fp16[1024, 4096]) -> fp16[1024, 4096] {{\n"
        "  weight g: fp16[1024];\n  h = rmsnorm(x, g);\n"
        f"  return x + silu(h) * {1 + i / 1000:.3f};\n}}\n"
        for i in range(count))
    text += "model m(x0: fp16[1024, 4096]) -> fp32 {\n"
    text += "".join(f"  x{i + 1} = l{i}(x{i});\n" for i in range(count))
    return text + f"  return mean(cast(x{count}, fp32), axes = [0, 1]);\n}}\n"


def instances(count):
    """A model with one layer, repeated `count` times."""
    return ("layer l(x: fp16[8, 16]) -> fp16[8, 16] { weight w: fp16[8, 8]; "
            "return tanh(w @ x); }\nmodel m(x: fp16[8, 16]) -> fp32 {\n"
            f"  repeat i in 0..{count} {{ x = l[i](x); }}\n"
            "  return mean(cast(x, fp32), axes = [0, 1]);\n}\n")


def seconds(anec, text, flags):
    """The least processor time of three runs."""
    with open("growth.tdsl", "w") as file:
        file.write(text)
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([anec, "growth.tdsl", "-o", "growth.anepkg", *flags],
                       check=True)
        times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime -
                     before)
    return min(times)


def main():
    failed = False
    for make, count, *flags in [(layers, 50), (ops, 400), (instances, 8000),
                                (unfused, 120, "--fuse=max")]:
        small = seconds(sys.argv[1], make(count), flags)
        large = seconds(sys.argv[1], make(4 * count), flags)
        print(f"{make.__name__}: {count} in {small:.2f} s, {4 * count} in "
              f"{large:.2f} s, {large / small:.1f} times as long")
        failed |= large > LIMIT * small
    sys.exit(failed)


if __name__ == "__main__":
    main()
