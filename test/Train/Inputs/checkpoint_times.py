"""Checks what a run said of the time that is left, where checkpoints take most of it.

usage: checkpoint_times.py RUN OUTPUT SAVE-EVERY VALIDATE-EVERY"""
import json
import re
import sys


def due(first, last, every):
    return len([step for step in range(first, last + 1) if step % every == 0 or step == last])


def main():
    folder, output, save, validate = sys.argv[1:]
    save, validate = int(save), int(validate)
    lines = [json.loads(line) for line in open(f"{folder}/train.jsonl")]
    text = open(output).read()
    last = len(lines)
    summary = re.search(r"(\d+) steps in ([\d.]+) s with \d+ validations in ([\d.]+) s, "
                        r"(\d+) checkpoints in ([\d.]+) s \(steps waited ([\d.]+) s\)", text)
    wall, waited = float(summary[2]), float(summary[6])
    steps = sum(line["ms"] for line in lines) / 1e3
    others = sum(line.get("val_ms", 0) for line in lines) / 1e3
    # Time that is counted twice would not fit into the run.
    assert steps + others + waited <= wall + 0.5, (steps, others, waited, wall)
    assert steps + others + waited >= 0.7 * wall, (steps, others, waited, wall)
    assert waited > 0.5 * steps, "checkpoints are not slow enough for this test"

    written = re.findall(r"checkpoint of step (\d+) in ([\d.]+) s \(steps waited ([\d.]+) s\)",
                         text)
    assert [int(step) for step, _, _ in written] == list(range(save, last + 1, save)), written
    logged = [line["checkpoint_write_ms"] for line in lines if "checkpoint_write_ms" in line]
    assert len(logged) >= len(written) - 2 and min(logged) > 1, logged
    assert any("checkpoint_wait_ms" in line for line in lines)
    assert "for the one before" in text

    # What the mean of the measured times says at each step that is shown.
    compared = 0
    for match in re.finditer(r"^(?:step (\d+)/.* ETA ([\d:]+)(.*)|checkpoint of .*)$", text,
                             re.MULTILINE):
        if not match[1] or match[3]:
            continue
        step = int(match[1])
        before = [(float(a), float(b)) for _, a, b in
                  re.findall(r"checkpoint of step (\d+) in ([\d.]+) s \(steps waited ([\d.]+) s",
                             text[:match.start()])]
        done = lines[:step]
        mean = sum(line["ms"] for line in done) / step / 1e3
        times = [line["val_ms"] / 1e3 for line in done if "val_ms" in line]
        expected = ((last - step) * mean + due(step + 1, last, validate) * sum(times) / len(times)
                    if step < last else 0)
        expected += (due(step, last, save) - 1) * sum(b for _, b in before) / len(before)
        expected += sum(a for a, _ in before) / len(before)
        minutes, seconds = match[2].split(":")
        shown = 60 * int(minutes) + int(seconds)
        # Times in the output have one digit.
        assert abs(shown - expected) <= 1 + 0.05 * due(step, last, save), (match[0], expected)
        compared += 1
    assert compared > 2, text
    print(f"{compared} times left as the means say; a step takes no time of a checkpoint")


main()
