"""Random chat templates, ten in an item, on three conversations, without and with tools,
beside `apply_chat_template` of transformers. Steps: read, where every refusal names what
is not supported; the text of plain messages, of messages with other members, and of calls
of tools. Where jinja2 has an error, so must anec. And constants, which jinja2 evaluates
before it runs a program, fifty in an item, on plain messages."""
import functools
import importlib.metadata
import json
import re
import shutil

import _templates
from harness import Item, RIGHT, limited, refused, wrong


def items():
    for first in range(0, 1000, 10):
        yield Item("templates", f"{first:03}", functools.partial(check, range(first, first + 10)),
                   sample=first % 100 == 0, seconds=600)
    for first in range(0, 1000, 50):
        yield Item("constants", f"{first:03}",
                   functools.partial(check_constants, range(first, first + 50)),
                   sample=first == 0, seconds=300)


def write_model(folder):
    """A tokenizer without a template, and the conversations."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _templates.tokenizer().save_pretrained(folder)
    for name, messages in _templates.CONVERSATIONS.items():
        (folder / f"{name}.messages").write_text(json.dumps(messages))
    (folder / "tools").write_text(json.dumps(_templates.TOOLS))


def render(ctx, folder, name, tools, *flags):
    words = [ctx.build / "bin/ane-run", "tokenize", f"--tokenizer={folder}", "--render", "--chat",
             folder / f"{name}.messages"]
    words += [f"--tools={folder / 'tools'}"] if tools else []
    words += [f"--template-arg={name}={json.dumps(value)}"
              for name, value in _templates.VARIABLES.items()]
    return limited([*words, *flags], 10)


def computed(ctx, make, what, *parts):
    """What `make` writes, kept for as long as what it is made of is the same."""
    versions = " ".join(f"{name} {importlib.metadata.version(name)}"
                        for name in ("jinja2", "transformers"))
    return ctx.computed(make, f"{what} {versions}", *parts, _templates.Draw, _templates.answers,
                        repr([value for name, value in sorted(vars(_templates).items())
                              if name.isupper()]))


def check_constants(seeds, ctx):
    folder = ctx.folder / "model"
    write_model(folder)
    made = computed(ctx, functools.partial(_templates.make_constants, seeds),
                    f"constants {seeds}", _templates.make_constants, _templates.Constants)
    bad, unread = {}, []
    for case in json.loads((made / "case.json").read_text()):
        (folder / "chat_template.jinja").write_bytes(case["template"].encode())
        for step, outcome in differences(ctx, folder, case["texts"], names=("plain",)):
            if step == "read":
                unread.append(f"{case['template']}: {outcome}")
            else:
                bad.setdefault(step, wrong(f"{case['template']}: {outcome}"))
    if unread:
        bad["read"] = refused("; ".join(unread))
    return {step: bad.get(step, RIGHT) for step in ("read", "plain")}


def check(seeds, ctx):
    folder = ctx.folder / "model"
    write_model(folder)
    bad, unread = {}, []
    for seed in seeds:
        made = computed(ctx, functools.partial(_templates.make, seed), f"template {seed}",
                        _templates.make)
        case = json.loads((made / "case.json").read_text())
        (folder / "chat_template.jinja").write_bytes(case["template"].encode())
        for step, outcome in differences(ctx, folder, case["texts"]):
            if step == "read":
                unread.append(f"seed {seed}: {outcome}")
            else:
                bad.setdefault(step, wrong(f"seed {seed}: {outcome}"))
    if unread:
        bad["read"] = refused("; ".join(unread))
    return {step: bad.get(step, RIGHT) for step in ("read", *_templates.CONVERSATIONS)}


def differences(ctx, folder, texts, *flags, names=tuple(_templates.CONVERSATIONS)):
    right = iter(texts)
    for name in names:
        for tools in (False, True):
            text = next(right)
            done = render(ctx, folder, name, tools, *flags)
            error = done.stderr.decode(errors="replace").strip()
            got = done.stdout.decode(errors="replace") if done.returncode == 0 else None
            if done.returncode not in (0, 1) or (got is None and "chat_template" not in error):
                yield name, f"exit {done.returncode}: {error}"
            elif got is None and text is not None and re.search("not supported|too large", error):
                yield "read", error.split("error: ")[-1]
            elif got != text:
                yield name, f"{got!r}, not {text!r} {error.split('error: ')[-1]}"
