#!/usr/bin/env python3
"""Judges 200 made reports: good ones, and damaged, forged and contradictory ones.

usage: made-reports.py ROOT FOLDER

All are synthetic: no engine has run anything for them. Prints each good report
that is refused, each bad one that is not, or for another reason than the one
that was made, and the counts."""
import copy
import importlib.util
import json
import os
import random
import sys

root, folder = sys.argv[1:]
spec = importlib.util.spec_from_file_location("judge", f"{root}/data/judge.py")
judge = importlib.util.module_from_spec(spec)
spec.loader.exec_module(judge)
table = judge.Table(f"{root}/docs/reference/chips.md")
CHIPS = ["Apple M1", "Apple M1 Pro", "Apple M2 Max", "Apple M3", "Apple M3 Ultra",
         "Apple M4", "Apple M4 Max", "Apple M5", "Apple M5 Pro", "Apple M6"]
SYSTEMS = ["Version 14.6.1 (Build 23G93)", "Version 15.5 (Build 24F74)",
           "Version 26.5.2 (Build 25F84)", "Version 27.0 (Build 26A428)",
           "Version 27.0.1 (Build 26A434)"]


# ---- good ones

def trial_of(random_, target, path, kernel, verdict):
    entry = {"trial": kernel, "path": path, "verdict": verdict}
    if verdict == "not-tried":
        return entry | {"why": "it waits 6 s for the engine to go to sleep"}
    entry["seconds"] = round(random_.uniform(2, 9), 3)
    if verdict in ("refused", "crashed", "timed-out"):
        return entry | {"why": "compiling failed: no reason [ane-refused]"}
    error = random_.uniform(1e-4, 9e-3) if verdict == "right" else \
        random_.uniform(0.5, 2)
    entry |= {"relative_error": error, "largest_error": 3 * error}
    if kernel == "training-step":
        losses = [random_.uniform(3, 5) for _ in range(3)]
        return entry | {"losses": losses, "expected_losses": losses}
    if kernel == "after-idle":
        return entry
    median = table.predicted[target, kernel] * random_.uniform(0.5, 2)
    measured = {"load_ms": round(random_.uniform(20, 400), 3),
                "median_ms": median, "runs": 21}
    if kernel == "many-runs":
        measured |= {"runs": 5000, "first_ms": median, "last_ms": 1.1 * median,
                     "slowdown": 1.1}
        entry["seconds"] = 3 * measured["runs"] * median / 1000 + 1
    return entry | {"measured": measured}


def hazards_of(trials):
    hazards = []
    for hazard in dict.fromkeys(table.hazards.values()):
        of = [trial for trial in trials
              if table.hazards[trial["trial"]] == hazard]
        tried = [trial for trial in of if trial["verdict"] != "not-tried"]
        failed = [f"{trial['path']}/{trial['trial']}" for trial in tried
                  if trial["verdict"] != "right"]
        entry = {"hazard": hazard, "tried": len(tried),
                 "right": len(tried) - len(failed)}
        if failed:
            entry |= {"verdict": "present", "failed": failed}
        else:
            entry |= {"verdict": "not-seen" if tried else "unclear"}
        hazards.append(entry)
    return hazards


