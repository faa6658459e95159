"""Language models that transformers saves: tiny random ones of each family that
`anec import` reads, with the values that config.json can have, in the layouts of
several versions.

Steps: read, that is imported and compiled, or refused with the name of the key;
logits, those of transformers; greedy, 40 tokens as transformers chooses them; exported, a
folder with the config.json of the first that transformers loads, with the same logits;
text, its tokenizer, template of chats and options of generation, which transformers loads
too. Variants are exported in several files, and plain models in one."""
import functools
import json
import re

import _languages
import _templates
from harness import RIGHT, Item, near, relative_error, wrong

LENGTH, TOKENS = 20, 40
TOLERANCE = 2e-4
SHARDS = ("--shard-size=20KB",)
TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content }};{% endfor %}"


def items():
    first = {}
    for family, variant in _languages.MODELS:
        # The plain model of each family, and a tenth of the others.
        number = first[family] = first.get(family, -1) + 1
        yield Item(family, variant, functools.partial(check, family, variant),
                   sample=number % 10 == 0)


def check(family, variant, ctx):
    import numpy
    folder = ctx.computed(functools.partial(_languages.fill, family, variant, LENGTH, TOKENS),
                          family, variant, _languages.fill, _languages.draw,
                          json.dumps(_languages.config_of(family, variant), sort_keys=True))
    model = folder / "model"
    if not (model / "config.json").exists():  # transformers has no such model.
        refusal = ctx.run("anec", "import", folder / "refused", "-o", "m.tdsl")
        return {"read": ctx.step(refusal) or wrong("transformers refuses it")}
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
    steps["exported"] = exported(ctx, folder, right, () if variant == "plain" else SHARDS)
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


def exported(ctx, folder, right, flags):
    import numpy
    import safetensors.torch
    import torch
    import transformers
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
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            back, attn_implementation="eager", dtype=torch.float32)
    except Exception as error:  # Whatever transformers raises.
        return wrong(f"transformers: {type(error).__name__}: {error}")
    got = _languages.logits_of(model, numpy.load(folder / "tokens.npy"))
    return RIGHT if numpy.array_equal(got, right) else wrong("other logits by transformers")


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
