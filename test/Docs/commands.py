#!/usr/bin/env python3
"""Runs what README.md and the pages of docs/ show: every command, and every program.

Each block of a page is one of these, or an error:

  ```sh         commands. They are run one after the other and must succeed; a block of text
                behind them, with nothing but prose between, is what they print: its lines
                are there in this order, `...` in a line standing for any text
  a program     in any other language. It is written to the file that its first line names
                in a comment, for the commands of the page
  ```json       JSON, one value or one in each line
  no language   what is neither: layouts, grammars, output; it has no command in it

and `Inputs/not-run.txt` lists what is left out, with the reason or with the test that runs
it; a row that no block needs is an error too. The files that commands take for granted are
small stand-ins, which `Inputs/stand_ins.py` makes. The blocks of a page share a folder if
the page is among the tutorials; otherwise each has its own.

usage: commands.py ROOT BUILD WORK [--share=2/4] [--page=docs/use/train.md]"""
import argparse
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "Inputs"))
import stand_ins  # noqa: E402

TOGETHER = re.compile(r"docs/use/(tutorial-.*|start|check)\.md")
PROGRAMS = ("c", "cmake", "cpp", "ir", "mil", "py", "python", "swift", "tdsl", "yaml",
            "arrays", "protobuf")  # Inputs/stored.py
#: Words that commands begin with, which no block without a language may have.
COMMAND = re.compile(r"^\s*(?:[A-Z_]+=\S+ )*(?:\$ ?)?(?:\S*/)?(anec|ane-run|cmake|ninja|pip|"
                     r"python3?|bash|apt-get|cpack|brew|uvx?|git) (?=\S)", re.M)
REASONS = ("mac", "download", "long", "network", "root", "excerpt", "test/")
SECONDS = 200
#: Pages that run where a module of Python is; test/World runs them in its environment.
MODULES = {"docs/use/tutorial-pytorch.md": "torch"}


class Block:
    def __init__(self, page, number, language, text, behind):
        self.page, self.number, self.text = page, number, text
        self.language, self.behind = language, behind
        self.name = f"{page}: block {number} ({language or 'no language'})"


def blocks_of(root, page):
    """The blocks of a page; `behind` is the block that a block follows in the same part."""
    text, found, last = (root / page).read_text(), [], None
    for match in re.finditer(r"^(#+ [^\n]*)$|^( *)```([^\n]*)\n(.*?)^ *```$", text, re.M | re.S):
        if match[1]:
            last = None
            continue
        lines = [line.removeprefix(match[2]) for line in match[4].splitlines(keepends=True)]
        language = match[3].split(" ")[0]
        last = Block(page, len(found) + 1, language, "".join(lines), last)
        found.append(last)
    return found


def is_whole(command):
    """Whether a command does not go on in the next line, by bash."""
    if command.rstrip().endswith("\\"):
        return False
    return subprocess.run(["bash", "-n", "-c", command], capture_output=True).returncode == 0


def commands_of(text):
    """The commands of a block, without comments, each with the lines that it goes on in."""
    found, part = [], ""
    for line in text.splitlines():
        part += line
        if not is_whole(part):
            part += "\n"
            continue
        if part.strip() and not part.lstrip().startswith("#"):
            found.append(part)
        part = ""
    return found + ([part] if part.strip() else [])


class Exceptions:
    """Rows `PAGE | begin of a command, or language and number of a block | reason`."""

    def __init__(self, path, root):
        self.rows, self.errors, self.used = [], [], set()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line or line.startswith("#"):
                continue
            page, what, reason = (part.strip() for part in line.split(" | "))
            self.rows.append((page, what))
            if not reason.startswith(REASONS):
                self.errors.append(f"{path.name}:{number}: `{reason}` begins with none of "
                                   + ", ".join(REASONS))
            for test in re.findall(r"test/\S+", reason):
                if not (root / test.rstrip(",")).exists():
                    self.errors.append(f"{path.name}:{number}: no {test}")

    def covers(self, page, what):
        for row in self.rows:
            if row[0] == page and (row[1] == "*" or what.startswith(row[1])):
                self.used.add(row)
                return True
        return False


