//===- PackWeights.cpp - weights as inputs --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A weight in a program cannot change without compiling the program again. As
/// an input it can, and one program serves every layer. The price is that a
/// product with it stays a matmul, which the engine runs at a third of the
/// speed of a convolution.
///
//===----------------------------------------------------------------------===//

#include "OpenedModule.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/OpDef.h"

using namespace anec;

static bool packWeights(Module &module, PassContext &ctx) {
  OpenedModule opened(module);
  bool changed = false;
  for (OpenedBody &body : opened.bodies())
    for (unsigned group = 0; group < body.numGroups(); ++group) {
      if (!body.hasWeights(group))
        continue;
      body.group(group).weightsAreInputs = true;
      ctx.count("kernels");
      changed = true;
    }
  opened.close();
  return changed;
}

constinit const PassDef passes::PackWeights = {
    .name = "pack-weights",
    .summary = "Pass weights to kernels as inputs",
    .description = "call @k[%i](%x), with weight {name = \"k.w\"} in @k\n"
                   "  ==>  %w = weight(%i) {name = \"k.w\"}; call @k(%x, %w)",
    .stats = {{{"kernels", "calls that pass weights"}}},
    .tolerance = 0,
    .needs = Need::Bodies,
    .runOnModule = packWeights,
};
