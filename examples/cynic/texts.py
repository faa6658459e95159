"""Writes bible.txt, a verse in a line and an empty line between chapters, and
dictionary.txt, short entries of The Devil's Dictionary by Ambrose Bierce, an entry in a
line.

usage: texts.py PACKAGES, the folder that the packages are unpacked in"""
import gzip
import pathlib
import re
import subprocess
import sys

# Most entries about peoples, faiths and women have aged: those with these words are left out.
AGED = re.compile(
    r"nigg|negro|afric|jew|hebrew|mahomet|mussulman|moslem|indian|chin[ae]|japan|woman|"
    r"women|female|girl|wife|wives|lady|black|white|race\b|christ|god\b|bible|church|turk|"
    r"irish|savage|hottentot|cannibal|slave|suicid|rape|breast|bosom|nun\b|mexic|hanged|"
    r"heathen|koran|allah|mormon|sex", re.I)
ENTRY = re.compile(r"[A-Z][A-Z'-]+, (?:n|v\.t|v\.i|adj|adv|pp|n\.pl)\. +.{15,330}$")


def bible(packages):
    program = (packages / "usr/bin/bible").resolve()
    said = subprocess.run([program, "-f", "-l2000", "gen1:1-rev22:21"], check=True, text=True,
                          cwd=packages / "usr/lib", stdin=subprocess.DEVNULL,
                          capture_output=True).stdout
    text, last = "", None
    for line in said.splitlines():
        book, chapter, verse = re.fullmatch(r"(\w+?)(\d+):\d+\s+(.*)", line).groups()
        text += ("" if last is None else "\n\n" if last != (book, chapter) else "\n") + verse
        last = book, chapter
    return text + "\n"


def dictionary(packages):
    with gzip.open(packages / "usr/share/dictd/devil.dict.dz", "rt") as file:
        text = file.read()
    text = text[text.index("ABASEMENT, n."):]
    for part in re.split(r"\n\s*\n", text):
        line = re.sub(r"\s+", " ", part).strip()
        # Verses are indented, and refer to others in braces.
        if not part.startswith("    ") and ENTRY.match(line) and not AGED.search(line) and (
                "{" not in line):
            yield line + "\n"


packages = pathlib.Path(sys.argv[1])
pathlib.Path("bible.txt").write_text(bible(packages))
pathlib.Path("dictionary.txt").write_text("".join(dictionary(packages)))
