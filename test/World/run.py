#!/usr/bin/env python3
"""Compares anec with tools and models that others wrote, by the tables `table/*.tsv`.

  run.py --build BUILD                     the sample of every section
  run.py --build BUILD --turns             every subject, in its turns of the forms
  run.py --build BUILD --turns --missing   of these, the items without a row
  run.py --build BUILD --full              everything, every form of every subject
  run.py --build BUILD --only=architectures                the sample of a section
  run.py --build BUILD --only='architectures/resnet*'      items, also beyond the sample
  run.py --build BUILD --turns --update    writes what was seen to the tables
  run.py --table                           prints the counts of the tables
  run.py --docs                            writes them to docs/develop/world.md, as --update does

A row of the table that becomes worse fails the run, and so does an item without a row.
What is better than its row is said, for --update to write it down. --report=FILE
writes each outcome with its note, --results=FILE what test/summary.py reads. Run by the
python that `test/World/install` prints."""
import argparse
import collections
import fnmatch
import importlib
import itertools
import json
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import shutil
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import _doors  # noqa: E402
import harness  # noqa: E402

SECTIONS = sorted(path.stem for path in HERE.glob("*.py")
                  if path.stem not in ("run", "harness") and not path.stem.startswith("_"))
TABLES = HERE / "table"


def read_table():
    """{(section, item, variant, step): (outcome, note)} and the versions in the heads."""
    rows, versions = {}, ""
    for path in sorted(TABLES.glob("*.tsv")):
        for line in path.read_text().splitlines():
            if line.startswith("# versions: "):
                versions = line[len("# versions: "):]
            elif line and not line.startswith("#"):
                *key, outcome, note = (line.split("\t") + [""])[:5]
                rows[path.stem, *key] = (outcome, note)
    return rows, versions


def write_table(rows, sections):
    TABLES.mkdir(exist_ok=True)
    for section in sections:
        lines = ["# item, variant, step, outcome, note; written by run.py --update",
                 "# versions: " + harness.VERSIONS()]
        lines += ["\t".join(key[1:] + value).rstrip("\t")
                  for key, value in sorted(rows.items()) if key[0] == section]
        (TABLES / f"{section}.tsv").write_text("\n".join(lines) + "\n")


def update(seen, tried, items, sections):
    """Writes the rows `seen` of the items `tried` in the place of those of the tables."""
    existing = {(section, item.name, item.variant) for section, item in items}
    table, _ = read_table()  # Another run may have written rows of its own.
    kept = {key: value for key, value in table.items() if key[:3] not in tried
            and (key[0] not in sections or key[:3] in existing)}
    write_table(kept | seen, sections)


