"""Templates of chats that packages carry, those of published models among them, on the
conversations of templates.py, without and with tools, beside `apply_chat_template` of
transformers. Steps: read, where a refusal names what is not supported; the text of plain
messages, of messages with other members, and of calls of tools."""
import ast
import datetime
import functools
import hashlib
import importlib.metadata
import json
import re

import _templates
import templates
from harness import Item, RIGHT, fetched, refused, wrong

NOW = "2026-03-07T08:05:09"


def within(value):
    """The texts of all members `chat_template` in JSON."""
    if isinstance(value, list):
        for one in value:
            yield from within(one)
    if isinstance(value, dict):
        for key, one in value.items():
            if key == "chat_template" and isinstance(one, str):
                yield one
            else:
                yield from within(one)


def in_python(text):
    """The texts in a program that are templates of messages."""
    if "{%" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if (isinstance(node, ast.Constant) and isinstance(node.value, str)
                and "messages" in node.value
                and re.search(r"\{%-? *(for|if|set)", node.value)):
            yield node.value


@functools.cache
def carried():
    """{(package, name): template}, each text once."""
    folder, found = fetched("chats.txt"), {}
    for path in sorted(folder.rglob("*.jinja")):
        found[path.relative_to(folder).parts[0], path.stem] = path.read_text()
    for path in sorted([*folder.rglob("*.json"), *folder.rglob("*.py")]):
        text = path.read_text(errors="replace")
        some = ()
        if path.suffix == ".py":
            some = in_python(text)
        elif '"chat_template"' in text:
            some = within(json.loads(text))
        for number, template in enumerate(some):
            name = path.stem + (f"-{number + 1}" if number else "")
            found[path.relative_to(folder).parts[0], name] = template
    once = {}
    for key, template in found.items():
        if re.search(r"\{[{%]", template):
            once.setdefault(template, key)
    return {key: template for template, key in once.items()}


def items():
    try:
        known = carried()
    except Exception:  # The packages cannot be fetched.
        known = {}
    for number, (package, name) in enumerate(known):
        yield Item(package, name, functools.partial(check, package, name),
                   sample=number % 8 == 0)


class Then(datetime.datetime):
    """A clock that stands still."""
    @classmethod
    def now(cls, tz=None):
        return cls.fromisoformat(NOW)


def fill(template, folder):
    import transformers.utils.chat_template_utils as utils
    made, clock = _templates.tokenizer(), utils.datetime
    utils.datetime = Then
    try:
        texts = list(_templates.answers(made, template))
    finally:
        utils.datetime = clock
    (folder / "texts.json").write_text(json.dumps(texts))


def check(package, name, ctx):
    template = carried()[package, name]
    versions = " ".join(f"{one} {importlib.metadata.version(one)}"
                        for one in ("jinja2", "transformers"))
    made = ctx.computed(functools.partial(fill, template),
                        hashlib.sha256(template.encode()).hexdigest(), versions,
                        _templates.answers, Then, repr((NOW, _templates.CONVERSATIONS,
                                                        _templates.TOOLS,
                                                        _templates.VARIABLES)))
    folder = ctx.folder / "model"
    templates.write_model(folder)
    (folder / "chat_template.jinja").write_bytes(template.encode())
    texts = json.loads((made / "texts.json").read_text())
    bad = {}
    for step, outcome in templates.differences(ctx, folder, texts, f"--date={NOW}"):
        bad.setdefault(step, (refused if step == "read" else wrong)(outcome))
    return {step: bad.get(step, RIGHT) for step in ("read", *_templates.CONVERSATIONS)}
