#!/usr/bin/env python3
"""Quantizes random kernels with anec, and compares each record with what
reference.py computes from the definitions: integers and scales bit for bit, of
palettes the inertia; and what ane-run computes with what numpy does.

usage: random_kernels.py ANEC ANE_RUN FOLDER [--count=N] [--seed=N]"""
import argparse
import json
import pathlib
import random
import subprocess
import sys

import numpy as np

import reference


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300)
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}: {command}\n"
                             f"{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def array(chance, shape, dtype):
    """A weight with some extreme rows."""
    draw = np.random.default_rng(chance.getrandbits(32))
    kind = chance.choice(["normal", "normal", "normal", "zero-row", "outlier",
                          "huge", "tiny", "constant", "few"])
    values = draw.standard_normal(shape) * chance.choice([1, 0.02, 1e-3])
    if kind == "zero-row":
        values[chance.randrange(shape[0])] = 0
    elif kind == "outlier":
        values.flat[chance.randrange(values.size)] *= 1e4
    elif kind == "huge":
        values[chance.randrange(shape[0])] *= 65504 / np.abs(values).max()
        values.flat[0] = 65504
    elif kind == "tiny":
        values[chance.randrange(shape[0])] *= 2.0 ** -22
    elif kind == "constant":
        values[:] = chance.choice([0, 1, -0.3])
    elif kind == "few":
        values = draw.choice([-0.5, 0.0, 0.25, 0.125, 2.0], shape)
    return values.astype(dtype)


def divisor(chance, extent):
    return chance.choice([d for d in range(1, extent + 1) if extent % d == 0])


