"""Compiles the examples of a page: every ```tdsl block must be accepted, and
every ```tdsl error or ```tdsl warning block give what the ```text block below
it shows. A block ```tdsl NAME.tdsl is a file that later ones import."""

import pathlib
import re
import subprocess
import sys

page, anec, folder = sys.argv[1:]
folder = pathlib.Path(folder)
folder.mkdir(parents=True, exist_ok=True)
blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", pathlib.Path(page).read_text(),
                    re.MULTILINE | re.DOTALL)
checked = 0
for index, (kind, text) in enumerate(blocks):
    if not kind.startswith("tdsl"):
        continue
    if kind.endswith(".tdsl"):
        (folder / kind.split()[1]).write_text(text)
        continue
    fails = kind == "tdsl error"
    shown = blocks[index + 1][1] if fails or kind == "tdsl warning" else ""
    name = shown.partition(":")[0] or f"example{index}.tdsl"
    (folder / name).write_text(text)
    run = subprocess.run([anec, name, "--emit=ir"], cwd=folder,
                         capture_output=True, text=True)
    if run.stderr != shown or (run.returncode != 0) != fails:
        sys.exit(f"{page}: this example gives\n{text}\n{run.stderr}")
    checked += 1
print(f"{checked} examples")
