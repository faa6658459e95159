//===- ChatTemplate.h - conversations as text -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Models that were trained on conversations are given them in a form of their
/// own, with markers around what each side says. tokenizer_config.json beside a
/// tokenizer.json describes it as a program, `chat_template`, which anec does
/// not run: it tells the forms of known families by what the program mentions.
///
///   auto chat = anec::openChatTemplate(*tokenizer, diags);
///   auto text = chat->render({{"user", "What is 2 + 2?"}}, {}, diags);
///
/// The text of a message is part of the whole text: markers in it are markers,
/// as for the programs that such models come with.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEXT_CHATTEMPLATE_H
#define ANEC_TEXT_CHATTEMPLATE_H

#include "anec/Text/Tokenizer.h"

namespace anec {

struct ChatMessage {
  std::string role; ///< `system`, `user` or `assistant`
  std::string text;
};

struct ChatOptions {
  /// Ends with what comes before an answer of the assistant.
  bool asksForAnswer = true;
};

struct ChatFamily;

class ChatTemplate {
public:
  /// `chatml`, `llama3` and others of docs/tokens.md.
  llvm::StringRef family() const;

  /// The text of `messages`, whose first may be of the system, and which then
  /// alternate between user and assistant. Returns nothing, with the reason
  /// reported, when the family does not have such conversations.
  [[nodiscard]] std::optional<std::string>
  render(llvm::ArrayRef<ChatMessage> messages, const ChatOptions &options,
         Diagnostics &diags) const;
  /// The marker that ends an answer: `<|im_end|>`. Empty if the family has
  /// none.
  std::string turnEnd() const;

private:
  /// `form` with the tokenizer's markers in it.
  std::string fill(llvm::StringRef form) const;
  friend std::optional<ChatTemplate> openChatTemplate(const Tokenizer &,
                                                      Diagnostics &);
  const ChatFamily *row = nullptr;
  std::string path;
  std::string beginning, end; ///< the texts of the tokenizer's markers
  std::string systemText;     ///< of conversations without; empty for none
};

/// The template that belongs to `tokenizer`, a tokenizer.json. Returns nothing,
/// with the reason reported, when there is none, or of no known family.
[[nodiscard]] std::optional<ChatTemplate>
openChatTemplate(const Tokenizer &tokenizer, Diagnostics &diags);

/// Reads `[{"role": "user", "content": "Hello"}, ..]` from the file at `path`.
[[nodiscard]] std::optional<std::vector<ChatMessage>>
readChat(llvm::StringRef path, Diagnostics &diags);

} // namespace anec

#endif // ANEC_TEXT_CHATTEMPLATE_H
