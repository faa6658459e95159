"""The emulated engines against what is published of the real ones.

    emulation.py FOLDER

Published are results of single sums (the fingerprints by which chips are told
apart), and the largest errors of activations over their range.
"""

import pathlib
import subprocess
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
failures = 0


def check(what, ok, seen):
    global failures
    if not ok:
        failures += 1
        print(f"FAIL {what}: {seen}")
    else:
        print(f"ok {what}")


def run(body, inputs, numerics, flags=()):
    """Runs the IR ops `body`, from `inputs` (name -> array) to %y."""
    parameters = ", ".join(
        f"%{name}: fp16{list(array.shape)}" for name, array in inputs.items()
    )
    result = body.rsplit(" : ", 1)[1].strip()
    (folder / "k.ir").write_text(
        f"kernel @k({parameters}) -> (%y: {result}) {{\n{body}\n  return %y\n}}\n"
    )
    subprocess.run(
        ["anec", folder / "k.ir", "--passes=", "-o", folder / "k.mil"], check=True
    )
    command = ["ane-run", folder / "k.mil", f"--numerics={numerics}", *flags]
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array.astype(np.float16))
        command += ["--input", f"{name}={folder / name}.npy"]
    done = subprocess.run(
        command + ["--output-dir", folder], check=True, capture_output=True, text=True
    )
    return np.load(folder / "y.npy").astype(np.float64), done.stdout


def dot(x, w, numerics, flags=()):
    x, w = np.array(x, float), np.array(w, float)
    y, text = run(
        "  %y = matmul(%x, %w) : fp16[1, 1]",
        {"x": x.reshape(1, -1), "w": w.reshape(-1, 1)},
        numerics,
        flags,
    )
    return (y[0, 0], text) if flags else y[0, 0]


# Sums of products.
for numerics, expected in {"m1": 5116, "m2": 5120, "m3": 5120, "m4": 5120}.items():
    seen = dot([4096] + [1] * 1024, [1] * 1025, numerics)
    check(f"{numerics}: 4096 + 1024 x 1 = {expected}", seen == expected, seen)
for numerics, expected in {"m4": np.inf, "m3": 0, "m2": np.inf, "m1": 16384}.items():
    seen = dot([16384, 16384, -16384], [1, 1, 1], numerics)
    check(f"{numerics}: 16384 + 16384 - 16384 = {expected}", seen == expected, seen)
seen = dot([-16384, -16384, 16384], [1, 1, 1], "m4")
check("m4: -16384 - 16384 + 16384 = -inf", seen == -np.inf, seen)
check("m4: 32752 can be held", dot([16376, 16376], [1, 1], "m4") == 32752, "")

# Sums in which one becomes two: a tie between fp16 numbers.
add = "  %y = add(%x, %w) : fp16[1]"
for numerics, expected in {"m1": 2048, "m2": 2050, "m3": 2050, "m4": 2050}.items():
    seen = run(add, {"x": np.array([2048]), "w": np.array([1])}, numerics)[0][0]
    check(f"{numerics}: 2048 + 1 = {expected}", seen == expected, seen)

# Small products vanish; on the M4, by their exponents (-9 and -8 add up to -17,
# whatever the rest of the number).
tiny = 2.0**-20
for numerics in ("m1", "m3", "m4"):
    seen = dot([tiny] * 8, [1] * 8, numerics)
    check(f"{numerics}: denormal products vanish", seen == 0, seen)
seen = dot([1.999 * 2.0**-9], [1.999 * 2.0**-8], "m4")
check("m4: exponents of -17 vanish", seen == 0, seen)
seen = dot([2.0**-8], [2.0**-8], "m4")
check("m4: exponents of -16 do not", seen == 2.0**-16, seen)
seen = dot([2.0**-8], [2.0**-8], "m3")
check("m3: products below 2^-14 vanish", seen == 0, seen)
seen = dot([2.0**-7], [2.0**-7], "m3")
check("m3: 2^-14 does not", seen == 2.0**-14, seen)

# The M2 Max, as measured: with 1 on the left, nothing below 2^-17 is left, then
# come multiples of 2^-16; 375 products of the greatest subnormal number are 4 * 375
# of them, where the exact sum is 1498.5.
unit = 2.0**-16
for value, expected in {0.496: 0, 0.5: 1, 1.4375: 1, 1.5: 2, 7.49: 7, 64.5: 65}.items():
    seen = dot([1], [value * unit], "m2")
    check(f"m2: {value} * 2^-16 is {expected}", seen == expected * unit, seen / unit)
    seen = dot([-(2.0**-8)], [value * 2.0**-8], "m2")
    check(f"m2: so is a product of small numbers", seen == -expected * unit, seen / unit)