class Runner:
    def __init__(self, root, build, work, listed):
        self.root, self.build, self.work = root, build, work
        self.left_out = Exceptions(listed, root)
        self.makers = stand_ins.StandIns(root, build, work / "stand-ins")
        self.errors, self.counts = [], {"commands": 0, "programs": 0, "outputs": 0}

    def wrong(self, block, message):
        self.errors.append(f"{block.name}: {message}")

    def folder(self, page, number):
        """Where a block runs, with its page's stand-ins."""
        name = page.replace("/", "-").removesuffix(".md")
        folder = self.work / (name if TOGETHER.fullmatch(page) else f"{name}-{number}")
        if not folder.exists():
            folder.mkdir(parents=True)
            self.makers.put(page, folder)
        return folder

    def page(self, page):
        if page in MODULES and not importlib.util.find_spec(MODULES[page]):
            print(f"{page}: left out, without {MODULES[page]}")
            return
        said = {}
        for block in blocks_of(self.root, page):
            kind = block.language
            if kind == "sh":
                said[block.number] = self.shell(block)
            elif kind == "text" or not kind:
                self.output(block, said.get(block.behind.number) if block.behind else None)
            elif kind == "json":
                self.json(block)
            elif kind in PROGRAMS:
                self.program(block)
            else:
                self.wrong(block, f"`{kind}` is not a language that is known here")

    def shell(self, block):
        """Runs the commands; returns what they print, or None if none runs."""
        said = None
        for command in commands_of(block.text):
            if self.left_out.covers(block.page, command.strip()):
                continue
            folder = self.folder(block.page, block.number)
            code, printed = self.run(command, folder)
            said = (said or "") + printed
            self.counts["commands"] += 1
            # 1 is for findings, and for differences.
            allowed = (0, 1) if re.match(r"anec (check|diff)\b", command) else (0,)
            if code not in allowed or re.search(r"error: (?!.*\[)", printed):
                self.wrong(block, f"`{command}` ends with {code}:\n{printed[-1500:]}")
        return said

    def run(self, command, folder):
        environment = dict(os.environ)
        paths = [self.build / "bin", pathlib.Path(sys.executable).parent]
        environment["PATH"] = os.pathsep.join([*map(str, paths), environment["PATH"]])
        environment |= {"PYTHONPATH": str(self.build / "python"), "COLUMNS": "100",
                        "PYTHONDONTWRITEBYTECODE": "1",
                        "ANEC_CACHE": str(self.work / "cache")}
        process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment,
                                   text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            printed, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
            return "the limit of time", printed
        return process.returncode, printed

    def output(self, block, said):
        if said is None:
            if COMMAND.search(block.text):
                self.wrong(block, "has a command; its language is `sh`")
            return
        if block.language != "text":
            return
        self.counts["outputs"] += 1
        lines = iter(said.splitlines())
        for wanted in block.text.splitlines():
            pattern = r".*".join(re.escape(part.strip()) if part.strip() in ("", part)
                                 else re.escape(part) for part in wanted.rstrip().split("..."))
            if wanted.strip() and not any(re.fullmatch(pattern, line.rstrip())
                                          for line in lines):
                self.wrong(block, f"`{wanted}` is not in the output, or not here:\n{said[-3000:]}")
                return

    def json(self, block):
        if self.left_out.covers(block.page, f"{block.language} {block.number}"):
            return
        for part in [block.text], block.text.splitlines():
            try:
                for value in part:
                    json.loads(value)
                return
            except json.JSONDecodeError as error:
                problem = error
        self.wrong(block, f"is not JSON: {problem}")

    def program(self, block):
        self.counts["programs"] += 1
        first = block.text.split("\n", 1)[0]
        named = re.fullmatch(r"(?://|#) ([\w.-]+\.\w+|CMakeLists\.txt)", first.strip())
        if named and TOGETHER.fullmatch(block.page):
            (self.folder(block.page, block.number) / named[1]).write_text(block.text)
        elif not self.left_out.covers(block.page, f"{block.language} {block.number}"):
            self.wrong(block, "is a program that no command runs: name its file in its first "
                              "line, or list the test that runs it in not-run.txt")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--share", default="1/1")
    parser.add_argument("--page", action="append")
    parser.add_argument("--listed", type=pathlib.Path, default=HERE / "Inputs/not-run.txt")
    arguments = parser.parse_args()
    root, work = arguments.root.resolve(), arguments.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    runner = Runner(root, arguments.build.resolve(), work, arguments.listed)
    part, parts = map(int, arguments.share.split("/"))
    pages = sorted(str(page.relative_to(root)) for page in
                   [*root.glob("*.md"), *root.glob("docs/**/*.md")])
    pages = arguments.page or pages[part - 1::parts]
    for page in pages:
        runner.page(page)
    errors = runner.errors + runner.left_out.errors
    errors += [f"{arguments.listed.name}: no block needs `{page} | {what}`"
               for page, what in runner.left_out.rows
               if page in pages and (page, what) not in runner.left_out.used]
    print("\n".join(errors))
    print(f"{len(pages)} pages, " + ", ".join(
        f"{count} {name}" for name, count in runner.counts.items()) + f", {len(errors)} errors")
    sys.exit(1 if errors or not pages else 0)


if __name__ == "__main__":
    main()
