#!/usr/bin/env python3
"""Makes logs of noise, some with published errors among it, and checks that
`anec explain --log` finds those at their lines, and nothing else.

usage: random-logs.py ANEC RECORDS.txt [--logs=N] [--seed=N]"""
import argparse
import importlib
import json
import random
import subprocess
import sys

# No files beside the source.
sys.dont_write_bytecode = True
records = importlib.import_module("published-errors").records

# What looks like an error of the engine, and is none.
LOOKALIKES = [
    "read 0x1d4 bytes at 0x281ae97a0, status=0x1d4",
    "status=0x1d from the flash chip",
    "vendor status: 0x00050004, retrying",
    "kr=0xe00002c2 opening AppleSMC",
    "Error Domain=NSCocoaErrorDomain Code=6 \"The file is locked\"",
    "Error Domain=NSURLErrorDomain Code=-1009 \"offline\"",
    "Error Domain=com.apple.appleneuralengineer Code=8",
    "xInvalidMILProgramx is a name",
    "HTTP 500: Request cancelled by the client",
    "NSCocoaErrorDomain Code=4097 \"connection to service named foo\"",
    "task finished with error code: -14140",
    "error code: -14 from the encoder",
    "espresso machine is warm; no error",
    "Planet not reachable, error 5; aneurysm scan failed",
    "no memory for the cache, trying again",
    "compile(mask=0x4) err=0",
    "com.apple.appleneuralengine loaded 3 programs",
    "_ANEClient: 12 programs in use",
    "-[_ANEClient compileModel:options:qos:error:] + 120",
    "E5RT: compiled 4 functions",
    "program loaded; 0 failures",
    "2 IOSurfaces of 16384 bytes",
]
WORDS = ("load model layer tensor the of bytes 12 0x5 0x1d4f 16384 error failed "
         "code= status: (0x5) CoreML GPU ok - [info] 2026-11-23 12:00:01.5").split()


def noise(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(LOOKALIKES).encode()
    if kind == 1:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(80))
                     ).replace(b"\n", b"")
    if kind == 2:
        return b"\x1b[%dm" % rng.randrange(50) + rng.choice(LOOKALIKES).encode()
    if kind == 3:
        return b"x" * rng.randrange(5000)
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(12))).encode()


def dressed(rng, error):
    """The error as logs and terminals show it."""
    line = error.encode()
    if rng.random() < 0.3:
        line = line.replace(b" ", b"  ", 3)
    if rng.random() < 0.3:
        line = line.swapcase()
    if rng.random() < 0.3:
        line = b"\x1b[1;31m" + line + b"\x1b[0m"
    if rng.random() < 0.3:
        line = b"2026-11-23 12:00:01.5 app[4283:37924] " + line
    if rng.random() < 0.1:
        line = b"z" * rng.randrange(600000) + b" " + line
    if rng.random() < 0.2:
        line += b"\r"
    return line


def make(rng, errors):
    """A log, and for each error in it its lines."""
    lines, planted = [], {}
    for number in range(1, rng.randrange(1, 120)):
        if rng.random() < 0.05:
            name, text = rng.choice(errors)
            planted.setdefault(name, []).append(number)
            lines.append(dressed(rng, text))
        else:
            lines.append(noise(rng))
    end = rng.choice([b"", b"\n"])
    return b"\n".join(lines + [b"the end"]) + end, planted


def found_in(anec, log):
    run = subprocess.run([anec, "explain", "--log=-", "--format=json"], input=log,
                         stdout=subprocess.PIPE, check=True)
    result = json.loads(run.stdout)
    found = {error["id"]: [error["firstLine"], error["lastLine"], error["count"]]
             for error in result["errors"]}
    for unknown in result["unknown"]:
        found["unknown: " + unknown["text"]] = unknown["firstLine"]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anec")
    parser.add_argument("records")
    parser.add_argument("--logs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    # Errors of one line that do not depend on being alone on it.
    errors = [(next(iter(expected)), log.strip())
              for _, _, expected, log in records(args.records)
              if log.count("\n") == 1 and list(expected.values()) == [1]
              and "unknown" not in expected]
    wrong = planted_count = 0
    for index in range(args.logs):
        rng = random.Random(args.seed * 1000003 + index)
        log, planted = make(rng, errors)
        planted_count += sum(map(len, planted.values()))
        expected = {name: [lines[0], lines[-1], len(lines)]
                    for name, lines in planted.items()}
        found = found_in(args.anec, log)
        if found != expected:
            wrong += 1
            print(f"log {index} of --seed={args.seed}:\n  expected {expected}\n"
                  f"  found    {found}")
    print(f"{args.logs} logs with {planted_count} errors of {len(errors)} kinds, "
          f"{wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