seen = dot([1] * 375, [1023 * 2.0**-24] * 375, "m2")
check("m2: 375 subnormal numbers", seen == np.float16(0.02288818), seen)
# Infinity comes near 32759: what rounds to 2^15 is infinite.
for low, expected in {7: 32752, 7.99: 32752, 8: np.inf}.items():
    for sign in (1, -1):
        seen = dot([sign * 32752, low], [1, sign], "m2")
        check(f"m2: 32752 + {low} is {expected}", seen == sign * expected, seen)
check("m4: 32760 is rounded", dot([32752, 8], [1, 1], "m4") == 32768, "")

# A convolution is the same sum.
seen = run(
    '  %w4 = reshape(%w) {shape = [1, 3, 1, 1]} : fp16[1, 3, 1, 1]\n'
    "  %y = conv(%x, %w4) : fp16[1, 1, 1, 1]",
    {"x": np.array([16384, 16384, -16384]).reshape(1, 3, 1, 1), "w": np.ones(3)},
    "m4",
)[0].item()
check("m4: a convolution's sum", seen == np.inf, seen)

# Random products, transposed and batched, against the published recipe written
# down naively.
def away(value, unit):
    steps = abs(value) / unit
    return np.copysign(np.floor(steps + 0.5) * unit, value)


def exponent(value):
    return max(int(np.floor(np.log2(abs(value)))), -14) if value else -14


def m4_sum(x, w):
    total, beyond = 0.0, 0
    for a, b in zip(x, w):
        if exponent(a) + exponent(b) > -17:
            total += away(a * b, 2.0**-16)
        if not beyond and abs(total) >= 32768:
            beyond = np.copysign(np.inf, total)
    if beyond:
        return beyond
    return away(total, 2.0 ** (exponent(total) - 10)) if total else 0.0


def m2_sum(x, w):
    total, beyond = 0, 0
    for a, b in zip(x, w):
        units = abs(a * b) * 65536
        total += int(np.copysign(int(units + 0.5), a * b))  # in whole units
        beyond = beyond or (abs(total) >= 2**31 and np.copysign(np.inf, total))
    if beyond or not total:
        return beyond or 0.0
    result = away(total / 65536, 2.0 ** (exponent(total / 65536) - 10))
    return result if abs(result) < 32768 else np.copysign(np.inf, result)


def m1_sum(x, w):
    total = np.float32(0)
    for start in range(0, len(x), 4):
        four = np.float16(0)
        for a, b in zip(x[start : start + 4], w[start : start + 4]):
            if abs(a * b) >= 2.0**-14:
                four = np.float16(np.float64(four) + a * b)
        total = np.clip(np.float32(total + np.float32(four)), -32768, 32768)
    return np.float64(np.float16(total))


random = np.random.default_rng(1)
for scale in (1e-3, 1, 60, 150):
    x = (random.standard_normal((2, 9, 5)) * scale).astype(np.float16)
    w = (random.standard_normal((2, 7, 9)) * scale).astype(np.float16)
    for numerics, rule in (("m4", m4_sum), ("m2", m2_sum), ("m1", m1_sum)):
        y, _ = run(
            "  %y = matmul(%x, %w) {transpose_x = true, transpose_y = true} : fp16[2, 5, 7]",
            {"x": x, "w": w},
            numerics,
        )
        expected = [
            [
                [rule(x[b, :, i].astype(float), w[b, j].astype(float)) for j in range(7)]
                for i in range(5)
            ]
            for b in range(2)
        ]
        check(f"{numerics}: random products of {scale}", np.array_equal(y, expected), y)

# Of products of random numbers from -1 to 1, the M2 Max computed 93.8 to 93.9 % as
# fp32 does after rounding, in nine runs with 128 and 375 products to a sum.
for count in (128, 375):
    x = random.uniform(-1, 1, (100, count)).astype(np.float16)
    w = random.uniform(-1, 1, (count, 100)).astype(np.float16)
    y, _ = run("  %y = matmul(%x, %w) : fp16[100, 100]", {"x": x, "w": w}, "m2")
    single = (x.astype(np.float32) @ w.astype(np.float32)).astype(np.float16)
    equal = np.mean(y == single)
    check("m2: 93.8 % as fp32", abs(equal - 0.938) < 0.01, equal)

# Elementwise: beyond 65504 is infinity, and NaN too.
seen = run(add, {"x": np.array([65504]), "w": np.array([32])}, "m4")[0][0]
check("m4: 65504 + 32 = inf", seen == np.inf, seen)
seen = run(add, {"x": np.array([np.nan]), "w": np.array([1])}, "m4")[0][0]
check("m4: nan + 1 = inf", seen == np.inf, seen)

