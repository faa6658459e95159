#!/usr/bin/env python3
"""Checks data/diagnostics: every message that anec has is explained there, in the file of
the folder whose Diags.def has it, and nothing else is; and every example does what it says.

A section is `## ID`, why the message is reported, and then either an example or the line
`No example: REASON.` An example has the files that it needs, each a block of code whose first
line names its language and file (```tdsl add.tdsl), and commands in a block `sh`. They run in
an empty folder with these files; Inputs/stored.py writes those that are not text. All but the
last succeed, and may be CHANGES to what was written; the last is of anec, or runs a file that
imports it, prints `[ID]` (a note prints no id, so its words), and fails if the message is an
error. Without the module anec, which PYTHONPATH names, those files are left out.

usage: diagnostics.py ANEC ROOT WORK [ID...]"""
import collections
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "Inputs"))
import stored

TOOLS = ("anec", "ane-run")
#: What damages files, replaces them or takes them away, in a shell.
CHANGES = ("cp", "dd", "head", "ln", "mkdir", "mv", "printf", "python3", "rm", "sed")
SECONDS = 120
#: What `No example:` says, so that it is not said where an example is only laborious.
REASONS = ("it is a note", "it needs ", "it is about ", "it takes ")

Message = collections.namedtuple("Message", "id severity text")


def messages(anec):
    page = subprocess.run([anec, "debug", "--dump-docs=diagnostics"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return [Message(*found) for found in
            re.findall(r"^## ([a-z0-9-]+)\n\n\*\*(\w+):\*\* (.*)$", page, flags=re.M)]


class Section:
    """What a file says about one message."""

    def __init__(self, place, name, body):
        self.place, self.id = place, name
        blocks = re.findall(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", body, flags=re.M | re.S)
        self.files = {file: (language, text) for language, file, text in blocks if file}
        self.commands = [line for language, file, text in blocks
                         if language == "sh" and not file for line in text.splitlines()]
        self.imports_anec = any("import anec" in text for language, text in self.files.values()
                                if language == "python")
        prose = re.sub(r"^```.*?^```$", "", body, flags=re.M | re.S)
        reason = re.search(r"^No example: (.*)\.$", prose, flags=re.M | re.S)
        self.reason = reason and reason[1].replace("\n", " ")
        self.why = re.sub(r"^No example: .*", "", prose, flags=re.M | re.S).strip()


def sections(root):
    for path in sorted((root / "data/diagnostics").glob("*.md")):
        parts = re.split(r"^## (.*)$", path.read_text(), flags=re.M)
        for name, body in zip(parts[1::2], parts[2::2]):
            yield Section(path.name, name, body)


def folder_of(root):
    """The folder of each id, by the rows."""
    rows = [*root.glob("include/anec/*/*.def"), *root.glob("lib/**/*.def")]
    return {name: path.relative_to(root).parts[-2] for path in rows
            for name in re.findall(r'^DIAG\(\s*\w+,\s*\w+,\s*"([^"]+)"', path.read_text(),
                                   flags=re.M)}


def problems(section, message):
    """What is wrong with a section, apart from what its example does."""
    if len(section.why) < 20:
        yield "does not say why"
    if bool(section.commands) == bool(section.reason):
        yield "has an example, or `No example: REASON.`, and not both"
    if section.reason and not section.reason.startswith(REASONS):
        yield f"`{section.reason}` begins with none of {REASONS}"
    if message.severity == "note" and not (section.commands or section.reason == "it is a note"):
        yield "is a note"
    for command in section.commands:
        first, is_last = shlex.split(command)[0], command is section.commands[-1]
        if first not in TOOLS and not (section.imports_anec if is_last else first in CHANGES):
            yield f"`{command}` is a command of neither {' nor '.join(TOOLS)}"


def run(section, message, work):
    """Runs the example; returns what is wrong with it."""
    folder = work / section.id
    folder.mkdir(parents=True, exist_ok=True)
    for name, (language, text) in section.files.items():
        stored.write(folder / name, language, text)
    stored.pack(folder)
    environment = os.environ | {"ANEC_CACHE": str(folder / "cache")}
    for command in section.commands:
        words = shlex.split(command)
        if words[0] not in TOOLS:
            words = ["sh", "-c", command.replace("python3", shlex.quote(sys.executable), 1)]
        try:
            done = subprocess.run(words, cwd=folder, env=environment, text=True,
                                  errors="replace", stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"`{command}` takes longer than {SECONDS} seconds"
        is_last = command is section.commands[-1]
        if not is_last and done.returncode:
            return f"`{command}` ends with {done.returncode}:\n{done.stdout[-800:]}"
    words = max(re.split(r"\{\d\}", message.text), key=len)
    wanted = words if message.severity == "note" else f"[{section.id}]"
    if wanted not in done.stdout:
        return f"`{command}` does not print `{wanted}`:\n{done.stdout[-800:]}"
    if done.returncode < 0 or message.severity == "error" and not done.returncode:
        return f"`{command}` ends with {done.returncode}"
    return None


def can_import_anec():
    try:
        import anec
    except ImportError:
        return False
    return bool(anec)


def main(anec, root, work, *wanted):
    root, work = pathlib.Path(root), pathlib.Path(work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    known = {message.id: message for message in messages(anec)}
    folders, found, errors = folder_of(root), {}, []
    for section in sections(root):
        place = f"{section.place}: {section.id}"
        if section.id in found:
            errors.append(f"{place}: explained twice")
        elif section.id not in known:
            errors.append(f"{place}: there is no such message")
        else:
            found[section.id] = section
            if f"{folders.get(section.id)}.md" != section.place:
                errors.append(f"{place}: its row is in the folder {folders.get(section.id)}")
            errors += [f"{place}: {problem}"
                       for problem in problems(section, known[section.id])]
    errors += [f"{name}: not explained in data/diagnostics"
               for name in sorted(known.keys() - found.keys())]
    has_module = can_import_anec()
    examples = [section for section in found.values()
                if section.commands and (not wanted or section.id in wanted)
                and (has_module or not section.imports_anec)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda each: run(each, known[each.id], work), examples)
        errors += [f"{section.place}: {section.id}: {result}"
                   for section, result in zip(examples, results) if result]
    if not (wanted or errors):
        shutil.rmtree(work)
    print("\n".join(errors))
    print(f"{len(known)} messages, {len(examples)} examples, {len(errors)} errors")
    return 1 if errors or not known else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
