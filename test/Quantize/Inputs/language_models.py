#!/usr/bin/env python3
"""Small imported models in the forms of quantized weights. Each weight is unpacked
by numpy from the files of the package, and a forward in numpy has the losses that
`ane-run evaluate` must measure. With int8 activations, numpy finds the largest
magnitudes of each input by itself. The decode package has to say what the forward
says, and `anec check` what is known of the form.

usage: language_models.py IMPORT_INPUTS FOLDER [--count=N] [--seed=N]"""
import argparse
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys

import numpy as np

import reference as quantized

sys.path.insert(0, sys.argv[1])
import model_files  # noqa: E402

FORMS = ["int8", "int4", "lut4", "lut6", "int8:per-tensor", "int4:per-tensor", "int8:group=16",
         "int4:group=8", "lut4:per-channel", "lut4:group=8", "lut6:group=16", "w8a8",
         "w8a8 --activation-scales=per-tensor", "w8a8:per-tensor --activation-margin=1"]
# Rules about unpacked weights, and the chips that `anec check` has to name them for.
CHIPS = ["m1", "m2", "m3", "m4", "m5"]
OLD = ["m1", "m2"]
SEQ = 16


def load(name, folder):
    """A module of that folder; both folders have a `reference`."""
    import importlib.util
    spec = importlib.util.spec_from_file_location(name, f"{folder}/reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


models = load("models", sys.argv[1])


def rotate(x, config):
    """As models.rotate, with cosines and sines of fp16: an error of 5e-4 before
    rounding to int8 would be one of a whole step for many elements."""
    seq, n = x.shape[1], x.shape[2]
    step = 10000.0**(-np.arange(0, n, 2) / n)
    angles = np.arange(seq)[:, None] * np.concatenate([step, step])[None, :]
    cos, sin = (np.float16(f(angles)).astype(np.float64) for f in (np.cos, np.sin))
    return x * cos + np.concatenate([-x[..., n // 2:], x[..., :n // 2]], axis=-1) * sin


def attend(q, k, v, scale, *rest, before=models.attend):
    return before(q, k, v, float(np.float16(scale)), *rest)


models.rotate, models.attend = rotate, attend


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}: {command}\n{done.stderr[-2000:]}")
    return done.stdout + done.stderr


def write_model(draw, folder):
    heads = draw.choice([2, 4])
    kv, width = draw.choice([1, 2, heads]), draw.choice([8, 16])
    dim, hidden = 16 * draw.randint(3, 5), 16 * draw.randint(3, 7)
    config = {"model_type": draw.choice(["llama", "qwen3"]), "hidden_size": dim,
              "intermediate_size": hidden, "num_hidden_layers": 2, "num_attention_heads": heads,
              "num_key_value_heads": kv, "head_dim": width, "vocab_size": draw.randint(40, 90),
              "max_position_embeddings": 64, "rms_norm_eps": 2**-13, "hidden_act": "silu",
              "tie_word_embeddings": draw.random() < 0.5, "attention_bias": False}
    vocab = config["vocab_size"]
    shapes = {"model.embed_tokens.weight": (vocab, dim), "model.norm.weight": (dim,)}
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (vocab, dim)
    for layer in range(2):
        at = f"model.layers.{layer}."
        shapes |= {at + "input_layernorm.weight": (dim,),
                   at + "post_attention_layernorm.weight": (dim,),
                   at + "self_attn.q_proj.weight": (heads * width, dim),
                   at + "self_attn.k_proj.weight": (kv * width, dim),
                   at + "self_attn.v_proj.weight": (kv * width, dim),
                   at + "self_attn.o_proj.weight": (dim, heads * width),
                   at + "mlp.gate_proj.weight": (hidden, dim),
                   at + "mlp.up_proj.weight": (hidden, dim),
                   at + "mlp.down_proj.weight": (dim, hidden)}
        if config["model_type"] == "qwen3":
            shapes |= {at + "self_attn.q_norm.weight": (width,),
                       at + "self_attn.k_norm.weight": (width,)}
    rng = np.random.default_rng(draw.getrandbits(32))
    arrays = {name: rng.uniform(0.5, 1.5, shape) if len(shape) == 1 else
              rng.normal(0, shape[1]**-0.5, shape) for name, shape in shapes.items()}
    if not config["tie_word_embeddings"]:
        arrays["model.embed_tokens.weight"] *= 0.7 * dim**0.5
    values = model_files.write_model(folder, config, arrays, {name: "float16" for name in arrays})
    return config, values


def record(data, offset, dtype, shape):
    """An array of a weight file."""
    start, = struct.unpack_from("<Q", data, offset + 16)
    return elements(data, start, dtype, shape)


def elements(data, start, dtype, shape):
    count = int(np.prod(shape))
    if dtype == "fp16":
        return np.frombuffer(data, np.float16, count, start).astype(np.float64).reshape(shape)
    bits = int(dtype.strip("uint"))
    raw = data[start:start + (count * bits + 7) // 8]
    return np.asarray(quantized.unpack(raw, count, bits, dtype[0] == "i"), np.int64).reshape(shape)


def unpacked_weights(package):
    """Every quantized array of a package, by name, as its ops unpack it."""
    manifest = json.loads((package / "manifest.json").read_text())
    found = {}
    for kernel in manifest["kernels"]:
        parts = [part for part in kernel["constants"]
                 if part.get("quantized", {"part": "input_scale"})["part"] != "input_scale"]
        for data, table in zip(parts[::2], parts[1::2]):
            view = data["view"]
            assert view["weight"] == table["view"]["weight"] and view["instance"] == "own"
            assert all(list(step) == ["reshape"] for step in view["steps"]), view
            for instance in kernel["instances"]:
                raw = (package / instance["weights"]).read_bytes()
                numbers, values = (record(raw, part["offset"], part["quantized"]["dtype"],
                                          part["quantized"]["shape"]) for part in (data, table))
                dense = unpacked(table["quantized"]["part"], numbers, values)
                layer, _, name = view["weight"].rpartition(".")
                found[f"{layer}.{instance['index']}.{name}"] = dense.reshape(view["stored"])
    return found


def unpacked(part, numbers, values):
    if part == "palette":
        op, operands = "constexpr_lut_to_dense", {"indices": numbers, "lut": values}
    else:
        op, operands = "constexpr_blockwise_shift_scale", {"data": numbers, "scale": values}
    return quantized.dequantized(op, {k: (None, v) for k, v in operands.items()}, np.float64)


def unpacked_classifier(package):
    """The matrix of the logits, which the host computes; None where it is not quantized."""
    manifest = json.loads((package / "manifest.json").read_text())
    parts = manifest.get("host_parts", [])
    if not parts:
        return None
    assert len(parts) == 2 and parts[0]["view"] == parts[1]["view"], parts
    raw = (package / manifest["values"]).read_bytes()
    length, = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8:8 + length])
    by_part = {}
    for each in parts:
        begin = 8 + length + header[each["name"]]["data_offsets"][0]
        by_part[each["quantized"]["part"]] = elements(
            raw, begin, each["quantized"]["dtype"], each["quantized"]["shape"])
    table = next(name for name in by_part if name != "data")
    return unpacked(table, by_part["data"], by_part[table])


class Weight(np.ndarray):
    """A matrix whose products round the vectors that it multiplies."""

    def __array_finalize__(self, other):
        self.before = getattr(other, "before", None)

    def __array_ufunc__(self, ufunc, method, *inputs, **rest):
        plain = [np.asarray(each) for each in inputs]
        if ufunc is np.matmul and isinstance(inputs[1], Weight):
            plain[0] = inputs[1].before(plain[0])
        return getattr(ufunc, method)(*plain, **rest)


def with_inputs(arrays, names, function):
    """`arrays`, in which products with those called `names` apply `function(name)`
    to the vectors."""
    changed = dict(arrays)
    for name in names:
        changed[name] = arrays[name].view(Weight)
        changed[name].before = function(name)
    return changed


def windows(ids):
    return [np.array(ids[at:at + SEQ]) for at in range(0, len(ids) - SEQ + 1, SEQ)]


def ranges_of(config, arrays, names, ids):
    """The largest magnitudes of what each weight multiplies, by input."""
    largest = {}

    def observe(name):
        def take(x):
            seen = np.abs(x).max(axis=0)
            largest[name] = np.maximum(largest.get(name, 0), seen)
            return x
        return take
    observed = with_inputs(arrays, names, observe)
    for window in windows(ids):
        models.logits(config, observed, window)
    return largest


def scales_of(largest, flags):
    """By docs/use/quantization.md."""
    margin = 1.0 if "margin=1" in flags else 1.5
    whole = largest.max()
    if whole == 0:
        return np.ones_like(largest)
    if "per-tensor" in flags.partition(" ")[2]:
        largest = np.full_like(largest, whole)
    exact = np.maximum(largest, whole / 128) * margin / 127
    return np.float16(np.clip(exact, 2.0**-14, 65504)).astype(np.float64)


def through_int8(scales):
    return lambda x: np.clip(np.rint(x / scales), -128, 127) * scales


def check_scales(package, names, scales):
    """Each record of scales is that of a weight that it is for, but for the last bit,
    which the weights that share the input take from the record."""
    manifest = json.loads((package / "manifest.json").read_text())
    count = 0
    for kernel in manifest["kernels"]:
        for part in kernel["constants"]:
            if part.get("quantized", {}).get("part") != "input_scale":
                continue
            for instance in kernel["instances"]:
                raw = (package / instance["weights"]).read_bytes()
                got = record(raw, part["offset"], "fp16", part["quantized"]["shape"])
                layer, _, name = part["view"]["weight"].rpartition(".")
                wanted = scales[names[f"{layer}.{instance['index']}.{name}"]]
                assert np.abs(got / wanted - 1).max() < 2e-3, (part, got, wanted)
                for other, each in scales.items():
                    if np.array_equal(each, wanted):
                        scales[other] = got
                count += 1
    return count


def mean_loss(config, arrays, ids):
    losses = []
    for begin in range(0, len(ids) - 1, SEQ):
        inputs, targets = ids[begin:begin + SEQ], ids[begin + 1:begin + SEQ + 1]
        rows = models.logits(config, arrays, np.array(inputs[:len(targets)]))
        rows -= rows.max(axis=1, keepdims=True)
        rows -= np.log(np.exp(rows).sum(axis=1, keepdims=True))
        losses += [-rows[i, target] for i, target in enumerate(targets)]
    return float(np.mean(losses))


def check_rules(form, work, package):
    """What `anec check` says of the ops that unpack."""
    expected = {"no-lut": CHIPS if form.startswith("lut") else [],
                "grouped-scale": CHIPS if form.startswith("int") and "group" in form else [],
                "quantized-branch": []}
    for chip in CHIPS:
        # int8 is compiled in another form for the chips without this op. Of groups, another
        # rule says more.
        blockwise = (chip in OLD and form.startswith(("int", "w8a8"))
                     and chip not in expected["grouped-scale"])
        said = run("anec", "check", f"--target={chip}", package,
                   code=1 if chip in expected["grouped-scale"] else 0)
        assert ("[no-blockwise]" in said) == blockwise, (form, chip, said[:3000])
        for rule, chips in expected.items():
            assert (f"[{rule}]" in said) == (chip in chips), (form, chip, rule)
        assert "[rank-limit]" not in said, (form, chip)
    if form in ("int8", "int8:per-tensor"):
        run("anec", work / "m.tdsl", f"--weights={work}/model", "--decode", "--block=1,4",
            "--prefill=6", "--target=m1", f"--quantize={form}", "-o", work / "old.anepkg")
        said = run("anec", "check", "--target=m1", work / "old.anepkg")
        assert "[no-blockwise]" not in said, said


def check(seed, form, work):
    draw = random.Random(seed)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    config, arrays = write_model(draw, f"{work}/model")
    run("anec", "import", work / "model", "-o", work / "m.tdsl", f"--seq={SEQ}")
    names = json.loads((work / "m.names.json").read_text())
    build = ["anec", work / "m.tdsl", f"--weights={work}/model"]
    quantize = f"--quantize={form}".split(" ")
    seen = [draw.randrange(config["vocab_size"]) for _ in range(SEQ * draw.randint(1, 6) + 3)]
    (work / "seen.bin").write_bytes(struct.pack(f"<{len(seen)}H", *seen))
    if form.startswith("w8a8"):
        quantize += [f"--calibrate={work}/seen.bin"]
    run(*build, "--forward-only", "-o", work / "plain.anepkg")
    run(*build, "--forward-only", *quantize, "-o", work / "f.anepkg")
    run(*build, "--decode", "--block=1,4", "--prefill=6", *quantize, "-o", work / "d.anepkg")

    found = unpacked_weights(work / "f.anepkg")
    assert len(found) >= 4, "hardly anything was quantized"
    changed = {name: array.copy() for name, array in arrays.items()}
    classifier, changed_config = unpacked_classifier(work / "f.anepkg"), config
    vocab, _, group = config["vocab_size"], *form.partition("group=")[1:]
    divides = not group or (vocab if "lut" in form else config["hidden_size"]) % int(group) == 0
    is_large = vocab * config["hidden_size"] >= 2048
    wanted = is_large and divides and not form.startswith("w8a8")
    assert (classifier is not None) == wanted, form
    if classifier is not None:
        # The rows that tokens look up stay as they are.
        changed["lm_head.weight"] = classifier
        changed_config = {**config, "tie_word_embeddings": False}
    for name, dense in found.items():
        assert dense.shape == changed[names[name]].shape
        changed[names[name]] = dense
    if form.startswith("w8a8"):
        products = [names[name] for name in found]
        largest = ranges_of(config, arrays, products, seen)
        scales = {name: scales_of(each, form) for name, each in largest.items()}
        for package in ("f.anepkg", "d.anepkg"):
            assert check_scales(work / package, names, scales) >= 4
        changed = with_inputs(changed, products, lambda name: through_int8(scales[name]))
    ids = [draw.randrange(config["vocab_size"]) for _ in range(draw.randint(20, 50))]
    (work / "ids.bin").write_bytes(struct.pack(f"<{len(ids)}H", *ids))
    wanted, before = mean_loss(changed_config, changed, ids), mean_loss(config, arrays, ids)
    said = json.loads(run("ane-run", "evaluate", work / "f.anepkg", f"--data={work}/ids.bin",
                          f"--baseline={work}/plain.anepkg", "--numerics=fp32", "--json",
                          "--quiet"))
    # In fp32, a number between two integers can become the other one.
    close = 1e-3 if form.startswith("w8a8") else 1e-4
    assert abs(said["perplexity"] / np.exp(wanted) - 1) < close, (said, wanted)
    assert abs(said["baseline"]["perplexity"] / np.exp(before) - 1) < 1e-4, (said, before)
    change = said["baseline"]["loss_change"]
    assert abs(change - (wanted - before)) < close * before, (change, wanted - before)
    again = json.loads(run("ane-run", "evaluate", work / "d.anepkg", f"--data={work}/ids.bin",
                           "--numerics=fp32", "--json", "--quiet"))
    assert abs(again["loss"] / said["loss"] - 1) < 1e-4, (again, said)

    texts = []
    prompt = ",".join(str(i) for i in ids[:draw.randint(1, 7)])
    for package in ("f", "d"):
        texts.append(json.loads(run(
            "ane-run", "generate", work / f"{package}.anepkg", f"--prompt-ids={prompt}",
            "--tokens=9", "--temperature=0", "--numerics=fp32", "--json", "--quiet")))
    assert texts[0]["ids"] == texts[1]["ids"] and len(texts[0]["ids"]) == 9, texts
    assert np.abs(np.subtract(texts[0]["logprobs"], texts[1]["logprobs"])).max() < 2e-4, texts
    check_rules(form, work, work / "d.anepkg")
    return wanted - before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("imports")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=len(FORMS))
    parser.add_argument("--seed", type=int, default=0)
    flags = parser.parse_args()
    for seed in range(flags.seed, flags.seed + flags.count):
        form = FORMS[seed % len(FORMS)]
        try:
            change = check(seed, form, flags.folder / str(seed))
        except AssertionError as error:
            print(f"seed {seed}, {form}: {error}")
            return 1
        print(f"{form}: the loss changes by {change:.6f}")
        shutil.rmtree(flags.folder / str(seed))
    print(f"{flags.count} models agree")
    return 0


sys.exit(main())
