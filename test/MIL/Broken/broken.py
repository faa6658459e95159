"""Runs anec on every .mil file of a folder and compares its errors with those
that the comments at the top of the file say: `// LINE:COLUMN: message [kind]`,
all of them, in order, and none else. A note follows its error as
`// LINE:COLUMN: note: message`."""
import pathlib
import re
import subprocess
import sys

PLACE = re.compile(r".*?\.mil:(\d+:\d+): (error|note): (.*)")


def expected(text):
    lines = []
    for line in text.splitlines():
        if not line.startswith("// "):
            break
        lines.append(line[3:])
    return lines


def reported(tool, path):
    run = subprocess.run([tool, path.name], cwd=path.parent,
                         capture_output=True, timeout=60)
    if run.returncode != 1:
        return [f"exit code {run.returncode}"]
    if run.stdout:
        return ["something on standard output"]
    lines = []
    for line in run.stderr.decode().splitlines():
        if match := PLACE.fullmatch(line):
            place, severity, message = match.groups()
            note = "note: " if severity == "note" else ""
            lines.append(f"{place}: {note}{message}")
    return lines


def main():
    tool, folder = sys.argv[1:]
    files = sorted(pathlib.Path(folder).glob("*.mil"))
    wrong = 0
    for path in files:
        want = expected(path.read_text())
        have = reported(tool, path)
        if want and want == have:
            continue
        wrong += 1
        print(path.name)
        for line in want:
            print("  expected", line)
        for line in have:
            print("  reported", line)
    print(f"{len(files)} files, {wrong} wrong")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
