#!/usr/bin/env python3
"""Judges a report of `ane-run doctor --run`, and takes over what it measured.

usage: judge.py REPORT.json                 judge it
       judge.py REPORT.json --into FOLDER   and write FOLDER/CHIP-BUILD.json
       judge.py --check FOLDER              judge what was taken over

A report is refused with every reason that was found: it is not of the form that
docs/use/ane.md describes, it is of another version, it is not of an engine, or what
it says cannot be. Nothing of a refused report is taken over. The kernels, their
hazards and the predicted times are those of docs/reference/chips.md."""
import argparse
import hashlib
import json
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CHIPS = os.path.join(HERE, "..", "docs", "reference", "chips.md")

VERSION = 3  # of reports
MEASURED_VERSION = 1  # of what is written
PATHS = ("in-memory", "client", "direct", "real-time", "process-request", "e5",
         "e5rt")
VERDICTS = ("right", "wrong", "refused", "crashed", "timed-out", "not-tried")
HAZARD_VERDICTS = ("present", "not-seen", "unclear")
RULE_VERDICTS = ("holds", "slower", "does-not-hold", "not-seen", "not-slower",
                 "unclear", "not-timed", "not-probed", "skipped")
BASICS = ("add", "conv", "feed-forward")
# The first letter of builds, by the major version of macOS.
BUILDS = {14: 23, 15: 24, 26: 25, 27: 26}
# No engine is known to answer faster (70 us, ANEForge), and no kernel of the
# doctor takes a second.
LEAST_MS, MOST_MS = 0.02, 1000
# A time this far from the predicted one is not of this kernel on this chip.
FAR = 30
# The relative error from which on a program is wrong, and of training's weights.
RIGHT, TRAINED = 0.02, 0.3
# Programs that set an error of each element in place of the relative one.
OWN_ERROR = ("large-silu", "large-gelu", "large-softplus")


class Table:
    """The kernels of docs/reference/chips.md: their hazards, and predicted times."""

    def __init__(self, path):
        self.hazards, self.predicted, self.targets = {}, {}, []
        with open(path) as file:
            for line in file:
                if heading := re.match(r"## ([\w-]+)", line):
                    self.targets.append(heading[1])
                cells = [cell.strip() for cell in line.strip("|\n").split("|")]
                if not self.targets or len(cells) != 7 or cells[2] == "hazard" \
                        or cells[0].startswith("-") and "---" in cells[0]:
                    continue
                _, _, hazard, kernel, _, milliseconds, source = cells
                self.hazards[kernel] = hazard
                if source == "predicted" and milliseconds != "-":
                    self.predicted[self.targets[-1], kernel] = \
                        float(milliseconds)


def target_of(chip):
    """`m4` of `Apple M4 Max`; None when it is no such name."""
    name = re.fullmatch(r"Apple (M(\d+)(?: (?:Pro|Max|Ultra))?)", chip)
    if not name:
        return None
    return "m3-ultra" if name[1] == "M3 Ultra" else f"m{name[2]}"


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) \
        and math.isfinite(value)


def objects(value):
    """Those in a list; none in anything else."""
    return [entry for entry in value if isinstance(entry, dict)] \
        if isinstance(value, list) else []


