#!/usr/bin/env python3
# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what anec makes of templates with what jinja2 made of them.

chat-language.json has templates, the variables and messages that they are given, and the
text that jinja2 3.1.6 prints with the settings of transformers; there is none where it
raises an error. `record` makes the texts again (test/World/install has jinja2).

usage: chat_language.py check CASES.json FOLDER
       chat_language.py record CASES.json"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys


def run(folder, cases, index):
    case = cases["cases"][index]
    place = folder / str(index)
    place.mkdir()
    for name in ("tokenizer.json", "messages.json"):
        (place / name).symlink_to(folder / name)
    (place / "tokenizer_config.json").write_text('{"bos_token": "<s>", "eos_token": "</s>"}')
    (place / "chat_template.jinja").write_bytes(case["template"].encode())
    values = [f"--template-arg={name}={json.dumps(value)}"
              for name, value in cases["variables"].items()]
    done = subprocess.run(["ane-run", "tokenize", "--chat", place / "messages.json",
                           f"--tokenizer={place}", "--render"] + values,
                          capture_output=True, timeout=120)
    text = done.stdout.decode() if done.returncode == 0 else None
    if done.returncode not in (0, 1) or (text is None and b"chat_template" not in done.stderr):
        return f"{case['template']!r}: {done.returncode} {done.stderr[:300]}"
    if text != case.get("text"):
        return f"{case['template']!r}\n  here   {text!r} {done.stderr[:200]}\n  jinja2 {case.get('text')!r}"
    return None


def check(cases, folder):
    (folder / "messages.json").write_text(json.dumps(cases["messages"]))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [text for text in pool.map(lambda index: run(folder, cases, index),
                                           range(len(cases["cases"]))) if text]
    print("\n".join(wrong))
    return len(wrong) > 0


def record(path, cases):
    from transformers.utils.chat_template_utils import _compile_jinja_template
    variables = {"messages": cases["messages"], "tools": None, "documents": None,
                 "add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>",
                 **cases["variables"]}
    for case in cases["cases"]:
        case.pop("text", None)
        try:
            case["text"] = _compile_jinja_template(case["template"]).render(**variables)
        except Exception:  # of any kind: an error is what is expected
            pass
    path.write_text(json.dumps(cases, ensure_ascii=False, indent=0) + "\n")


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "record":
        sys.exit(record(path, json.loads(path.read_text())))
    sys.exit(check(json.loads(path.read_text()), pathlib.Path(sys.argv[3]).resolve()))