def good(seed):
    random_ = random.Random(seed)
    chip = CHIPS[seed % len(CHIPS)]
    target = judge.target_of(chip)
    system = random_.choice(SYSTEMS)
    opened = random_.sample(judge.PATHS, random_.randint(1, len(judge.PATHS)))
    failing = random_.sample(["tile", "same-operand", "width-12",
                              "small-operands", "batch-broadcast"],
                             random_.randint(1, 3))
    trials = []
    for kernel in table.hazards:
        for path in judge.PATHS:
            verdict = "right"
            if path not in opened or kernel == "after-idle":
                verdict = "not-tried"
            elif kernel in failing:
                verdict = random_.choice(judge.VERDICTS[1:5])
            trials.append(trial_of(random_, target, path, kernel, verdict))
    report = {
        "probe": 3, "anec": "0.9.0", "complete": False, "backend": "ane",
        "framework": "system", "path": "in-memory", "chip": chip,
        "system": system, "target": target,
        "assume": ["batch-broadcast=deny"] if "batch-broadcast" in failing
        else [], "counts": {}, "rules": [],
        "inspection": {"chip": chip, "system": system, "virtual_machine": False,
                       "symbols": [{"name": "_ANEInMemoryModel",
                                    "found": True}],
                       "paths": {path: True for path in judge.PATHS}},
        "paths": [{"path": path, "opened": path in opened} |
                  ({} if path in opened else {"why": "no [ane-no-symbol]"})
                  for path in judge.PATHS],
        "hazards": hazards_of(trials), "trials": trials}
    return report


# ---- bad ones: what is done to a good one, and the reason that must be given

BAD = []


def bad(reason):
    def add(change):
        BAD.append((change, reason))
        return change
    return add


def a_right(report, kernel=None):
    return next(trial for trial in report["trials"]
                if trial["verdict"] == "right" and "measured" in trial and
                (kernel or trial["trial"]) == trial["trial"])


def set_key(key, value):
    return lambda report: report.__setitem__(key, value)


def set_in(get, key, value):
    return lambda report: get(report).__setitem__(key, value)


KEYS = ("probe", "anec", "backend", "framework", "chip", "system", "target",
        "inspection", "paths", "trials", "hazards", "rules", "counts", "assume")
for key in KEYS:
    BAD.append((lambda report, key=key: report.pop(key), f"`{key}`"))
    BAD.append((set_key(key, 1.5), f"`{key}`"))
for key, value, reason in [
        ("probe", 2, "version 3"), ("probe", 4, "version 3"),
        ("probe", True, "version 3"), ("anec", "newest", "no version"),
        ("backend", "cpu", "not of an engine"),
        ("framework", "other", "not of an engine"),
        ("chip", "Apple M9 Max", "no chip"), ("chip", "Intel", "no chip"),
        ("chip", "Apple M4 Mega", "no chip"),
        ("target", "generic", "the target of"),
        ("system", "macOS 27", "how macOS names itself"),
        ("system", "Version 27.0 (Build 25A1)", "builds of macOS 27"),
        ("system", "Version 99.0 (Build 98A1)", "not one that"),
        ("running", "direct/tile", "ended while"),
        ("trials", [], "nothing was tried"), ("trials", [3], "no object"),
        ("paths", [], "no path opened"), ("hazards", [], "is missing"),
        ("counts", {"holds": 3}, "counts:"),
        ("rules", [{"rule": "tile", "verdict": "fine"}], "no verdict"),
        ("assume", ["tile"], "no assumption")]:
    BAD.append((set_key(key, value), reason))
for key, value, reason in [
        ("verdict", "great", "no verdict"), ("trial", "magic", "no such program"),
        ("path", "telepathy", "no such path"),
        ("seconds", -1, "for one program"), ("seconds", 1e9, "for one program"),
        ("seconds", "soon", "`seconds`"), ("relative_error", 0.5, "right, with"),
        ("relative_error", -1, "below 0"), ("relative_error", 0, "one error is 0"),
        ("largest_error", 0, "one error is 0"),
        ("largest_error", float("nan"), "`largest_error`"),
        ("largest_error", None, "`largest_error`"),
        ("measured", 7, "`measured`")]:
    BAD.append((set_in(lambda report: a_right(report, "conv"), key, value),
                reason))
for key, value, reason in [
        ("median_ms", 1e-4, "no engine takes"), ("median_ms", 5e4, "no engine"),
        ("median_ms", 0, "no engine"), ("median_ms", 900, "is predicted"),
        ("runs", 0, "0 runs"),
        ("runs", 10 ** 7, "do not fit"), ("load_ms", -3, "loaded in"),
        ("load_ms", 1e7, "do not fit"), ("runs", "many", "`runs`")]:
    BAD.append((set_in(lambda report: a_right(report, "attention-1024")
                       ["measured"], key, value), reason))
