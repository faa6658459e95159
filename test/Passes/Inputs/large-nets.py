"""deep.ir: four layers, which share what 150,000 ops make of a weight. many.ir: 600 layers of
different ops, two of each."""

SHAPE = "fp32[4, 4]"
CALL = f"host @m(%x: {SHAPE}) -> (%y: {SHAPE}) {{\n  %y = call @net(%x) : {SHAPE}\n  return %y\n}}\n"


def write(name, lines, last):
    with open(name, "w") as file:
        print(f"layer @net(%x: {SHAPE}) -> (%y: {SHAPE}) {{", *lines, f"  return %{last}", "}", CALL,
              sep="\n", file=file)


def weight(name):
    return f"  %{name} = weight() {{name = \"{name}\", dtype = \"fp32\", shape = [4, 4]}} : {SHAPE}"


lines, value = [weight("s")], "s"
for number in range(150000):
    lines.append(f"  %s{number} = tanh(%{value}) : {SHAPE}")
    value = f"s{number}"
shared, value = value, "x"
for number in range(4):
    lines += [weight(f"w{number}"), f"  %m{number} = matmul(%w{number}, %{value}) : {SHAPE}",
              f"  %a{number} = add(%m{number}, %{shared}) : {SHAPE}",
              f"  %r{number} = relu(%a{number}) : {SHAPE}"]
    value = f"r{number}"
write("deep.ir", lines, value)

lines, value = [], "x"
KINDS = ["tanh", "relu", "sigmoid", "gelu", "square", "exp2"]
for number in range(600):
    for twin in "ab":
        lines += [weight(f"w{number}{twin}"),
                  f"  %m{number}{twin} = matmul(%w{number}{twin}, %{value}) : {SHAPE}"]
        value = f"m{number}{twin}"
        for step in range(10):
            kind = KINDS[number // 6 ** (step % 4) % 6]
            lines.append(f"  %v{number}{twin}{step} = {kind}(%{value}) : {SHAPE}")
            value = f"v{number}{twin}{step}"
write("many.ir", lines, value)
