//===- ChatExamples.h - conversations to learn from -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_TRAINING_CHATEXAMPLES_H
#define ANEC_LIB_TEXT_TRAINING_CHATEXAMPLES_H

#include "anec/Text/ChatTemplate.h"

namespace anec {

/// A conversation in tokens.
struct ChatExample {
  std::vector<int32_t> ids;
  /// Of each id, whether the assistant says it: what is learned.
  std::vector<bool> isAnswer;
};

/// Reads the conversations in files, an object in each line:
/// `{"messages": [{"role": .., "content": ..}, ..], "tools": [..]}`, or with
/// ShareGPT's names, `{"conversations": [{"from": .., "value": ..}, ..]}`. An
/// answer is what the template of `tokenizer` writes after the text that asks
/// for it, or, where it writes another text before the answer, its content; and
/// the marker that ends it. An answer whose place in the whole text cannot be
/// told is not learned. Returns nothing, with the reason reported, when there
/// is no template, a line is not a conversation, or the template refuses it.
[[nodiscard]] std::optional<std::vector<ChatExample>>
readChatFiles(llvm::ArrayRef<std::string> paths, const Tokenizer &tokenizer,
              Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_TEXT_TRAINING_CHATEXAMPLES_H