class Case:
    """A chain of products, each with a weight of its own."""

    def __init__(self, chance):
        self.dtype = chance.choice(["fp16", "fp16", "fp32"])
        self.form = chance.choice(["int8", "int4", "lut4", "lut6"])
        self.old = chance.random() < 0.25
        columns, extent = chance.randint(1, 40), chance.randint(1, 70)
        self.rows, self.columns = extent, columns
        numpy_type = np.float16 if self.dtype == "fp16" else np.float32
        self.weights, lines, declared, value = {}, [], [], "x"
        for number in range(chance.randint(1, 3)):
            name, kind = f"w{number}", chance.choice(["left", "left", "right"])
            least = -(-2048 // (extent if kind == "left" else columns))
            to = max(least, chance.randint(1, 90))
            if kind == "left":
                shape = (to, extent)
                value, extent = f"{name} @ ({value})", to
            else:
                shape = (columns, to)
                value, columns = f"({value}) @ {name}", to
            self.weights[name] = array(chance, shape, numpy_type)
            declared.append(f"  weight {name}: {self.dtype}[{shape[0]}, {shape[1]}];")
        self.text = "\n".join(
            [f"kernel k(x: {self.dtype}[{self.rows}, {self.columns}]) -> "
             f"{self.dtype}[{extent}, {columns}] {{", *declared,
             f"  return {value};", "}", ""])
        self.granularity = chance.choice(["", "per-tensor", "per-channel"])
        if self.old:
            self.form = chance.choice(["int8", "lut4", "lut6"])
            self.granularity = chance.choice(["", "per-tensor"])
            if self.form == "int8":
                self.granularity = chance.choice(["", "per-tensor", "per-channel"])
        elif chance.random() < 0.3:
            self.granularity = f"group={chance.choice([1, 2, 4, 8, 32])}"

    def flag(self):
        return self.form + (":" + self.granularity if self.granularity else "")

    def full(self):
        fallback = "per-tensor" if self.form.startswith("lut") else "per-channel"
        return self.granularity or fallback


def matching(dense, weights, tolerance):
    """The weight that a dense array is of, in its layout."""
    for name, weight in weights.items():
        wide = weight.astype(np.float64)
        for view in (wide, wide.T):
            if view.size != dense.size:
                continue
            candidate = view.reshape(dense.shape) \
                if [n for n in dense.shape if n > 1] == \
                   [n for n in view.shape if n > 1] else None
            if candidate is None:
                continue
            norm = np.linalg.norm(wide)
            if np.linalg.norm(candidate - dense) <= tolerance * norm:
                yield name, candidate


def compare(case, op, operands, row):
    """Compares one weight; returns its name."""
    numpy_type = np.float16 if case.dtype == "fp16" else np.float32
    dense = reference.dequantized(op, operands, numpy_type).astype(np.float64)
    problems = []
    for name, original in matching(dense, case.weights, 1.0 + 1e-9):
        for outputs, inputs in axes(original.shape):
            problem = differs(case, op, operands, original, outputs, inputs,
                              numpy_type, dense, row)
            if problem is None:
                return name
            problems.append(problem)
    raise AssertionError(f"{op}: no weight fits: {problems}")


def axes(shape):
    if len(shape) == 4 and shape[2:] == (1, 1):
        return [(0, 1)]
    rank = len(shape)
    return [(rank - 2, rank - 1), (rank - 1, rank - 2)]


def differs(case, op, operands, original, outputs, inputs, numpy_type, dense,
            row):
    """None when the operands are those of `original`."""
    blocks = reference.blocks_of(original.shape, outputs, inputs, case.form,
                                 case.full())
    is_palette = case.form.startswith("lut")
    table = operands["lut" if is_palette else "scale"][1]
    if is_palette:
        entries = 1 << reference.BITS[case.form]
        if table.size != entries * int(np.prod(blocks)):
            return "palettes of another shape"
        table = table.reshape(*blocks, entries)
    else:
        if table.size != int(np.prod(blocks)):
            return "scales of another shape"
        table = table.reshape(blocks)
        data = operands["data" if "data" in operands else "quantized_data"][1]
    for index, part in reference.each_block(original.shape, blocks):
        values = original[part].ravel()
        if not is_palette:
            scale, numbers = reference.quantize_linear(values, case.form,
                                                       numpy_type)
            if table[index] != scale:
                return f"scale {table[index]} at {index}, not {scale}"
            if not np.array_equal(data[part].ravel(), numbers):
                return f"integers at {index}"
            continue
        palette = table[index]
        if np.any(np.diff(palette) < 0):
            return "a palette does not ascend"
        ours = float(((dense[part].ravel() - values) ** 2).sum())
        if ours > reference.inertia(values, palette) * (1 + 1e-9):
            return "an index is not that of the nearest entry"
        # Entries are rounded: so is the other palette.
        best = reference.lloyd(values, len(palette), 1)
        theirs = reference.inertia(
            values, best[1].astype(numpy_type).astype(np.float64))
        digits = 11 if numpy_type == np.float16 else 24
        slack = len(values) * (np.abs(values).max() * 2.0 ** -digits) ** 2
        if ours > theirs * (1 + 1e-6) + slack:
            return f"inertia {ours}, and k-means has {theirs}"
        if len(values) <= 120:
            least = reference.exact(values, len(palette))
            if ours > least * (1 + 1e-6) + slack:
                return f"inertia {ours}, and the least is {least}"
    error = np.linalg.norm(dense - original)
    norm = np.linalg.norm(original)
    relative = error / norm if norm else 0.0
    if abs(row["relative_error"] - relative) > 1e-9 + 1e-6 * relative:
        return f"reported error {row['relative_error']}, not {relative}"
    return None


def check(chance, anec, ane_run, folder):
    case = Case(chance)
    folder.mkdir(parents=True, exist_ok=True)
    source, out = folder / "k.tdsl", folder / "out" / "k.mil"
    source.write_text(case.text)
    reference.write_safetensors(
        folder / "w.safetensors",
        {f"k.{name}": values for name, values in case.weights.items()})
    command = [anec, source, f"--weights={folder / 'w.safetensors'}",
               f"--quantize={case.flag()}", "-o", out,
               f"--quantize-report={folder / 'report.json'}"]
    if case.old:
        command.append("--mil-version=1.0")
    if case.granularity.startswith("group="):
        # Groups that divide no weight's axis are an error.
        done = subprocess.run([str(w) for w in command], text=True,
                              stderr=subprocess.PIPE)
        if done.returncode == 1 and "[group-size]" in done.stderr:
            return "refused"
        assert done.returncode == 0, done.stderr
    else:
        run(*command)
    found = reference.read_quantized(out)
    report = json.loads((folder / "report.json").read_text())
    rows = {row["name"]: row for row in report["weights"]}
    assert len(found) == len(case.weights) == len(rows), \
        f"{len(found)} ops, {len(rows)} rows, {len(case.weights)} weights"
    numpy_type = np.float16 if case.dtype == "fp16" else np.float32
    for op, name, operands in found:
        candidates = [r for r in rows.values()]
        errors = []
        for row in candidates:
            only = {n: w for n, w in case.weights.items()
                    if row["name"].endswith(n)}
            saved, case.weights = case.weights, only
            try:
                compare(case, op, operands, row)
                break
            except AssertionError as error:
                errors.append(str(error))
            finally:
                case.weights = saved
        else:
            raise AssertionError(f"{op} {name}: {errors}")
    # What is written, run and read again.
    values = np.random.default_rng(1).standard_normal(
        (case.rows, case.columns)).astype(numpy_type)
    np.save(folder / "x.npy", values)
    run(ane_run, out, "--input", f"x={folder / 'x.npy'}", "--compare",
        "--numerics=fp32")
    again = folder / "again.mil"
    run(anec, out, "-o", again)
    texts = [(op, {k: v[1].tobytes() for k, v in operands.items()})
             for op, _, operands in found]
    assert texts == [(op, {k: v[1].tobytes() for k, v in operands.items()})
                     for op, _, operands in reference.read_quantized(again)], \
        "reading and printing changes the operands"
    return "checked"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anec")
    parser.add_argument("ane_run")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    flags = parser.parse_args()
    counts = {}
    for seed in range(flags.seed, flags.seed + flags.count):
        try:
            result = check(random.Random(seed), flags.anec, flags.ane_run,
                           flags.folder / str(seed))
        except AssertionError as error:
            print(f"seed {seed}: {error}")
            return 1
        counts[result] = counts.get(result, 0) + 1
    print(", ".join(f"{count} {result}" for result, count in
                    sorted(counts.items())))
    return 0


sys.exit(main())
