#!/usr/bin/env python3
"""Checks that no code tells what a function, a parameter or a result is by its
name: roles and owners say that (docs/reference/ir.md). Reports names that used to mean
something, and comparisons of names with literals or with parts of names.

usage: names.py ROOT"""
import pathlib
import re
import sys

NAMED = r"(?:function|host|model|layer|kernel|body|callee|entry|param|parameter" \
        r"|port|input|output|result|value|operand|tensor|weight)"
# What code of lib/, include/ and tools/ does not have, and why.
FORBIDDEN = [
    (r'"(?:loss_scale|targets|tokens|logits)"',
     "a parameter or result has a role"),
    (r'"\.(?:train|forward|backward|infer|prefill|decode|body|gradient|tap'
     r'|classifier)\b[^"]*"', "a function has a role and an owner"),
    (r"\b(?:\w*[nN]ames?(?:\[[^]]*\])?|callee|owner"
     r"|get\(param::(?:name|callee|body)\))\)*"
     r"(?:\.|->)(?:starts_with|ends_with|consume_front|consume_back|split|rsplit)"
     r"\(", "a name has no parts with a meaning"),
    (rf'\b\w*{NAMED}\w*(?:\(\)|\[[^]]*\])?(?:\.|->)name\s*[!=]=\s*"',
     "a name is not compared"),
    (rf'"\s*[!=]=\s*\w*{NAMED}\w*(?:\(\)|\[[^]]*\])?(?:\.|->)name\b',
     "a name is not compared"),
    (r'resultNames\(\)[^;]{0,40}[!=]=\s*"|resultNames\(\),\s*"',
     "a result has a role"),
]
# Where it is right, by the file and what is found.
ALLOWED = [
    (r"lib/Train/(TrainLog|CheckpointState)\.cpp", r'"(loss_scale|tokens)"',
     "keys of JSON files"),
    (r"include/anec/Train/TrainLog\.h", r'"tokens"', "what data is counted in"),
    (r"lib/Text/HuggingFace/PostProcessor\.cpp", r'"tokens"',
     "a key of tokenizer.json"),
    (r"lib/Import/GgufTokenizer(Json)?\.cpp", r'"tokens"',
     "keys of GGUF files and of tokenizer.json"),
    (r"lib/C/Windows\.cpp", r'"(tokens|targets)"',
     "arguments of the C API, in messages about null pointers"),
    (r"lib/Ops/(Params/)?\w+\.(cpp|h)", r'"(logits|targets)"',
     "parameters of ops, and what a decomposition calls values"),
    (r"include/anec/IR/Roles\.def", r'"logits"', "the table of roles"),
    (r"lib/Passes/Differentiate/\w+\.cpp",
     r'"(\.gradient|\.backward|loss_scale|logits)"',
     "what new functions and values are called"),
    (r"lib/Passes/Incremental/\w+\.cpp", r'"(\.decode|logits)"',
     "what new functions and values are called"),
    (r"lib/Report/Pages/.*", r'"targets"', "a page of the documentation"),
    (r"lib/Report/FindingJson\.cpp", r'"targets"', "a key of JSON: chips"),
    (r"tools/.*", r'"tokens"', "a flag"),
    (r"lib/Support/TemporaryName\.cpp", r"name\.(consume_back|rsplit)\(",
     "names of files"),
    (r"lib/Train/Checkpoint(Reader|Writer)\.cpp",
     r"name\.(consume_front|starts_with|ends_with)\(", "names of folders"),
    (r"lib/Import/LlamaWeights\.cpp", r"name\)\.starts_with\(",
     "names that others gave the arrays of a file"),
    (r"lib/Frontend/Hints\.cpp", r'"targets"', "a parameter of ops"),
    (r"lib/Passes/Differentiate/Adapters\.cpp", r'"targets"', "a part of --lora"),
    (r"lib/Frontend/(Lower|Statements)\.cpp", r"name\.starts_with\(",
     "the language lets `_x` be unused"),
    (r"lib/MIL/FunctionBinder\.cpp", r"name\.(starts_with|ends_with)\(",
     "names of attributes that compilers leave behind"),
    (r"lib/Passes/Lower/Widen\.cpp", r"param\.name == ", "a parameter of an op"),
    (r"lib/Ops/Report\.cpp", r"name\.starts_with\(", "the name of an op"),
    (r"(tools/ane-run/Probe\w*|lib/Probe/\w+)\.cpp", r"name\)?\.split\(",
     "names of the programs of a probe"),
    (r"lib/Probe/TrainTrial\.cpp", r'"(tokens|targets)"',
     "inputs of the model that is part of the program"),
]


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text,
                  flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def is_allowed(path, found):
    return any(re.fullmatch(where, str(path)) and re.search(what, found)
               for where, what, _ in ALLOWED)


def main(root):
    root = pathlib.Path(root)
    files = sorted(path.relative_to(root) for folder in ("include", "lib", "tools")
                   for path in (root / folder).rglob("*")
                   if path.suffix in {".h", ".cpp", ".mm", ".def"})
    errors = 0
    for path in files:
        text = without_comments((root / path).read_text("utf-8"))
        for pattern, reason in FORBIDDEN:
            for match in re.finditer(pattern, text):
                if is_allowed(path, match[0]):
                    continue
                line = text.count("\n", 0, match.start()) + 1
                print(f"{path}:{line}: {match[0]}: {reason}")
                errors += 1
    print(f"{len(files)} files, {errors} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
