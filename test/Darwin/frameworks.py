#!/usr/bin/env python3
"""Compares the headers of test/Darwin/Frameworks with their lists of symbols: what one
declares is in the other, and each name has the page that it is written after."""
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
import stubs

# Named by the compiler, not by a header.
COMPILER = {"___CFConstantStringClassReference", "___NSArray0__", "___NSDictionary0__"}
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Frameworks")
errors = names = 0


def error(text):
    global errors
    errors += 1
    print(f"error: {text}")


for folder in sorted(glob.glob(f"{here}/*/")):
    framework = os.path.basename(folder[:-1])
    text = "".join(open(path).read() for path in glob.glob(f"{folder}*.h"))
    pages = " ".join(re.findall(r"//([^\n]*)", text)).lower()
    code = re.sub(r"//[^\n]*", "", text)
    declared = {}
    for name in re.findall(r"@interface (\w+)", code):
        declared[f"_OBJC_CLASS_$_{name}"] = name
        declared[f"_OBJC_METACLASS_$_{name}"] = name
    for name in re.findall(r"__objc_exception__.*?@interface (\w+)", code, re.S):
        declared[f"_OBJC_EHTYPE_$_{name}"] = name
    # Functions and constants: what is neither a type nor a member.
    code = re.sub(r"@(interface|protocol)\b.*?@end", "", code, flags=re.S)
    code = re.sub(r"\b(typedef\b.*?|enum\s*\w*\s*(: \w+ )?)\{.*?\}[^;]*;|typedef[^;]*;", "",
                  code, flags=re.S)
    code = re.sub(r"^#.*$", "", code, flags=re.M)
    for statement in re.findall(r"[^;{}]+;", code):
        if "API_AVAILABLE" not in statement:
            continue
        symbol = re.search(r'__asm\("([^"]+)"\)', statement)
        plain = re.sub(r"API_AVAILABLE\(\w+\([\d.]+\)\)|__asm\([^)]*\)"
                       r"|__attribute__\(\(\w+\)\)", "", statement)
        name = (re.search(r"(\w+)\s*\(", plain) or re.search(r"(\w+)\s*;", plain))[1]
        declared[symbol[1] if symbol else f"_{name}"] = name
    has = stubs.read_stub(f"{folder}{framework}.tbd") - COMPILER
    for symbol in sorted(has - set(declared)):
        error(f"{framework}: {symbol} is in no header")
    for symbol in sorted(set(declared) - has):
        error(f"{framework}: {symbol} is not in the list")
    for name in sorted(set(declared.values())):
        # Apple's pages of Foundation go without some prefixes.
        short = name.lower().removeprefix("ns")
        if name.lower() not in pages and short not in pages:
            error(f"{framework}: {name} has no page")
    names += len(set(declared.values()))
print(f"{names} names, {errors} errors")
sys.exit(1 if errors else 0)
