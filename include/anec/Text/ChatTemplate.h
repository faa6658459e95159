//===- ChatTemplate.h - conversations as text -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Models that were trained on conversations are given them in a form of their
/// own, with markers around what each side says. A program in the language
/// Jinja describes it: the file chat_template.jinja beside a tokenizer.json, or
/// `chat_template` in tokenizer_config.json. anec runs it, with bounds of its
/// time and memory, and with what transformers gives such programs.
///
///   auto chat = anec::openChatTemplate(*tokenizer, diags);
///   if (chat)
///     if (auto text = chat->render({{"user", "What is 2 + 2?"}}, {}, diags))
///       use(*text);
///
/// The text of a message is part of the whole text: markers in it are markers,
/// as for the programs that such models come with.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEXT_CHATTEMPLATE_H
#define ANEC_TEXT_CHATTEMPLATE_H

#include "anec/Text/Tokenizer.h"
#include <optional>
#include <vector>

namespace llvm::json {
class Value;
} // namespace llvm::json

namespace anec {

struct ChatMessage {
  std::string role; ///< `system`, `user`, `assistant`, or another
  std::string text;
  /// The whole message as a JSON object, where it has more: calls of tools,
  /// parts of content, or any members that the program knows. Empty otherwise.
  std::string json = {};
};

struct ChatOptions {
  /// Ends with what comes before an answer of the assistant.
  bool asksForAnswer = true;
  /// The tools that the assistant can call, a JSON array of objects; empty for
  /// none.
  std::string tools = {};
  /// Other variables of the program: names, and values as JSON, or else as
  /// texts. They replace those of the same name.
  std::vector<std::pair<std::string, std::string>> variables = {};
  /// What the program takes as the time, as chatTime has it; else it is now.
  std::optional<int64_t> seconds = {};
};

class ChatTemplate {
public:
  /// The text of `messages`. Returns nothing, with the reason reported, when
  /// the program refuses them or cannot be run.
  [[nodiscard]] std::optional<std::string>
  render(llvm::ArrayRef<ChatMessage> messages, const ChatOptions &options,
         Diagnostics &diags) const;
  /// The marker that ends an answer: `<|im_end|>`. Empty if there is none.
  const std::string &turnEnd() const { return marker; }

private:
  friend std::optional<ChatTemplate> openChatTemplate(const Tokenizer &,
                                                      Diagnostics &);
  struct Program;
  std::shared_ptr<const Program> program;
  std::string path; ///< of the program
  std::string marker;
};

/// The template that belongs to `tokenizer`, a tokenizer.json. Returns nothing,
/// with the reason reported, when there is none, or one that is no program.
[[nodiscard]] std::optional<ChatTemplate>
openChatTemplate(const Tokenizer &tokenizer, Diagnostics &diags);

/// Reads the tools in the file at `path`, a JSON array of objects.
[[nodiscard]] std::optional<std::string> readTools(llvm::StringRef path,
                                                   Diagnostics &diags);
/// The seconds of a local time `2026-01-31` or `2026-01-31T23:59:00`. Nothing
/// if it is none.
std::optional<int64_t> chatTime(llvm::StringRef text);

/// The message `{"role": "user", "content": "Hello"}`, of which `text` is the
/// JSON text. Returns nothing when it is not a message, with `wrong` set to
/// what follows the name of the message: `has a content that ..`.
std::optional<ChatMessage> chatMessage(const llvm::json::Value &value,
                                       llvm::StringRef text,
                                       std::string &wrong);
/// Reads `[{"role": "user", "content": "Hello"}, ..]` from the file at `path`,
/// which can be a stream.
[[nodiscard]] std::optional<std::vector<ChatMessage>>
readChat(llvm::StringRef path, Diagnostics &diags);

} // namespace anec

#endif // ANEC_TEXT_CHATTEMPLATE_H