class Judge:
    def __init__(self, report, table):
        self.report, self.table, self.reasons = report, table, []

    def refuse(self, reason):
        if reason not in self.reasons:
            self.reasons.append(reason)

    def get(self, object_, key, type_, where):
        value = object_.get(key) if isinstance(object_, dict) else None
        good = is_number(value) if type_ is float else \
            isinstance(value, type_) and \
            (type_ is not int or not isinstance(value, bool))
        if not good:
            self.refuse(f"{where}: `{key}` is missing, or no {type_.__name__}")
            return None
        return value

    # ---- the machine

    def machine(self):
        report = self.report
        if self.get(report, "probe", int, "report") != VERSION:
            self.refuse(f"report: `probe` is {report.get('probe')!r}, and this "
                        f"judge knows version {VERSION}: run it again with the "
                        "newest anec")
        version = self.get(report, "anec", str, "report")
        if version and not re.fullmatch(r"\d+\.\d+\.\d+", version):
            self.refuse(f"report: `anec` is {version!r}, which is no version")
        for key, expected in (("backend", "ane"), ("framework", "system")):
            if self.get(report, key, str, "report") != expected:
                self.refuse(f"report: `{key}` is {report.get(key)!r}, so it is "
                            "not of an engine")
        chip = self.get(report, "chip", str, "report") or ""
        target = target_of(chip)
        if target not in self.table.targets:
            self.refuse(f"report: {chip!r} is no chip of docs/reference/chips.md")
        elif self.get(report, "target", str, "report") != target:
            self.refuse(f"report: the target of {chip} is {target}, not "
                        f"{report.get('target')!r}")
        self.system(self.get(report, "system", str, "report") or "")
        if self.get(report, "running", str, "report") \
                if "running" in report else False:
            self.refuse("report: it ended while a program ran: continue it "
                        "with `--resume`")
        self.inspection()

    def system(self, system):
        found = re.fullmatch(
            r"Version (\d+)(\.\d+){1,2} \(Build (\d+)([A-Z])\d+[a-z]?\)",
            system)
        if not found:
            self.refuse(f"report: {system!r} is not how macOS names itself")
            return
        major, build = int(found[1]), int(found[3])
        if major not in BUILDS:
            self.refuse(f"report: macOS {major} is not one that this judge "
                        "knows")
        elif BUILDS[major] != build:
            self.refuse(f"report: builds of macOS {major} start with "
                        f"{BUILDS[major]}, not {build}")

    def inspection(self):
        inspection = self.get(self.report, "inspection", dict, "report")
        if inspection is None:
            return
        if inspection.get("virtual_machine") is True:
            self.refuse("inspection: it is of a virtual machine")
        for key in ("chip", "system"):
            if inspection.get(key) != self.report.get(key):
                self.refuse(f"inspection: `{key}` is another than the report's")
        symbols = self.get(inspection, "symbols", list, "inspection") or []
        if not any(isinstance(symbol, dict) and
                   symbol.get("name") == "_ANEInMemoryModel" and
                   symbol.get("found") is True for symbol in symbols):
            self.refuse("inspection: the framework has no `_ANEInMemoryModel`")
        paths = self.get(inspection, "paths", dict, "inspection") or {}
        for path in self.opened():
            if paths.get(path) is not True:
                self.refuse(f"paths: {path} opened, and the inspection says "
                            "that it cannot")

    # ---- paths and trials

    def opened(self):
        return [path["path"] for path in objects(self.report.get("paths"))
                if path.get("opened") is True and
                isinstance(path.get("path"), str)]

    def paths(self):
        names = []
        self.get(self.report, "paths", list, "report")
        for entry in objects(self.report.get("paths")):
            name = self.get(entry, "path", str, "paths")
            opened = self.get(entry, "opened", bool, f"paths: {name}")
            if name not in PATHS:
                self.refuse(f"paths: there is no path {name!r}")
            if name in names:
                self.refuse(f"paths: {name} occurs twice")
            names.append(name)
            if opened is False and not entry.get("why"):
                self.refuse(f"paths: {name} did not open, and it is not said "
                            "why")
        if not self.opened():
            self.refuse("paths: no path opened")
        return names

    def trial(self, entry, paths, seen):
        kernel = self.get(entry, "trial", str, "trials")
        path = self.get(entry, "path", str, "trials")
        where = f"trials: {path}/{kernel}"
        verdict = self.get(entry, "verdict", str, where)
        if kernel not in self.table.hazards:
            self.refuse(f"{where}: there is no such program")
        if path not in paths:
            self.refuse(f"{where}: there is no such path in `paths`")
        if (path, kernel) in seen:
            self.refuse(f"{where}: it occurs twice")
        seen[path, kernel] = entry
        if verdict not in VERDICTS:
            self.refuse(f"{where}: there is no verdict {verdict!r}")
            return
        if verdict == "not-tried":
            if not entry.get("why"):
                self.refuse(f"{where}: not tried, and it is not said why")
            if "measured" in entry:
                self.refuse(f"{where}: not tried, and measured")
            return
        if path in paths and path not in self.opened():
            self.refuse(f"{where}: tried by a path that did not open")
        seconds = self.get(entry, "seconds", float, where)
        if seconds is not None and not 0 <= seconds <= 3600:
            self.refuse(f"{where}: {seconds} s for one program")
        if verdict in ("refused", "crashed", "timed-out"):
            if not entry.get("why"):
                self.refuse(f"{where}: {verdict}, and it is not said why")
            if "measured" in entry:
                self.refuse(f"{where}: {verdict}, and measured")
            return
        self.errors(entry, kernel, verdict, where)
        if kernel == "training-step":
            self.losses(entry, verdict, where)
        else:
            self.times(entry, kernel, seconds, where)

    def errors(self, entry, kernel, verdict, where):
        relative = self.get(entry, "relative_error", float, where)
        largest = self.get(entry, "largest_error", float, where)
        if relative is None or largest is None:
            return
        if relative < 0 or largest < 0:
            self.refuse(f"{where}: an error below 0")
        if (relative == 0) != (largest == 0):
            self.refuse(f"{where}: one error is 0, and the other is not")
        limit = TRAINED if kernel == "training-step" else RIGHT
        if verdict == "right" and relative > limit and \
                kernel not in OWN_ERROR:
            self.refuse(f"{where}: right, with a relative error of {relative}")
        if verdict == "wrong" and relative == 0:
            self.refuse(f"{where}: wrong, without an error")

    def losses(self, entry, verdict, where):
        losses = self.get(entry, "losses", list, where) or []
        expected = self.get(entry, "expected_losses", list, where) or []
        if not losses or len(losses) != len(expected) or \
                not all(map(is_number, losses + expected)):
            self.refuse(f"{where}: the losses are no two lists of numbers")
        elif verdict == "right" and any(
                abs(a - b) > 0.02 * abs(b) for a, b in zip(losses, expected)):
            self.refuse(f"{where}: right, with other losses")

    def times(self, entry, kernel, seconds, where):
        if kernel == "after-idle":
            return
        measured = self.get(entry, "measured", dict, where)
        if measured is None:
            return
        median = self.get(measured, "median_ms", float, where)
        runs = self.get(measured, "runs", int, where)
        load = self.get(measured, "load_ms", float, where)
        if None in (median, runs, load):
            return
        if runs < 1 or load < 0:
            self.refuse(f"{where}: {runs} runs, loaded in {load} ms")
        if not LEAST_MS <= median <= MOST_MS:
            self.refuse(f"{where}: no engine takes {median} ms for a run")
        # Half of the runs take the median or longer.
        if seconds is not None and median * runs / 2 + load > seconds * 1000:
            self.refuse(f"{where}: {runs} runs of {median} ms do not fit into "
                        f"{seconds} s")
        predicted = self.table.predicted.get(
            (target_of(str(self.report.get("chip"))), kernel))
        if predicted and not predicted / FAR <= median <= predicted * FAR:
            self.refuse(f"{where}: {median} ms, where {predicted} ms is "
                        "predicted")
        if "slowdown" in measured:
            first = self.get(measured, "first_ms", float, where)
            last = self.get(measured, "last_ms", float, where)
            slowdown = self.get(measured, "slowdown", float, where)
            if None not in (first, last, slowdown) and (
                    first <= 0 or abs(last / first - slowdown) > 0.01):
                self.refuse(f"{where}: a slowdown of {slowdown}, from {first} "
                            f"to {last} ms")

    def trials(self, paths):
        seen = {}
        for entry in self.get(self.report, "trials", list, "report") or []:
            if isinstance(entry, dict):
                self.trial(entry, paths, seen)
            else:
                self.refuse("trials: an entry is no object")
        tried = [entry for entry in seen.values()
                 if entry.get("verdict") in VERDICTS[:-1]]
        if not tried:
            self.refuse("trials: nothing was tried")
        medians = [entry["measured"].get("median_ms") for entry in tried
                   if isinstance(entry.get("measured"), dict)]
        if len(medians) >= 5 and len(set(map(str, medians))) == 1:
            self.refuse("trials: all programs take the same time")
        for path in self.opened():
            basics = [seen.get((path, kernel)) for kernel in BASICS]
            if all(basics) and not any(entry.get("verdict") == "right"
                                       for entry in basics) and any(
                    entry.get("verdict") == "right"
                    for (by, _), entry in seen.items() if by == path):
                self.refuse(f"trials: {path} has programs that are right, and "
                            "the simplest ones are not")
        return seen

    # ---- what follows from trials

    def hazards(self, seen):
        known = set(self.table.hazards.values())
        named = set()
        self.get(self.report, "hazards", list, "report")
        for entry in objects(self.report.get("hazards")):
            hazard = self.get(entry, "hazard", str, "hazards")
            where = f"hazards: {hazard}"
            verdict = self.get(entry, "verdict", str, where)
            right = self.get(entry, "right", int, where)
            tried = self.get(entry, "tried", int, where)
            if hazard not in known:
                self.refuse(f"{where}: there is no such hazard")
            if hazard in named:
                self.refuse(f"{where}: it occurs twice")
            named.add(hazard)
            if verdict not in HAZARD_VERDICTS:
                self.refuse(f"{where}: there is no verdict {verdict!r}")
            of = [trial for (_, kernel), trial in seen.items()
                  if self.table.hazards.get(kernel) == hazard and
                  trial.get("verdict") != "not-tried"]
            if tried is not None and tried != len(of):
                self.refuse(f"{where}: {tried} tried, and the trials have "
                            f"{len(of)}")
            rights = sum(trial.get("verdict") == "right" for trial in of)
            # Of those that are right, some can be slow.
            if right is not None and (right > rights or hazard != "decay" and
                                      right != rights):
                self.refuse(f"{where}: {right} right, and the trials have "
                            f"{rights}")
            failed = entry.get("failed", [])
            if (verdict == "present") != bool(failed):
                self.refuse(f"{where}: {verdict}, with the failures {failed}")
            for name in failed if isinstance(failed, list) else []:
                path, _, kernel = str(name).partition("/")
                trial = seen.get((path, kernel), {})
                if self.table.hazards.get(kernel) != hazard or \
                        trial.get("verdict") in (None, "not-tried") or \
                        trial.get("verdict") == "right" and hazard != "decay":
                    self.refuse(f"{where}: {name} did not fail")
        for (_, kernel), trial in seen.items():
            hazard = self.table.hazards.get(kernel)
            if hazard and hazard not in named:
                self.refuse(f"hazards: {hazard} is missing")

    def rules(self):
        rules = self.get(self.report, "rules", list, "report")
        counts = self.get(self.report, "counts", dict, "report")
        if rules is None or counts is None:
            return
        verdicts = [str(rule.get("verdict")) if isinstance(rule, dict)
                    else None for rule in rules]
        for verdict in verdicts:
            if verdict not in RULE_VERDICTS:
                self.refuse(f"rules: there is no verdict {verdict!r}")
        for verdict in set(verdicts) | set(counts):
            if counts.get(verdict, 0) != verdicts.count(verdict):
                self.refuse(f"counts: {counts.get(verdict, 0)} rules are "
                            f"{verdict!r}, and `rules` has "
                            f"{verdicts.count(verdict)}")
        for assumption in self.get(self.report, "assume", list,
                                   "report") or []:
            if not re.fullmatch(r"[a-z0-9-]+=(allow|deny)", str(assumption)):
                self.refuse(f"assume: {assumption!r} is no assumption")
            elif str(assumption).endswith("=deny") and not any(
                    hazard.get("verdict") == "present"
                    for hazard in objects(self.report.get("hazards"))):
                self.refuse(f"assume: {assumption}, and no hazard is present")

    def run(self):
        if not isinstance(self.report, dict):
            self.refuse("report: it is no object")
            return self.reasons
        self.machine()
        paths = self.paths()
        seen = self.trials(paths)
        self.hazards(seen)
        self.rules()
        return self.reasons


