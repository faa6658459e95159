"""repeated-nets.py ANEC SEED COUNT: random networks of parts that repeat, perhaps with other
arguments, constants, shared weights or values that skip parts, whose layers are found.
--verify-numerics compares each with itself before, on random inputs. A network that fails is
made smaller, and printed."""
import pathlib
import random
import subprocess
import sys

SHAPE = "fp32[4, 8]"
UNARY = ["gelu", "tanh", "relu", "sigmoid", "exp2", "square"]


def network(draw, name):
    """A layer that a model calls: a list of (result, text), and the result."""
    plan = []  # What each op of a part does, and what its operands are.
    values = draw.randint(1, 2)  # Carried from part to part.
    for _ in range(draw.randint(3, 8)):
        plan.append((draw.choice(["matmul", "matmul", "unary", "binary", "binary", "shared", "constant",
                                  "late"]),
                     draw.choice(UNARY), draw.choice(["add", "mul", "sub", "maximum"]),
                     [draw.random() for _ in range(2)]))
    parts, same = draw.randint(2, 5), draw.random() < 0.7
    lines, carried, before = [], ["x"] * values, []
    lines.append("  %shared = weight() {name = \"" + name
                 + ".shared\", dtype = \"fp32\", shape = [4, 4]} : fp32[4, 4]")
    lines.append(f"  %side = sign(%x) : {SHAPE}")
    for part in range(parts):
        own = list(carried)
        for step, (kind, unary, binary, where) in enumerate(plan):
            if not same and draw.random() < 0.08:
                unary = draw.choice(UNARY)
            result = f"v{part}_{step}"
            left = own[int(where[0] * len(own))]
            right = own[int(where[1] * len(own))]
            if kind == "matmul":
                lines.append(f"  %w{part}_{step} = weight() {{name = \"{name}.{part}.w{step}\", "
                             "dtype = \"fp32\", shape = [4, 4]} : fp32[4, 4]")
                lines.append(f"  %{result} = matmul(%w{part}_{step}, %{left}) : {SHAPE}")
            elif kind == "unary":
                lines.append(f"  %{result} = {unary}(%{left}) : {SHAPE}")
            elif kind == "binary":
                lines.append(f"  %{result} = {binary}(%{left}, %{right}) : {SHAPE}")
            elif kind == "shared":
                lines.append(f"  %{result} = matmul(%shared, %{left}) : {SHAPE}")
            elif kind == "constant":
                number = 0.5 if where[1] < 0.5 else 0.5 + part
                lines.append(f"  %c{part}_{step} = const() {{val = fp32({number})}} : fp32")
                lines.append(f"  %{result} = mul(%{left}, %c{part}_{step}) : {SHAPE}")
            else:  # Something from outside of the part, or from one far before.
                other = draw.choice(before) if before and where[1] < 0.3 else "side"
                lines.append(f"  %{result} = {binary}(%{left}, %{other}) : {SHAPE}")
            own.append(result)
        carried = own[-values:]
        before += own[-2:]
    last = carried[-1]
    if draw.random() < 0.3:
        lines.append(f"  %last = add(%{last}, %{draw.choice(before)}) : {SHAPE}")
        last = "last"
    return lines, last


def text(networks):
    written = []
    for name, (lines, last) in networks.items():
        written += [f"layer @{name}(%x: {SHAPE}) -> (%y: {SHAPE}) {{", *lines,
                    f"  return %{last}", "}", "",
                    f"host @m_{name}(%x: {SHAPE}) -> (%y: {SHAPE}) {{",
                    f"  %y = call @{name}(%x) : {SHAPE}", "  return %y", "}", ""]
    return "\n".join(written)


def fails(anec, networks):
    pathlib.Path("nets.ir").write_text(text(networks))
    done = subprocess.run([anec, "nets.ir", "--passes=find-layers,dce", "--verify-numerics",
                           "--emit=ir", "--stats", "-o", "found.ir"], capture_output=True, text=True)
    return done.stderr if done.returncode else "", done.stderr


def smaller(anec, name, net):
    """A network that fails as well, without lines that it does not need."""
    lines, last = net
    for at in reversed(range(len(lines))):
        fewer = lines[:at] + lines[at + 1:]
        defined = {line.split()[0] for line in fewer}
        used = {word.strip("(),") for line in fewer for word in line.split()[2:]
                if "%" in word} | {"%" + last}
        used = {"%" + part.split(",")[0].strip("()") for word in used for part in word.split("%")[1:]}
        if used <= defined | {"%x"} and "result" in fails(anec, {name: (fewer, last)})[0]:
            lines = fewer
    return lines, last


def main():
    anec, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    draw, found = random.Random(seed), 0
    for _ in range(0, count, 50):
        networks = {f"n{number}": network(draw, f"n{number}") for number in range(50)}
        wrong, said = fails(anec, networks)
        if wrong:
            name = next(name for name, net in networks.items() if fails(anec, {name: net})[0])
            net = smaller(anec, name, networks[name])
            print(text({name: net}), fails(anec, {name: net})[0], sep="\n")
            return 1
        found += sum(int(line.split()[0]) for line in said.splitlines()
                     if "layers found" in line)
    print(f"{count} networks, {found} layers found")
    return 0


sys.exit(main())
