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

    // Last: to all others its copies are redundant.
    &passes::IsolateResults,
};

llvm::ArrayRef<const PassDef *> anec::defaultPipeline() { return pipeline; }