BAD.append((set_in(lambda report: a_right(report, "many-runs")["measured"],
                   "slowdown", 3.0), "a slowdown of"))


@bad("occurs twice")
def repeat_trial(report):
    report["trials"].append(copy.deepcopy(report["trials"][0]))


@bad("occurs twice")
def repeat_path(report):
    report["paths"].append(report["paths"][0])


@bad("not said why")
def no_reason(report):
    next(trial for trial in report["trials"]
         if trial["verdict"] == "not-tried").pop("why")


@bad("and measured")
def measured_untried(report):
    next(trial for trial in report["trials"] if trial["verdict"] == "not-tried")[
        "measured"] = {"median_ms": 1, "runs": 1, "load_ms": 1}


@bad("and measured")
def measured_refusal(report):
    trial = a_right(report, "conv-channels")
    trial |= {"verdict": "refused", "why": "no"}


@bad("not said why")
def silent_crash(report):
    trial = a_right(report, "conv-channels")
    trial |= {"verdict": "crashed"}
    trial.pop("measured")


@bad("wrong, without an error")
def wrong_without_error(report):
    a_right(report, "conv").update(verdict="wrong", relative_error=0,
                                   largest_error=0)


@bad("did not open")
def closed_path(report):
    path = a_right(report)["path"]
    next(entry for entry in report["paths"] if entry["path"] == path).update(
        opened=False, why="no")


@bad("did not open")
def silent_path(report):
    report["paths"][0] = {"path": report["paths"][0]["path"], "opened": False}


@bad("the inspection says")
def inspection_denies(report):
    report["inspection"]["paths"][a_right(report)["path"]] = False


@bad("virtual machine")
def virtual(report):
    report["inspection"]["virtual_machine"] = True


@bad("another than the report's")
def other_machine(report):
    report["inspection"]["chip"] = "Apple M4 Ultra"


@bad("no `_ANEInMemoryModel`")
def no_framework(report):
    report["inspection"]["symbols"][0]["found"] = False


@bad("the same time")
def one_time(report):
    for trial in report["trials"]:
        if "measured" in trial:
            trial["measured"]["median_ms"] = 0.2


@bad("right, with other losses")
def other_losses(report):
    for trial in report["trials"]:
        if "losses" in trial:
            trial["losses"] = [2 * loss for loss in trial["losses"]]


@bad("no two lists")
def lost_losses(report):
    next(trial for trial in report["trials"] if "losses" in trial)["losses"] = []


@bad("tried, and the trials have")
def hazard_tally(report):
    report["hazards"][0]["tried"] += 1


@bad("right, and the trials have")
def hazard_rights(report):
    report["hazards"][0]["right"] -= 1


@bad("with the failures")
def hazard_verdict(report):
    next(hazard for hazard in report["hazards"]
         if hazard["verdict"] == "present")["verdict"] = "not-seen"


@bad("with the failures")
def hazard_invented(report):
    report["hazards"][0]["verdict"] = "present"


@bad("did not fail")
def hazard_of_another(report):
    next(hazard for hazard in report["hazards"]
         if hazard["verdict"] == "present")["failed"] = ["in-memory/add"]


@bad("no such hazard")
def hazard_unknown(report):
    report["hazards"].append({"hazard": "rust", "verdict": "unclear", "right": 0,
                              "tried": 0})


@bad("occurs twice")
def hazard_twice(report):
    report["hazards"].append(report["hazards"][0])


@bad("is missing")
def hazard_missing(report):
    report["hazards"].pop()


@bad("the simplest ones are not")
def no_basics(report):
    path = a_right(report)["path"]
    for trial in report["trials"]:
        if trial["path"] == path and trial["trial"] in judge.BASICS:
            trial.update(verdict="refused", why="no")
            trial.pop("measured", None)


