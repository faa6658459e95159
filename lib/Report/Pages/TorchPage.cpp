//===- TorchPage.cpp - docs/formats/pytorch.md, from the operators -------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Pages.h"
#include "lib/Torch/Operators.h"

using namespace anec;

static constexpr llvm::StringLiteral torchIntroduction = R"(# PyTorch models

`anec` and `ane-run` take a `.pt2` archive of `torch.export.save` wherever they take MIL. They read it without Python and without PyTorch.

```python
program = torch.export.export(model.eval(), (example,))   # or with dynamic_shapes=...
torch.export.save(program, "model.pt2")
```

```sh
ane-run info model.pt2                                     # inputs, outputs, states, ops, weights
ane-run model.pt2 --numerics=fp32 --input x=x.npy --output-dir out
anec check model.pt2 --target=m1,m4 --for=coreml           # which ops of the package leave the engine
anec model.pt2 -o model.mlpackage                          # for Core ML, computed in fp16, which the engine needs
anec model.pt2 --precision=fp32 -o model.mlpackage         # computed in fp32, as in the model
ane-run model.mlpackage --input x=x.npy --compare --reference=model.pt2   # how far the package is from the model
anec model.pt2 --shape x=1x3x224x224 -o model.mil          # if its extents are symbolic
```

## From Python
`import anec.torch`, in the [Python module](../use/embedding.md), takes a module and example arguments, or an `ExportedProgram`. It needs PyTorch 2.6 or newer.

```python
import torch, anec.torch

model, args = torchvision.models.resnet18().eval(), (torch.rand(1, 3, 224, 224),)
anec.torch.to_mlpackage(model, args, "resnet.mlpackage")           # in fp16; precision="fp32" keeps the model's
for finding in anec.torch.check(model, args, "m1"):                # findings at lines of Python
    print(f"{finding.file}:{finding.line}: {finding.message}")
session = anec.torch.Session(model, args)                          # is called as the module is
print(session(torch.rand(1, 3, 224, 224)))
```

| function | |
|---|---|
| `export(model, args, kwargs, dynamic_shapes=, path=)` | the archive, at `path` or in a temporary folder, and the `ExportedProgram` |
| `compile(model, args, ...)` | an `anec.Program`, with the options of `anec.compile` |
| `to_mlpackage(model, args, path, ...)` | a package, with the options of `Program.write` too |
| `check(model, args, target, ...)` | findings; of the path of Core ML, unless `framework=` says another |
| `Session(model, args, ...)` | runs: tensors in the structure of the example, tensors in that of the module's outputs. Tensors on the CPU share their memory with anec. Weights are those of the moment of the export, and extents that `dynamic_shapes` leaves open those of the example, unless `shapes={"x": (5, 3)}` gives others |

