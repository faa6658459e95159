#!/usr/bin/env python3
"""rename_weight.py MODEL.tdsl PACKAGE NAME: compiles a model into a package, in
which the first weight of the model itself has another name."""
import json
import re
import subprocess
import sys


def compile_renamed(model, package, name):
    """Returns whether anec takes the name."""
    text = subprocess.run(["anec", model, "--passes=", "--emit=ir"], check=True,
                          capture_output=True, text=True).stdout
    old = re.search(r'^host @.*?weight\(\) {name = ("[^"]*")', text,
                    re.M | re.S)[1]
    with open(package + ".ir", "w", encoding="utf-8") as file:
        file.write(text.replace(old, json.dumps(name)))
    return subprocess.run(["anec", package + ".ir", "-o", package],
                          capture_output=True).returncode == 0


if __name__ == "__main__":
    sys.exit(not compile_renamed(*sys.argv[1:]))
