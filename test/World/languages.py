"""Language models that transformers saves: tiny random ones of each family that
`anec import` reads, with the values that config.json can have, in the layouts of
several versions. Those of variants `4.57-...` are saved, computed and loaded by that version,
in a process with the packages of older.txt.

Steps: read, that is imported and compiled, or refused with the name of the key;
logits, those of transformers; greedy, 40 tokens as transformers chooses them; exported, a
folder with the config.json of the first that transformers loads, with the same logits;
newer, which the version of requirements.txt loads too; text, its tokenizer, template of chats
and options of generation, which transformers loads too. Variants are exported in several files,
and plain models in one."""
import functools
import json
import re

import _languages
import _templates
import harness
from harness import (RIGHT, Item, absent, fetched, is_fetched, near, relative_error,
                     wrong)

LENGTH, TOKENS = 20, 40
TOLERANCE = 2e-4
SHARDS = ("--shard-size=20KB",)
TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content }};{% endfor %}"


OLDER, PACKAGES = "4.57", "older.txt"
# Of these families the plain model of the older version is in the sample.
OLDER_SAMPLE = ("llama", "gemma3_text", "gpt2", "phi3")


def items():
    first = {}
    for family, variant in _languages.MODELS:
        # The plain model of each family, and a tenth of the others.
        number = first[family] = first.get(family, -1) + 1
        if (family, variant) in _languages.ONLY_VERSION_4:
            continue
        yield Item(family, variant, functools.partial(check, family, variant, ""),
                   sample=number % 10 == 0)
    missing = "" if is_fetched(PACKAGES) else "transformers 4.57 is not there"
    for family, variant in _languages.MODELS:
        if _languages.has_version_4(family, variant):
            yield Item(family, f"{OLDER}-{variant}",
                       functools.partial(check, family, variant, OLDER), missing=missing,
                       sample=variant == "plain" and family in OLDER_SAMPLE, turn=False)


def older(*request):
    """What transformers 4.57 does: see _older.py."""
    harness.ask("_older.py", PACKAGES, *request)


def filled(ctx, family, variant, version):
    """The folder of a model that a version of transformers saves: see `_languages.fill`."""
    values = (family, variant, LENGTH, TOKENS)
    fill = functools.partial(older, "fill", *values) if version else functools.partial(
        _languages.fill, *values)
    config = json.dumps(_languages.config_of(family, variant, bool(version)), sort_keys=True)
    return ctx.computed(fill, family, variant, _languages.fill, _languages.draw, config,
                        *((fetched(PACKAGES).name,) if version else ()))


def check(family, variant, version, ctx):
    import numpy
    folder = filled(ctx, family, variant, version)
    model = folder / "model"
    if not (model / "config.json").exists():  # transformers has no such model.
        refusal = ctx.run("anec", "import", folder / "refused", "-o", "m.tdsl")
        if refusal.returncode == 1 and "[no-arrays]" not in refusal.stderr:
            return {"read": ctx.step(refusal)}
        return {"read": (absent if version else wrong)("transformers refuses it")}
    for words in (("import", model, "-o", "m.tdsl", f"--seq={LENGTH}", "--float=fp32"),
                  ("m.tdsl", f"--weights={model}", "--forward-only", "-o", "m.anepkg")):
        outcome = ctx.step(ctx.run("anec", *words))
        if outcome:
            return {"read": outcome}
    right = numpy.load(folder / "logits.npy")
    steps = {"read": RIGHT, "logits": logits(ctx, folder, right)}
    outcome = greedy(ctx, folder)
    if outcome:
        steps["greedy"] = outcome
    outcome = exported(ctx, folder, () if variant == "plain" else SHARDS)
    if outcome:
        return steps | {"exported": outcome}
    if version:
        steps["exported"] = loads(ctx, folder, older_logits, 0)
        if (family, variant) not in _languages.ONLY_VERSION_4:
            steps["newer"] = loads(ctx, folder, newer_logits, TOLERANCE)
        return steps
    steps["exported"] = loads(ctx, folder, newer_logits, 0)
    if steps["exported"] == RIGHT:
        steps["text"] = text(ctx.folder / "back", ctx.folder / "words", folder / "model")
    return steps


def logits(ctx, folder, right):
    import numpy
    tokens = numpy.load(folder / "tokens.npy")
    got, outcome = ctx.outputs("m.anepkg", {"tokens": tokens, "targets": tokens},
                               "--numerics=fp32")
    if outcome:
        return outcome
    found = next(array for array in got.values() if array.shape == right.T.shape)
    return near(relative_error(found.T, right), TOLERANCE)