def processors():
    """How many processors this process may use; a Mac says how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def counts(rows):
    """Text: a line for each section and step, with the number of each outcome."""
    table = collections.defaultdict(collections.Counter)
    for (section, _, _, step), (outcome, _) in rows.items():
        if outcome in harness.OUTCOMES:
            table[section, step][outcome] += 1
    lines = [f"{'section':15} {'step':12}" + "".join(f"{name:>9}" for name in harness.OUTCOMES)]
    for (section, step), number in sorted(table.items()):
        lines.append(f"{section:15} {step:12}"
                     + "".join(f"{number[name]:9}" for name in harness.OUTCOMES))
    return "\n".join(lines)


def table_text():
    """The counts of the tables, and what they depend on: what docs/develop/world.md shows."""
    rows, versions = read_table()
    subjects = collections.defaultdict(set)
    for section, item, variant, _ in rows:
        subjects[section].add((item, variant))
    lines = [counts(rows), ""]
    for section, items in sorted(subjects.items()):
        lines.append(f"{section}: {len({item for item, _ in items})} subjects,"
                     f" {len(items)} items")
    times, numbers = times_text(rows), numbers_text(rows)
    return "\n".join(lines + [""] + doors_text(rows) + [""] + numbers + [""] * bool(numbers)
                     + times + [""] * bool(times) + [versions.replace(" ", "\n")]) + "\n"


def door_of(section, variant):
    """The door of an item: compressed weights are one for each oldest system."""
    if section == "exported":
        return f"pt2-{variant}"
    compression, _, target = variant.rpartition("-")
    return f"compressed-{target}" if compression in _doors.COMPRESSIONS else variant


def doors_text(rows):
    """Lines with what becomes of the architectures at each door, and what is refused."""
    columns = ("read", "run", "fp16", "written", "again")
    found, refused = collections.defaultdict(collections.Counter), []
    for (section, item, variant, step), (outcome, note) in sorted(rows.items()):
        if section not in ("architectures", "exported"):
            continue
        step = {"rewritten": "written"}.get(step, step)
        if outcome == "right":
            found[door_of(section, variant)][step] += 1
        elif outcome == "refused":
            found[door_of(section, variant)]["refused"] += 1
            refused.append(f"refused: {item} at {variant}, {step}: {note}")
    order = {door.name: place for place, door in enumerate(_doors.ALL)}
    lines = [f"{'door':20}" + "".join(f"{name:>9}" for name in (*columns, "refused"))]
    for door in sorted(found, key=lambda name: (order.get(name, len(order)), name)):
        lines.append(f"{door:20}" + "".join(
            f"{found[door][name] or '':>9}" for name in (*columns, "refused")))
    return lines + refused


def times_text(rows):
    """Lines with what was measured: anec's share of the peer's time."""
    lines = [f"{section + '/' + item:40}{note.rsplit(': ', 1)[-1]:>9}"
             for (section, item, _, _), (outcome, note) in sorted(rows.items())
             if outcome == harness.MEASURED]
    return [f"{'time of a run':40}{'ratio':>9}"] * bool(lines) + lines


def numbers_text(rows):
    """Lines with what was counted: how many items have how many."""
    found = collections.defaultdict(collections.Counter)
    for (section, _, _, step), (outcome, note) in rows.items():
        if outcome == harness.COUNTED:
            found[section, step][harness.number_of(note)] += 1
    lines = []
    for (section, step), items in sorted(found.items()):
        lines.append(f"{section:15} {step:12}" + f"{'items':>9}")
        lines += [f"{'':15} {number:<12}{count:9}" for number, count in sorted(items.items())]
        total = sum(number * count for number, count in items.items())
        lines.append(f"{'':15} {total:<12}{sum(items.values()):9}  in all")
    return lines


def write_docs():
    page = HERE.parent.parent / "docs" / "develop" / "world.md"
    head, rest = page.read_text().split("```text\n", 1)
    page.write_text(f"{head}```text\n{table_text()}```\n" + rest.split("```\n", 1)[1])


def load_items(sections):
    return [(section, item) for section in sections
            for item in importlib.import_module(section).items()]


def worker(connection, build, sections, threads):
    """Checks the items whose numbers it is sent, until it is sent None."""
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TQDM_DISABLE"] = "1"
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    items = load_items(sections)
    while (index := connection.recv()) is not None:
        folder, before = tempfile.mkdtemp(prefix="anec-world-"), harness.own_seconds()
        try:
            outcomes = items[index][1].check(harness.Context(build, folder))
        except Exception as error:  # The peer's, or the test's own.
            outcomes = {"peer": harness.wrong(f"{type(error).__name__}: {error}")}
        shutil.rmtree(folder, ignore_errors=True)
        connection.send((index, outcomes, harness.own_seconds() - before))


class Pool:
    """Processes that check items. One that dies or takes too long costs its item, and
    is replaced."""

    def __init__(self, arguments, items, jobs):
        self.arguments, self.items, self.jobs = arguments, items, jobs

    def start(self):
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=worker, args=(theirs, *self.arguments))
        process.start()
        theirs.close()
        return {"pipe": ours, "process": process, "index": None}

    def is_late(self, one):
        """Whether an item took too long on processors, or waits for nothing."""
        limit = self.items[one["index"]][1].seconds
        passed = time.monotonic() - one["since"]
        if passed <= limit:
            return False
        used = harness.processor_seconds(one["process"].pid)
        return used is None or passed > harness.PATIENCE * limit or used - one["before"] > limit

    @staticmethod
    def next_of(waiting, last, workers, subject):
        """Takes the next item of the subject `last`, or the first of a subject that no
        process works on."""
        taken = {one.get("last") for one in workers}
        near = [index for index in itertools.islice(waiting, 100)]
        found = next((index for index in near if subject[index] == last), None)
        if found is None:
            found = next((index for index in near if subject[index] not in taken), near[0])
        waiting.remove(found)
        return found

    def check(self, indices):
        """Yields (index, outcomes, seconds on processors) in the order in which items end.
        Those of a subject go to one process, which builds the subject's model once."""
        waiting = collections.deque(indices)
        subject = [(section, item.name) for section, item in self.items]
        workers = [self.start() for _ in range(min(self.jobs, len(waiting)))]
        busy = 0
        while waiting or busy:
            for one in workers:
                if one["index"] is None and waiting:
                    one["index"] = self.next_of(waiting, one.get("last"), workers, subject)
                    one["last"] = subject[one["index"]]
                    one["since"] = time.monotonic()
                    one["before"] = harness.processor_seconds(one["process"].pid) or 0
                    one["pipe"].send(one["index"])
                    busy += 1
            running = [one for one in workers if one["index"] is not None]
            ready = multiprocessing.connection.wait([one["pipe"] for one in running], timeout=1)
            for place, one in enumerate(workers):
                if one["index"] is None:
                    continue
                ended = None
                if one["pipe"] in ready:
                    try:
                        ended = one["pipe"].recv()
                    except EOFError:
                        ended = one["index"], {"peer": harness.wrong("the process died")}, 0.0
                        workers[place] = self.start()
                elif self.is_late(one):
                    one["process"].kill()
                    limit = self.items[one["index"]][1].seconds
                    ended = (one["index"], {"peer": harness.wrong(f"no end in {limit} s")},
                             float(limit))
                    workers[place] = self.start()
                if ended:
                    one["index"] = None
                    busy -= 1
                    yield ended
        for one in workers:
            one["pipe"].send(None)
        for one in workers:
            one["process"].join(10)


