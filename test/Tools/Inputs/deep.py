#!/usr/bin/env python3
"""Prints a model of 40 layers that are all different."""
for i in range(40):
    print(f"layer l{i}(x: fp16[8, 16]) -> fp16[8, 16] {{\n"
          "  weight w: fp16[8, 8];\n"
          f"  return relu(w @ x + {i}.5) / 100.0;\n}}")
print("model deep(x0: fp16[8, 16], t: int32[16]) -> fp32 {")
for i in range(40):
    print(f"  x{i + 1} = l{i}(x{i});")
print("  return cross_entropy(x40, t);\n}")
