//===- LlamaHints.h - what a model says of its weights ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_LLAMAHINTS_H
#define ANEC_LIB_IMPORT_LLAMAHINTS_H

#include "lib/Import/LlamaWeights.h"

namespace anec {

struct ReadOptions;
struct TrainState;

/// Reads the model that weights are for: its sizes, its name, its facts, and
/// whether it has a classifier. `path` is a program, which `options` are for,
/// or a package; `model` names one of several models in it. Nothing, with the
/// reason reported, when it cannot be read, or has several models and none is
/// named.
[[nodiscard]] std::optional<LlamaHints>
readLlamaHints(llvm::StringRef path, const ReadOptions &options,
               llvm::StringRef model, Diagnostics &diags);

/// The sizes in the configuration of a model that was trained, without its
/// name.
LlamaHints hintsOf(const TrainState &state);

} // namespace anec

#endif // ANEC_LIB_IMPORT_LLAMAHINTS_H
