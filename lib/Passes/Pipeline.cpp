//===- Pipeline.cpp - the default order of the passes ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Passes/PassManager.h"

using namespace anec;

static constexpr const PassDef *pipeline[] = {
    &passes::Canonicalize,
    &passes::FoldConstants,
    &passes::CSE,
    &passes::DCE,

    // Lower to MIL ops, then to the forms that are fast on the engine. Layout
    // comes last: it expects only such ops.
    &passes::PositiveIndices,
    &passes::Decompose,
    &passes::MergeAxes,
    &passes::MatmulToConv,
    &passes::AssignLayout,

    // Layout leaves reshapes that cancel, and constants to be reshaped.
    &passes::Canonicalize,
    &passes::FoldConstants,
    &passes::CSE,
    &passes::DCE,

    // Late: all other passes treat its copies as redundant.
    &passes::IsolateResults,

    // Last: other passes would simplify forms that the target requires.
    &passes::Legalize,
    &passes::DCE,
};

llvm::ArrayRef<const PassDef *> anec::defaultPipeline() { return pipeline; }

std::vector<const PassDef *> anec::coreMLPipeline(bool countsFromEnd) {
  std::vector<const PassDef *> result;
  if (countsFromEnd)
    result.push_back(&passes::PositiveIndices);
  for (const PassDef *pass :
       {&passes::JoinBias, &passes::MergeAxes, &passes::CoreMLTypes})
    result.push_back(pass);
  return result;
}

std::vector<const PassDef *>
anec::modelPipeline(const ModelPipelineOptions &options) {
  std::vector<const PassDef *> result;
  auto add = [&](std::initializer_list<const PassDef *> passes) {
    result.insert(result.end(), passes);
  };
  if (options.findLayers)
    add({&passes::FindLayers});
  // Masks first: to the other passes they are constants.
  if (options.train)
    add({&passes::ExposeMasks});
  // What has no inputs is a constant of each kernel, and never passed to one.
  add({&passes::FoldConstants});
  if (options.train)
    add({&passes::Differentiate, &passes::DropForward});
  else
    add({&passes::ExposeLogits});
  if (options.decode)
    add({&passes::Incremental});
  add({&passes::Canonicalize, &passes::FoldConstants, &passes::CSE,
       &passes::DCE});

  // Kernels start as layers, and are fused where that is faster.
  add({&passes::Place, &passes::FormKernels, &passes::FuseRmsnorm,
       &passes::FuseWoTranspose});
  if (options.train)
    add({&passes::ExposeTaps});
  add({&passes::PruneInterfaces});
  if (options.fusion == Fusion::Max)
    add({&passes::FuseKernels, &passes::PruneInterfaces});

  // Ops that the passes above moved together may be equal.
  add({&passes::Canonicalize, &passes::CSE, &passes::DCE});

  // Late: from here on, weights are ordinary values.
  if (options.packWeights)
    add({&passes::PackWeights});

  // Last: programs are complete.
  add({&passes::SplitKernels});
  return result;
}

std::vector<const PassDef *> anec::wholeModelPipeline(bool decode) {
  std::vector<const PassDef *> result = {&passes::FoldConstants,
                                         &passes::ExposeLogits};
  if (decode)
    result.push_back(&passes::Incremental);
  // Lowering the host adds lookups whose indices are positive.
  for (const PassDef *pass :
       {&passes::Canonicalize, &passes::FoldConstants, &passes::CSE,
        &passes::DCE, &passes::PositiveIndices, &passes::LowerHost,
        &passes::InlineHost})
    result.push_back(pass);
  return result;
}
