//===- Pipeline.cpp - the default order of the passes ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Passes/PassManager.h"

using namespace anec;

static constexpr const PassDef *pipeline[] = {
    &passes::Canonicalize,
    &passes::CSE,
    &passes::DCE,

    // To ops that MIL has, then to the forms the engine is fast at. Layout
    // comes last: it wants to see only such ops.
    &passes::Decompose,
    &passes::MatmulToConv,
    &passes::AssignLayout,

    // Layout leaves reshapes that cancel, and constants to be reshaped.
    &passes::Canonicalize,
    &passes::FoldConstants,
    &passes::CSE,
    &passes::DCE,

    // Late: to all others its copies are redundant.
    &passes::IsolateResults,

    // Last: what others would take for a detour may be what the target wants.
    &passes::Legalize,
    &passes::DCE,
};

llvm::ArrayRef<const PassDef *> anec::defaultPipeline() { return pipeline; }

std::vector<const PassDef *>
anec::modelPipeline(const ModelPipelineOptions &options) {
  std::vector<const PassDef *> result;
  auto add = [&](std::initializer_list<const PassDef *> passes) {
    result.insert(result.end(), passes);
  };
  if (options.train)
    add({&passes::Differentiate, &passes::DropForward});
  else
    add({&passes::ExposeLogits});
  add({&passes::Canonicalize, &passes::CSE, &passes::DCE});

  // Kernels begin as layers, and become larger where that pays.
  add({&passes::Place, &passes::FormKernels, &passes::FuseRmsnorm,
       &passes::FuseWoTranspose});
  if (options.train)
    add({&passes::ExposeTaps});
  add({&passes::PruneInterfaces});
  if (options.fusion == Fusion::Max)
    add({&passes::FuseKernels, &passes::PruneInterfaces});

  // What the passes above moved together may be the same.
  add({&passes::Canonicalize, &passes::CSE, &passes::DCE});

  // Late: from here on, weights are values like others.
  if (options.packWeights)
    add({&passes::PackWeights});

  // Last: programs have all that they will have.
  add({&passes::SplitKernels});
  return result;
}
