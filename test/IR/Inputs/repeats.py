"""Writes a program with nested repeats.

usage: repeats.py DEPTH FROM TO > FILE.ir"""
import sys

depth, begin, end = map(int, sys.argv[1:])


def repeat(body):
    return (f'  %y = repeat(%x) {{body = "{body}", from = {begin}, to = {end}, '
            "carried = 1} : fp16[2]\n")


print("host @m(%x: fp16[2]) -> (%y: fp16[2]) {role = forward, of = \"m\"} {\n"
      + repeat(f"b{depth - 1}") + "  return %y\n}")
for level in reversed(range(depth)):
    op = repeat(f"b{level - 1}") if level else "  %y = relu(%x) : fp16[2]\n"
    print(f"host @b{level}(%i: int32, %x: fp16[2]) -> (%y: fp16[2]) "
          f'{{role = body, of = "m"}} {{\n{op}  return %y\n}}')
