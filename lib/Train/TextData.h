//===- TextData.h - what training takes of tokenizers ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What training on text takes of language models, which a build can be
/// without: lib/Text defines these functions, or lib/API/NoLanguageModels.cpp,
/// for which the bytes of a text are its tokens.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_TEXTDATA_H
#define ANEC_LIB_TRAIN_TEXTDATA_H

#include "lib/Train/TrainingData.h"

namespace anec {

/// A tokenizer as training sees it.
struct TextEncoder {
  UsedTokenizer used;
  /// As TokenData takes it: null for bytes.
  std::function<std::optional<std::vector<int32_t>>(llvm::StringRef text,
                                                    Diagnostics &)>
      encode;
  unsigned vocabulary = 256;
};

/// Opens the tokenizer at `path`, as openTokenizer takes it. Returns nothing,
/// with the reason reported, when it cannot be read.
[[nodiscard]] std::optional<TextEncoder> openEncoder(llvm::StringRef path,
                                                     Diagnostics &diags);

/// The conversations in `files`. Returns null, with the reason reported, when
/// they do not fit the step, or there is no template for them.
[[nodiscard]] std::unique_ptr<TrainingData>
openChatData(const DataOptions &options, llvm::ArrayRef<std::string> files,
             const TokenInputs &inputs, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_TRAIN_TEXTDATA_H
