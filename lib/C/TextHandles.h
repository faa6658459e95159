//===- TextHandles.h - handles of language models --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_C_TEXTHANDLES_H
#define ANEC_LIB_C_TEXTHANDLES_H

#include "Handles.h"
#include "anec/LanguageModels.h"

struct anec_tokenizer {
  std::unique_ptr<anec::Tokenizer> tokenizer;
};

namespace anec::c {

/// The tokenizer of a handle; for null, a tokenizer of bytes, which `bytes`
/// owns.
[[nodiscard]] const Tokenizer *tokenizerOf(const anec_tokenizer *handle,
                                           std::unique_ptr<Tokenizer> &bytes,
                                           Diagnostics &diags);

} // namespace anec::c

#endif // ANEC_LIB_C_TEXTHANDLES_H
