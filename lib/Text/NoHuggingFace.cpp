//===- NoHuggingFace.cpp - a build that cannot read tokenizer.json --------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Tokenizers.h"
#include "anec/Text/Diags.h"

using namespace anec;

bool anec::hasHuggingFace() { return false; }

std::unique_ptr<Tokenizer> anec::openHuggingFace(const MappedFile &,
                                                 llvm::StringRef path,
                                                 Diagnostics &diags) {
  diags.reportFile(path, diag::NoTokenizerJson);
  return nullptr;
}
