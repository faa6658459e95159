//===- TokenFiles.h - text to files of tokens, and back ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_TOKENFILES_H
#define ANEC_LIB_TEXT_TOKENFILES_H

#include "anec/Text/ChatTemplate.h"

namespace anec {

struct TokenizeOptions {
  std::string tokenizer; ///< as openTokenizer takes it
  std::string output;    ///< a file for the ids; empty to print them
  bool decode = false;   ///< from ids to text
  bool markers = false;  ///< with those of Tokenizer::withMarkers
  bool chat = false;     ///< the input is a conversation, as readChat takes it
  bool render = false;   ///< print the text of a conversation
  ChatOptions chatOptions = {};
};
/// Prints the ids of the text at `path`, where `-` is standard input, or writes
/// them to a file of tokens: ids of 16 bits, or where a vocabulary has more of
/// 32 bits, behind a header.
[[nodiscard]] bool tokenize(llvm::StringRef path,
                            const TokenizeOptions &options,
                            llvm::raw_ostream &out, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_TEXT_TOKENFILES_H
