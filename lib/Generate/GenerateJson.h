//===- GenerateJson.h - generated texts as JSON -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_GENERATE_GENERATEJSON_H
#define ANEC_LIB_GENERATE_GENERATEJSON_H

#include "anec/Generate/Generate.h"

namespace anec {

/// Prints `text` as one line, a JSON object; docs/use/generate.md has the
/// members. `hasText`: whether a tokenizer made texts of the ids.
void printJson(const GeneratedText &text, bool hasText, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_GENERATE_GENERATEJSON_H