`torch.compile(model, backend="anec")` runs forward and backward passes by anec's CPU backend, in fp32, and leaves to PyTorch what anec does not read: random numbers of a dropout, float64, inputs and constants beyond 32 bits, for instance (a result beyond them is the nearest that fits). Graphs with symbolic extents are compiled for each shape that comes. It is a way to compare every operator of a training with PyTorch's, and not a fast one: [times of five models](../../benchmarks/README.md#torch-compile) beside eager execution and inductor.

```python
compiled = torch.compile(model, backend="anec")
loss = torch.nn.functional.cross_entropy(compiled(images), labels)
loss.backward()
for graph in anec.torch.report():          # one each, forward and backward
    print(graph)                           # operators by anec and by PyTorch, and why
```

## Training

`anec model.pt2 --loss=mse -o model.anepkg` makes a package that trains, with weights by
the names of the `state_dict`, and `--weights=` takes them back into the model:
[training.md](../use/training.md#programs-that-others-wrote). Export with `eval()`, or in
training mode, in which `batch_norm` has the statistics of each batch and updates the running
ones. A program of
forward and backward, as PyTorch derives it (`_export_forward_backward` of
`torch.export.experimental`), is read, too: its outputs are the loss and the gradients.

## What is read
| part | how |
|---|---|
| archive | of PyTorch 2.6 to 2.15 (version 8 of PyTorch's schema): tensors as they are (2.9 and newer), which are mapped, or pickled (2.6 to 2.8), of which only dictionaries of tensors are read. Entries must be stored as `torch.export.save` writes them; one that is damaged, occurs twice, overlaps another or contradicts the directory is an error. The checksum of an entry is compared when it is read first; `ane-run info` reads no weights, except where the program depends on their elements |
| program | as `torch.export.export` gives it, or after `run_decompositions()`; of `strict=True` and `False`. Regions of `torch.no_grad` and of autocast are replaced by their nodes |
| in-place operators | a new value, which views of the old one then show; views are written back to what they show |
| buffers that the model writes | states, which begin with 0. One whose buffer has other numbers has the difference to them. |
| inputs that the model writes | what they have then is one more output, `NAME_after`, with a remark |
| several models in an archive | each is a function; `--function=NAME` selects one |
| inputs | by the names of the parameters of `forward`; nested ones as PyTorch numbers them. Python numbers are what they were in the export |
| outputs | the keys of dictionaries and the fields of classes; otherwise the names of the values. Numbers are tensors without axes |
| extents that `dynamic_shapes` leaves open | must be given: `--shape NAME=1x3x64`; `ane-run` takes them from the .npy file. They must be in the range of the export |
| values that shapes depend on (masks as indices, `nonzero`, `item`, `nms`) | constants, or inputs that are given: `--fix NAME=NUMBERS`, and `ane-run` reads them from `--input`, with a remark |
| element types of arithmetic | PyTorch's rules, by which Python's numbers adapt to tensors |
| int64, uint32, uint64 | become int32. A constant or an input that does not fit is an error; a result that does not is the nearest that does, where PyTorch goes on with 64 bits, or takes int32 modulo 2^32. Smaller integers are taken modulo their range, as in PyTorch |
| float64, bfloat16 | become fp32, which rounds less than bfloat16 |
| float16 | rounds, but not with `--numerics=fp32`, which rounds nothing |
| complex numbers | in rotations and other products, views and absolute values, as pairs of fp32; not as inputs and outputs |
| `cond` | the branch that is taken, if the condition is known; otherwise Core ML's `cond` |
| `while_loop` | Core ML's `while_loop` |
| `scan`, `map` | turn by turn |
| PT2E's quantized programs | by their `quantize` and `dequantize` |
| dropout, batch normalization | in `eval()` mode; batch normalization also in training, where its running statistics are states |
| random numbers, script objects, subclasses of tensors, fake tensors | refused, with what to do |

The shape and the element type of every value are compared with those in the archive: a row that gives others is an error, not another number.

An error names the operator, the line of the user's Python that called it, and the module:

```
model.pt2: error: node `rand` (aten.rand.default): operator `aten.rand.default` is not supported: its result is different in every run; ... [torch-unknown-op]
model.pt2: note: node `rand` (aten.rand.default): at model.py:14, in forward: `noise = torch.rand(x.shape)`, module `encoder.layers.0` [torch-line]
```

## How it is tested
`test/Torch` compares small archives with PyTorch's outputs, among them one of each version of the layout, and damaged ones.
`test/World/module.py` compares `anec.torch` with PyTorch: outputs and gradients of architectures of torchvision, timm and transformers, and draws of convolutions, poolings and attentions.
`test/World/_torch_schemas.py` makes the table of defaults, `lib/Torch/Schemas.def`, of PyTorch's own declarations.

## Operators
In-place forms (`aten.add_.Tensor`) are those without the underscore.

| operator | read | |
|---|---|---|
)";

void anec::printTorchPage(llvm::raw_ostream &out) {
  out << torchIntroduction;
  for (const TorchOperator &op : torchOperators())
    out << "| " << op.name << " | " << (op.isRead ? "yes" : "no") << " | "
        << op.remark << " |\n";
}
