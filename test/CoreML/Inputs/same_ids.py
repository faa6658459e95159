"""Whether two outputs of `ane-run generate --json` have the same ids:

    same_ids.py FILE FILE"""
import json
import sys

first, second = ([json.loads(line)["ids"] for line in open(path, encoding="utf-8")]
                 for path in sys.argv[1:3])
if not first or first != second:
    sys.exit(f"{first}\n{second}")
