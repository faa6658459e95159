//===- LlamaFormats.h - what reader and writer share -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_LLAMAFORMATS_H
#define ANEC_LIB_TRAIN_LLAMAFORMATS_H

#include "lib/Arrays/Llama2c.h"
#include "lib/Train/LlamaWeights.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class raw_ostream;
}

namespace anec {

/// Calls `visit` for every array of a model with `layers` layers, in the order
/// of llama2.c's file.
void forEachLlamaArray(
    int64_t layers, bool tied,
    llvm::function_ref<void(LlamaRole, int64_t layer)> visit);

/// What llama2.c's programs compute with, whatever the weights are.
const ModelFacts &factsOfLlama2c();
/// The name of an array in a Llama2cFile.
std::string llama2cName(LlamaRole role, int64_t layer);
/// The weights of llama2.c's file.
LlamaWeights llamaWeightsOf(const Llama2cFile &file);
/// Writes llama2.c's file; `arrayOf` returns each array in its final layout.
void writeLlama2c(
    const LlamaWeights &weights,
    llvm::function_ref<ConstantRef(LlamaRole, int64_t layer)> arrayOf,
    llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_TRAIN_LLAMAFORMATS_H