def judge(key, outcome, table):
    """(what is to be said of an outcome beside its row or "", does it fail)."""
    if outcome.kind == harness.MEASURED:
        return "", False
    before = table.get(key, ("", ""))
    if outcome.kind == harness.COUNTED == before[0]:
        more = harness.number_of(outcome.note) - harness.number_of(before[1])
        return f"was {before[1]}, now" if more else "", more > 0
    rank = (harness.OUTCOMES + (harness.ABSENT, harness.MEASURED, harness.COUNTED)).index
    if key not in table:
        # A step that an item reaches for the first time.
        is_gain = outcome.kind == "right" and any(key[:3] == row[:3] for row in table)
        return f"has no row, {outcome.kind}", not is_gain
    if rank(outcome.kind) > rank(before[0]):
        return f"{outcome.kind}, was {before[0]}", True
    if rank(outcome.kind) < rank(before[0]):
        return f"{outcome.kind} now, was {before[0]}", False
    return "", False


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="SECTION/ITEM[/VARIANT]")
    parser.add_argument("--jobs", type=int, default=processors())
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--skip", action="store_true",
                        help="count every item of the tables as skipped: there are no peers")
    parser.add_argument("--report")
    parser.add_argument("--results")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()

    table, versions = read_table()
    if args.table:
        print(table_text(), end="")
        return 0
    if args.docs:
        write_docs()
        return 0
    if args.skip:
        names = sorted({"World :: " + "/".join(key[:3]) for key in table})
        harness.write_json(args.results, {
            "tests": [{"name": name, "code": "UNSUPPORTED"} for name in names]})
        return 0
    started = time.monotonic()
    sections = [name for name in SECTIONS
                if not args.only or any(only.split("/")[0] in (name, "*") for only in args.only)]
    items = load_items(sections)

    known = {key[:3] for key in table}

    def chosen(section, item):
        if args.missing and (section, item.name, item.variant) in known:
            return False
        names = [f"{section}/{item.name}", f"{section}/{item.name}/{item.variant}"]
        if args.only and section not in args.only:
            return any(fnmatch.fnmatch(name, only) for only in args.only for name in names)
        return args.full or item.sample or (args.turns and item.turn)
    indices = [index for index, one in enumerate(items) if chosen(*one)]
    if args.only and not indices:
        parser.error(f"no item is called {' or '.join(args.only)}; see --list --full")
    if args.list:
        for index in indices:
            print(items[index][0], items[index][1].name, items[index][1].variant, sep="\t")
        return 0
    if versions and versions != harness.VERSIONS():
        print(f"The table is of other versions: {versions}")

    seen, results, better, tried = {}, [], 0, set()
    arguments = os.path.abspath(args.build), sections, 1
    missing = [index for index in indices if items[index][1].missing]
    for reason, count in collections.Counter(items[at][1].missing for at in missing).items():
        print(f"{count} items are skipped: {reason}")
    results += [{"name": "World :: " + "/".join((items[at][0], items[at][1].name,
                                                 items[at][1].variant)), "code": "UNSUPPORTED"}
                for at in missing]
    indices = [index for index in indices if not items[index][1].missing]
    alone = [index for index in indices if items[index][1].alone]
    together = [index for index in indices if not items[index][1].alone]
    checked = itertools.chain(Pool(arguments, items, args.jobs).check(together),
                              Pool(arguments, items, 1).check(alone))
    used = collections.Counter()
    for done, (index, outcomes, seconds) in enumerate(checked, 1):
        section, item = items[index]
        used[section] += seconds
        tried.add((section, item.name, item.variant))
        said, failed = [], False
        for step, outcome in outcomes.items():
            key = (section, item.name, item.variant, step)
            seen[key] = (outcome.kind, outcome.note)
            text, fails = judge(key, outcome, table)
            if text:
                said.append(f"{step}: {text} {outcome.note}".rstrip())
            failed |= fails
        # A step that the table has, and that was not reached.
        for key in table:
            if key[:3] == (section, item.name, item.variant) and key[3] not in outcomes:
                said.append(f"{key[3]}: not reached")
                failed = True
        name = f"World :: {section}/{item.name}/{item.variant}"
        results.append({"name": name, "code": "FAIL" if failed else "PASS",
                        "seconds": round(seconds, 2)})
        better += bool(said) and not failed
        if said or args.verbose:
            text = "; ".join(said) or " ".join(
                f"{step}={outcome.kind} {outcome.note}".strip() for step, outcome in outcomes.items())
            print(f"[{done}/{len(indices)}] {'FAIL ' if failed else ''}"
                  f"{section}/{item.name}/{item.variant}: {text}", flush=True)
        if args.update and done % 20 == 0:  # A run of hours may be stopped.
            update(seen, tried, items, sections)
    if args.update:
        update(seen, tried, items, sections)
        write_docs()
    if args.report:
        harness.write_json(args.report, [list(key + value) for key, value in sorted(seen.items())])
    if args.results:
        harness.write_json(args.results, {"tests": results})
    print(counts(seen))
    print("\n".join(numbers_text(seen) + times_text(seen)))
    print("seconds on processors: "
          + ", ".join(f"{section} {number:.0f}" for section, number in sorted(used.items())))
    bad = sum(one["code"] == "FAIL" for one in results)
    print(f"test/World: {len(results)} items, {bad} worse than in the table, {better} better, "
          f"{time.monotonic() - started:.0f} s")
    return 1 if bad and not args.update else 0


if __name__ == "__main__":
    sys.exit(main())