# Sums over an axis are narrow: each partial sum is fp16.
ones = np.ones((1, 4096))
body = "  %y = reduce_sum(%x) {axes = [1], keep_dims = true} : fp16[1, 1]"
seen = run(body, {"x": ones[:, :2048]}, "m1")[0].item()
check("m1: 2048 ones add up", seen == 2048, seen)
seen = run(body, {"x": ones}, "m1")[0].item()
check("m1: further ones are lost", seen == 2048, seen)
seen = dot(ones[0], ones[0], "m1")
check("m1: a product with ones adds them all", seen == 4096, seen)

# Slices of the last axis are limited on the M1, and only there.
body = "  %y = slice_by_size(%x) {begin = [1], size = [2]} : fp16[2]"
x = {"x": np.array([1, 5000, -6000])}
check("m1: slices are limited", list(run(body, x, "m1")[0]) == [4094, -4094], "")
check("m2: so are they", list(run(body, x, "m2")[0]) == [4094, -4094], "")
check("m4: they are not", list(run(body, x, "m4")[0]) == [5000, -6000], "")

# Activations: no worse than published, and no better than half of that.
from math import erf

exact_erf = np.vectorize(erf)
activations = {
    "sigmoid": (-8, 8, 3.4e-3, lambda x: 1 / (1 + np.exp(-x)), ""),
    "tanh": (-4, 4, 1.6e-3, np.tanh, ""),
    "erf": (-2, 2, 8.6e-4, exact_erf, ""),
    "gelu": (-4, 4, 6.2e-3, lambda x: x / 2 * (1 + exact_erf(x / 2**0.5)), ' {mode = "EXACT"}'),
    "silu": (-8, 8, 1.6e-2, lambda x: x / (1 + np.exp(-x)), ""),
}
for name, (low, high, published, exact, constants) in activations.items():
    x = np.linspace(low, high, 4001).astype(np.float16).astype(np.float64)
    y, _ = run(f"  %y = {name}(%x){constants} : fp16[4001]", {"x": x}, "m4")
    # What rounding the result to fp16 adds is not the table's.
    error = (np.abs(y - exact(x)) - np.spacing(np.abs(y).astype(np.float16)) / 2).max()
    check(f"m4: {name} is {error:.2g} off", published / 2 < error <= published * 1.005, error)
x = np.linspace(-9, 10, 4001).astype(np.float16).astype(np.float64)
y, _ = run("  %y = exp(%x) : fp16[4001]", {"x": x}, "m4")
error = (np.abs(y - np.exp(x)) / np.spacing(np.exp(x).astype(np.float16))).max()
check(f"m4: exp is {error:.1f} ulp off", 2 < error <= 9.1, error)
gelu = run('  %y = gelu(%x) {mode = "EXACT"} : fp16[1]', {"x": np.zeros(1)}, "m4")[0][0]
check("m4: gelu(0) is not 0", gelu == np.float16(-0.000754), gelu)

# The exponential inside of these ops is limited: beyond, they are 0.
x = {"x": np.array([-20, 0, 10, 10.39, 10.41, 11, 20, 60000])}
for numerics in ("m1", "m2", "m3", "m4"):
    y = run("  %y = softplus(%x) : fp16[8]", x, numerics)[0]
    right = abs(y[1:4] - np.log1p(np.exp(x["x"][1:4]))).max() < 0.01 and y[0] < 1e-6
    check(f"{numerics}: softplus up to 10.4", right and not y[4:].any(), y)
    body = "  %y = reduce_log_sum_exp(%x) {axes = [0]} : fp16[4]"
    y = run(body, {"x": np.tile([1, 7.61, 7.64, 20], (32, 1))}, numerics)[0]
    right = abs(y[:2] - [1 + np.log(32), 7.61 + np.log(32)]).max() < 0.01
    check(f"{numerics}: log(sum(exp)) of 32 up to 7.63", right and not y[2:].any(), y)
    # A mask of -65504 hides a row of low scores so that none is greatest.
    body = ("  %s = add(%x, %m) : fp16[2, 2]\n"
            "  %y = softmax(%s) {axis = 1} : fp16[2, 2]")
    scores = {"x": np.array([[1, -40], [-40, -40]]), "m": np.full((2, 2), -65504)}
    y, text = run(body, scores, numerics, ["--report-hazards"])
    check(f"{numerics}: a hidden row", np.array_equal(y, [[1, 0], [np.inf] * 2]), y)
    check(f"{numerics}: it is reported", "softmax" in text, text)

# Hazards are counted by op.
_, text = dot([16384, 16384, -16384, tiny], [1, 1, 1, 1], "m4", ["--report-hazards"])
check(
    "hazards are listed",
    "matmul y: fp16[1, 1]\n    1 results with a partial sum of 2^15 or more\n"
    "    1 products taken for zero\n" in text,
    text,
)
_, text = dot([1], [1], "m4", ["--report-hazards"])
check("or there are none", "hazards (counted, in emulation): none\n" in text, text)

sys.exit(1 if failures else 0)