@bad("no hazard is present")
def denied_for_nothing(report):
    for hazard in report["hazards"]:
        hazard.pop("failed", None)
        hazard["verdict"] = "not-seen"
    report["assume"] = ["tile=deny"]


# ---- texts that are no reports

def texts(report):
    text = json.dumps(report)
    yield "", "no JSON"
    yield text[:len(text) // 2], "no JSON"
    yield text[:-1], "no JSON"
    yield text + "}", "no JSON"
    yield text.replace("{", "[", 1), "no JSON"
    yield "\x00" * 64, "no JSON"
    yield "[" * 100000, "no JSON"
    yield "[]", "no object"
    yield "null", "no object"
    yield "3", "no object"
    yield text[:-1] + ', "chip": "Apple M1"}', "occurs twice"
    yield text.replace('"probe": 3', '"probe": 3e400', 1), "version 3"


def places(value, found):
    """All containers in a value, with their keys."""
    for key in value if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            places(value[key], found)
    return found


def spoil(seed):
    """Whatever stands in a report: there is an answer."""
    random_ = random.Random(seed)
    report = good(seed)
    for _ in range(random_.randint(1, 4)):
        container, key = random_.choice(places(report, []))
        container[key] = random_.choice(
            [None, True, -1, 1e308, "", "x", [], {}, [[]], [{}], {"a": []},
             float("inf")])
    judge.Judge(report, table).run()


def main():
    for seed in range(300):
        spoil(seed)
    wrong, files = [], 0
    accepted = refused = 0

    def write(text):
        nonlocal files
        files += 1
        path = os.path.join(folder, f"{files:03}.json")
        with open(path, "w") as file:
            file.write(text)
        return path

    def refuse(text, expected, what):
        nonlocal refused
        path = write(text)
        _, _, reasons = judge.judge(path, table)
        if not any(expected in reason for reason in reasons):
            wrong.append(f"{path}: {what}: no reason has {expected!r}: "
                         f"{reasons}")
        refused += bool(reasons)

    for seed in range(40):
        path = write(json.dumps(good(seed)))
        _, _, reasons = judge.judge(path, table)
        accepted += not reasons
        wrong += [f"{path}: good, and refused: {reason}" for reason in reasons]
    for text, expected in texts(good(3)):
        refuse(text, expected, "text")
    seed = 100
    for change, expected in BAD:
        report = good(seed)
        # Programs to change, and a path that did not open.
        while len([path for path in report["paths"] if path["opened"]]) in (
                0, len(judge.PATHS)):
            seed += 1
            report = good(seed)
        seed += 1
        change(report)
        refuse(json.dumps(report), expected, getattr(change, "__name__", "?"))
    # Contradictions of what was taken over before.
    taken = os.path.join(folder, "measured")
    os.mkdir(taken)
    first = 0
    while files < 200:
        report = good(200 + first)
        first += 1
        assert not judge.take(report, "0", table, taken)
        trial = a_right(report, "conv")
        if files % 2:
            trial["measured"]["median_ms"] *= 7
            expected = "ms before"
        else:
            trial.update(verdict="wrong", relative_error=1, largest_error=1)
            report["hazards"] = hazards_of(report["trials"])
            expected = "right before"
        path = write(json.dumps(report))
        reasons = judge.take(report, "0", table, taken)
        if not any(expected in reason for reason in reasons):
            wrong.append(f"{path}: contradictory, and taken over: {reasons}")
        refused += bool(reasons)
        for name in os.listdir(taken):
            if list(judge.check(taken, table)):
                wrong.append(f"{taken}: {list(judge.check(taken, table))}")
            os.remove(os.path.join(taken, name))
    print("\n".join(wrong), end="\n" * bool(wrong))
    print(f"{files} made reports: {accepted} good ones accepted, {refused} bad "
          "ones refused with a reason")
    sys.exit(bool(wrong))


main()