# ---- taking over

def measured(report, table, digest):
    """What is kept of a report."""
    version = re.match(r"Version ([\d.]+) \(Build (\w+)\)", report["system"])
    rows = []
    for trial in report["trials"]:
        if trial["verdict"] == "not-tried":
            continue
        row = {"path": trial["path"],
               "hazard": table.hazards[trial["trial"]],
               "kernel": trial["trial"], "verdict": trial["verdict"]}
        if "median_ms" in trial.get("measured", {}):
            row["median_ms"] = trial["measured"]["median_ms"]
            row["runs"] = trial["measured"]["runs"]
        rows.append(row)
    return {"measured": MEASURED_VERSION, "chip": report["chip"],
            "target": report["target"], "macos": version[1],
            "build": version[2], "anec": report["anec"],
            "report_sha256": digest,
            # What programs showed; rules that do not hold are for one machine.
            "assume": [assumption for assumption in report["assume"]
                       if assumption.endswith("=deny")],
            "rows": rows}


def differences(new, old):
    """Why `new` cannot be of the same chip and system as `old`."""
    before = {(row["path"], row["kernel"]): row for row in old["rows"]}
    for row in new["rows"]:
        other = before.get((row["path"], row["kernel"]))
        where = f"{row['path']}/{row['kernel']}"
        if other and {row["verdict"], other["verdict"]} == {"right", "wrong"}:
            yield f"{where}: {row['verdict']}, and {other['verdict']} before"
        if other and "median_ms" in row and "median_ms" in other:
            ratio = row["median_ms"] / other["median_ms"]
            if not 1 / 3 <= ratio <= 3:
                yield (f"{where}: {row['median_ms']} ms, and "
                       f"{other['median_ms']} ms before")


