//===- RunTokenizer.h - the tokenizer in the folder of a run ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A run keeps a copy of its tokenizer, `tokenizer.json`, `tokenizer.model` or
/// `tokenizer.bin`, so that its folder can be moved, and used without the
/// original.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_RUNTOKENIZER_H
#define ANEC_LIB_TRAIN_RUNTOKENIZER_H

#include "lib/Train/Checkpoint.h"

namespace anec {

/// Copies the tokenizer into `folder`, that of the run, unless it is there,
/// with the files beside it that tokenizers of Hugging Face have.
[[nodiscard]] bool keepTokenizer(std::shared_ptr<const Folder> folder,
                                 const UsedTokenizer &used, Diagnostics &diags);

/// The copy in `folder`, that of a run or one of its checkpoints, or the
/// original if there is none; empty for bytes and `none`.
std::string tokenizerOfRun(llvm::StringRef folder, const UsedTokenizer &used);

} // namespace anec

#endif // ANEC_LIB_TRAIN_RUNTOKENIZER_H
