"""Answers the requests of `harness.ask`: each line that is read is a function's name and its
arguments as JSON, each line that is printed the answer: {}, or {"error": what was raised}.
What else is printed goes to the standard error."""
import json
import os
import sys


def answer(functions):
    """Answers until there are no more requests."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        name, *values = json.loads(line)
        found = {}
        try:
            functions[name](*values)
        except Exception as error:  # Whatever a peer raises.
            found["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(found), file=answers, flush=True)
