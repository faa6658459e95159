"""Cuts a MIL file behind every kind of token in every context, and within
strings and numbers, and expects of each text an error with a place in it."""
import re
import subprocess
import sys

TOKEN = re.compile(r'"[^"\n]*"|->|[A-Za-z_][A-Za-z0-9_@]*|[-+.0-9]+|\S')


def cuts(text):
    """Where to cut: once for each token that follows the same two."""
    seen = set()
    before = ("", "")
    for match in TOKEN.finditer(text):
        token = match.group()
        if (before, token) not in seen:
            seen.add((before, token))
            yield match.end()
            if len(token) > 1:
                yield match.end() - 1
        before = (before[1], token)


def main():
    tool, source, scratch = sys.argv[1:]
    text = open(source).read()
    text = text[text.index("program"):]
    text = text[:text.rindex("}", 0, text.index("// CHECK")) + 1]
    count = wrong = 0
    for end in list(cuts(text)):
        with open(scratch, "w") as out:
            out.write(text[:end])
        run = subprocess.run([tool, scratch], capture_output=True, timeout=60)
        whole = end == len(text)
        placed = re.search(rb"\.mil:\d+:\d+: error: ", run.stderr)
        if run.returncode != (0 if whole else 1) or bool(placed) == whole:
            wrong += 1
            print(repr(text[max(0, end - 40):end]), run.returncode, run.stderr)
        count += 1
    print(f"{count} truncations, {wrong} wrong")


main()
