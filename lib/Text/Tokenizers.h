//===- Tokenizers.h - the kinds of tokenizer -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_TOKENIZERS_H
#define ANEC_LIB_TRAIN_TOKENIZERS_H

#include "anec/Support/MappedFile.h"
#include "anec/Text/Tokenizer.h"

namespace anec {

/// Opens a SentencePiece model. Returns null, with the reason reported, when
/// `file` is invalid.
[[nodiscard]] std::unique_ptr<Tokenizer>
openSentencePiece(const MappedFile &file, llvm::StringRef path,
                  Diagnostics &diags);
/// Opens llama2.c's format. Returns null, with the reason reported, when `file`
/// is invalid.
[[nodiscard]] std::unique_ptr<Tokenizer>
openLlama2c(const MappedFile &file, llvm::StringRef path, Diagnostics &diags);
/// Opens Hugging Face's format. Returns null, with the reason reported, when
/// `file` is invalid or asks for what is not supported, or this build lacks
/// PCRE2 or utf8proc.
[[nodiscard]] std::unique_ptr<Tokenizer> openHuggingFace(const MappedFile &file,
                                                         llvm::StringRef path,
                                                         Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_TRAIN_TOKENIZERS_H