def greedy(ctx, folder):
    """None where angles depend on the length of a text, and programs with caches read
    none that is longer than the prompt."""
    import numpy
    tokens, right = numpy.load(folder / "tokens.npy"), numpy.load(folder / "greedy.npy")
    command = ("m.tdsl", f"--weights={folder / 'model'}", f"--define=seq={LENGTH + TOKENS}", "--decode", "--block=1",
               "--prefill=8", "-o", "d.anepkg")
    made = ctx.run("anec", *command, f"--context={LENGTH + TOKENS}")
    count = TOKENS
    if "[rope-of-length]" in made.stderr:
        context = int(re.search(r"--context=(\d+)", made.stderr).group(1))
        count = context - LENGTH
        if count <= 0:
            return None
        made = ctx.run("anec", *command, f"--context={context}")
    outcome = ctx.step(made)
    if outcome:
        return outcome
    said = ctx.run("ane-run", "generate", "d.anepkg", "--numerics=fp32", f"--tokens={count}",
                   "--prompt-ids=" + ",".join(map(str, tokens)), "--temperature=0", "--json",
                   "--quiet")
    outcome = ctx.step(said)
    if outcome:
        return outcome
    margins = numpy.load(folder / "margins.npy")
    ids = json.loads(said.stdout)["ids"]
    for at, (one, other) in enumerate(zip(ids, right)):
        if one != other:
            return RIGHT if margins[at] < TOLERANCE else wrong(f"token {at}: {one}, not {other}")
    return RIGHT if len(ids) == count else wrong(f"{len(ids)} tokens, not {count}")


def exported(ctx, folder, flags):
    """Writes the model's weights to `back`: what is wrong with that."""
    import safetensors.torch
    names = json.loads((ctx.folder / "m.names.json").read_text())
    arrays = safetensors.torch.load_file(folder / "model" / "model.safetensors")
    trained = {name: arrays[other] for name, other in names.items() if isinstance(other, str)}
    safetensors.torch.save_file(trained, ctx.folder / "trained.safetensors")
    words = _templates.tokenizer()
    words.chat_template = TEMPLATE
    words.save_pretrained(ctx.folder / "words")
    outcome = ctx.step(ctx.run("anec", "convert", "trained.safetensors", "--tokenizer=words",
                               "--weight-map=m.names.json", "-o", "back", *flags))
    if outcome:
        return outcome
    back = ctx.folder / "back"
    if (back / "model.safetensors.index.json").exists() != bool(flags):
        return wrong("another number of files")
    before, after = (json.loads((one / "config.json").read_text())
                     for one in (folder / "model", back))
    if before["model_type"] == after["model_type"] and json.dumps(
            before, sort_keys=True) != json.dumps(after, sort_keys=True):
        return wrong("another config.json: " + ", ".join(
            key for key in sorted({**before, **after})
            if repr(before.get(key)) != repr(after.get(key))))
    return None


def loads(ctx, folder, logits_of, limit):
    """Whether a version of transformers has the logits of `folder` from what was exported."""
    import numpy
    right, tokens = numpy.load(folder / "logits.npy"), folder / "tokens.npy"
    try:
        got = logits_of(ctx.folder / "back", tokens, ctx.folder / "loaded.npy")
    except Exception as error:  # Whatever transformers raises.
        return wrong(f"transformers: {type(error).__name__}: {error}")
    error = relative_error(got, right)
    return RIGHT if error <= limit else wrong(f"logits by transformers off by {error:.2g}")


def newer_logits(model, tokens, _):
    import numpy
    import torch
    import transformers
    loaded = transformers.AutoModelForCausalLM.from_pretrained(
        model, attn_implementation="eager", dtype=torch.float32)
    return _languages.logits_of(loaded, numpy.load(tokens))


def older_logits(model, tokens, out):
    import numpy
    older("logits", model, tokens, out)
    return numpy.load(out)


def text(back, words, model):
    """What transformers loads besides the model is what it loads where that came from."""
    import transformers
    # The class of a tokenizer depends on the type of the model beside it.
    (words / "config.json").write_bytes((back / "config.json").read_bytes())
    chat = [{"role": "user", "content": "a"}]
    try:
        got, right = (transformers.AutoTokenizer.from_pretrained(one) for one in (back, words))
        ends = transformers.GenerationConfig.from_pretrained(back).eos_token_id
        of_model = transformers.AutoModelForCausalLM.from_pretrained(model).generation_config
    except Exception as error:  # Whatever transformers raises.
        return wrong(f"transformers: {type(error).__name__}: {error}")
    if got.get_vocab() != right.get_vocab() or got.eos_token != right.eos_token:
        return wrong("another tokenizer")
    if (got.apply_chat_template(chat, tokenize=False)
            != right.apply_chat_template(chat, tokenize=False)):
        return wrong("another template")
    return RIGHT if ends == of_model.eos_token_id else wrong(f"ends at {ends}")
