//===- OnnxPage.cpp - docs/formats/onnx.md, from the table of operators --===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Pages.h"
#include "lib/Onnx/Operators.h"

using namespace anec;

static constexpr llvm::StringLiteral onnxIntroduction = R"(# ONNX models

`anec` and `ane-run` take an `.onnx` file wherever they take MIL.

```sh
ane-run info model.onnx                                     # inputs, outputs, ops, weights
ane-run model.onnx --numerics=fp32 --input x=x.npy --output-dir out
anec check model.onnx --target=m1,m4 --for=coreml           # which ops of the package leave the engine
anec model.onnx -o model.mlpackage                          # for Core ML, computed in fp16, which the engine needs
anec model.onnx --interface=fp32 -o model.mlpackage         # the same, with fp32 inputs and outputs
anec model.onnx --precision=fp32 -o model.mlpackage         # computed in fp32, as in the model
anec model.onnx --calibrate=x=x.npy --remarks -o model.mlpackage   # in fp16 what these inputs allow
ane-run model.mlpackage --input x=x.npy --compare --reference=model.onnx   # how far the package is from the model
anec model.onnx --shape x=1x3x224x224 -o model.mil          # if its extents are symbolic
```

## What is read
| part | how |
|---|---|
| graph | the kernel `main`. Nodes become MIL ops in the model's own precision, fp32 for most; what depends only on constants and shapes is computed |
| operator sets | of the domain `ai.onnx`, versions 1 to 28, and [`com.microsoft`](#operators-of-onnxruntime). Other domains are errors, unless a function of the model defines the operator |
| attributes, inputs, outputs | those that the operator has in the model's version of the operator set: another is an error, and so is an attribute that has no counterpart and another value than its default |
| what changed between versions | as the version of the model has it; where ONNX's text and onnxruntime differ (odd padding of `ConvTranspose`'s `output_shape` before version 11), refused |
| functions of the model | inlined |
| `If` | the branch that is taken, if the condition is known; otherwise Core ML's `cond`, whose branches give the same types. A branch that is not taken need not be right |
| `Loop`, `Scan` | turn by turn, if the number of turns is known; a model may become 131,072 ops and one for every other byte. A `Loop` whose values decide when it ends is Core ML's `while_loop`: values keep their types. What is collected is as long as there are turns, whose number must be known then: by `--fix`, or by `--input` of `ane-run` |
| sequences, optional values | what is in them is known, and no input or output is one |
| inputs that decide which branch is taken, or how often | `--fix sr=16000` makes one a constant, in every format; `ane-run` also takes them from `--input` |
| extents with a name | must be given: `--shape NAME=1x3x64`; `ane-run` takes them from the .npy file |
| values that shapes depend on | such as the `shape` of a `Reshape`: constants, or computed from shapes; `ane-run` also takes them from `--input`, with a remark. The input then stays, and has no effect |
| int64, uint32, uint64 | become int32. A constant or an input that does not fit is an error; a result that does not is the nearest that does, where onnxruntime goes on with 64 bits, or takes int32 modulo 2^32 |
| double, bfloat16, float8e4m3fn, float8e5m2 | become fp32. A double that is too large is an error; of the others, constants are read, and inputs, outputs and `Cast` are refused |
| weights in other files | mapped. They must lie in the folder of the model or below it: `..` is an error, and links are not followed |
| tensors without elements | computed when the model is read; not as outputs |
| strings, maps, sparse tensors, training | refused by name |

An error names the file and the node, by its name or its first output:

```
model.onnx: error: node `conv1` (Conv): the attributes do not have a number for each spatial axis [onnx-node]
```

## How it is tested
`test/Onnx/cases.txt` lists what becomes of the cases that the ONNX project publishes for operators and small models (Debian's `libonnx-testdata`), compared in fp32 with its tolerances.
Of 1,072 cases, 994 pass, and the others are refused for what they are about: 25 have a sequence or an optional value as an input or output, or cut one at computed places; 18 have strings; 10 draw random numbers, `Dropout` in training among them; 9 are of training; 6 convert bfloat16 that is not a constant; 6 have tensors without elements as outputs; 4 (`test_operator_add_broadcast` and others of PyTorch) have doubles of up to 1e223, which fp32 does not hold.
`test/World/operators.py` compares the tables of attributes with the schemas of the packages `onnx` and `onnxruntime`, and random nodes of every operator and version with onnxruntime ([world.md](../develop/world.md)).

## Operators
*Since* is the first version of the operator set that has the operator.

| operator | since | read | |
|---|---|---|---|
)";

static constexpr llvm::StringLiteral microsoft = R"(
## Operators of onnxruntime
Of the domain `com.microsoft`, which onnxruntime's optimizer and quantization write, and some exporters. Operators of its memory layouts (`com.microsoft.nchwc`) are refused: save such a model with a lower `graph_optimization_level`.

| operator | read | |
|---|---|---|
)";

void anec::printOnnxPage(llvm::raw_ostream &out) {
  out << onnxIntroduction;
  std::vector<OnnxOperator> operators = onnxOperators();
  for (const OnnxOperator &op : operators) {
    if (!op.domain.empty())
      continue;
    out << "| " << op.name << " | ";
    if (op.isRead)
      out << op.since;
    out << " | " << (op.isRead ? "yes" : "no") << " | " << op.remark << " |\n";
  }
  out << microsoft;
  for (const OnnxOperator &op : operators)
    if (!op.domain.empty())
      out << "| " << op.name << " | " << (op.isRead ? "yes" : "no") << " | "
          << op.remark << " |\n";
}