def file_name(taken):
    chip = taken["chip"].lower().replace(" ", "-")
    return f"{chip}-{taken['build'].lower()}.json"


def load(path):
    """The value of a file, its digest, and why it is none."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        return None, "", [f"report: {error.strerror}"]
    def twice(pairs):
        keys = [key for key, _ in pairs]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"`{key}` occurs twice in an object")
        return dict(pairs)
    try:
        return (json.loads(text, object_pairs_hook=twice),
                hashlib.sha256(text).hexdigest(), [])
    except (ValueError, RecursionError) as error:
        return None, "", [f"report: it is no JSON: {error}"]


def judge(path, table):
    report, digest, reasons = load(path)
    return report, digest, reasons or Judge(report, table).run()


def take(report, digest, table, folder):
    """Writes what is kept, and returns no reasons; or why not."""
    taken = measured(report, table, digest)
    path = os.path.join(folder, file_name(taken))
    if os.path.exists(path):
        old, _, reasons = load(path)
        reasons += list(differences(taken, old)) if old else []
        if reasons:
            return [f"{file_name(taken)} says otherwise: {reason}"
                    for reason in reasons]
    with open(path, "w") as file:
        json.dump(taken, file, indent=1)
        file.write("\n")
    return []


def check(folder, table):
    """The reasons why files of the folder are not what was taken over."""
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json"):
            continue
        taken, _, reasons = load(os.path.join(folder, name))
        yield from (f"{name}: {reason}" for reason in reasons)
        if reasons:
            continue
        if not isinstance(taken, dict) or \
                taken.get("measured") != MEASURED_VERSION:
            yield f"{name}: it is not of version {MEASURED_VERSION}"
            continue
        try:
            if file_name(taken) != name:
                yield f"{name}: it should be {file_name(taken)}"
            if target_of(taken["chip"]) != taken["target"]:
                yield f"{name}: {taken['target']} is not {taken['chip']}"
            for row in taken["rows"]:
                if table.hazards.get(row["kernel"]) != row["hazard"]:
                    yield f"{name}: there is no kernel {row['kernel']}"
        except (KeyError, TypeError, AttributeError) as error:
            yield f"{name}: {error!r}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("report", nargs="*")
    parser.add_argument("--into", metavar="FOLDER")
    parser.add_argument("--check", metavar="FOLDER")
    parser.add_argument("--table", default=CHIPS, help="another docs/reference/chips.md")
    given = parser.parse_args()
    table = Table(given.table)
    refused = False
    if given.check:
        reasons = list(check(given.check, table))
        print("\n".join(reasons), end="\n" * bool(reasons))
        refused = bool(reasons)
    for path in given.report:
        report, digest, reasons = judge(path, table)
        if not reasons and given.into:
            reasons = take(report, digest, table, given.into)
        for reason in reasons:
            print(f"{path}: refused: {reason}")
        if not reasons:
            print(f"{path}: good: {report['chip']}, {report['system']}")
        if not reasons and given.into:
            print("refresh docs/reference/chips.md: cmake --build build --target "
                  "refresh-docs")
        refused |= bool(reasons)
    sys.exit(refused)


if __name__ == "__main__":
    main()
