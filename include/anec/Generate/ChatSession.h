//===- ChatSession.h - a conversation with a model --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A conversation in the form that a model was trained on:
///
///   auto chat = anec::ChatSession::open(generator, *tokenizer, diags);
///   if (!chat)
///     return diags.print(llvm::errs());
///   chat->add({"user", "What is 2 + 2?"});
///   if (!chat->answer(options, [](StringRef text) { ... }, diags))
///     diags.print(llvm::errs());
///
/// The model reads what is new since its last answer, as long as the form does
/// not change earlier messages.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_GENERATE_CHATSESSION_H
#define ANEC_GENERATE_CHATSESSION_H

#include "anec/Generate/Generate.h"
#include "anec/Text/ChatTemplate.h"

namespace anec {

/// Makes a text end where the answers of `chat` do.
void endWithTurn(const ChatTemplate &chat, const Tokenizer &tokenizer,
                 GenerateOptions &options);

class ChatSession {
public:
  /// With the template that belongs to `tokenizer`, which is that of
  /// `generator`. Returns nothing, with the reason reported, when there is
  /// none. Both must outlive the conversation.
  [[nodiscard]] static std::optional<ChatSession>
  open(Generator &generator, const Tokenizer &tokenizer, Diagnostics &diags,
       ChatOptions options = {});

  void add(ChatMessage message) { all.push_back(std::move(message)); }
  llvm::ArrayRef<ChatMessage> messages() const { return all; }

  /// Writes an answer of the assistant, passes it to `sink`, and adds it to the
  /// messages. Nothing is echoed. Returns nothing, with the reason reported, on
  /// failure.
  [[nodiscard]] std::optional<GeneratedText>
  answer(GenerateOptions options, TextSink sink, Diagnostics &diags);

private:
  ChatSession(Generator &generator, const Tokenizer &tokenizer,
              ChatTemplate chat, ChatOptions form)
      : generator(&generator), tokenizer(&tokenizer), chat(std::move(chat)),
        form(std::move(form)) {}
  [[nodiscard]] std::optional<std::vector<int32_t>>
  encode(llvm::StringRef text, Diagnostics &diags) const;

  Generator *generator;
  const Tokenizer *tokenizer;
  ChatTemplate chat;
  ChatOptions form;
  std::vector<ChatMessage> all;
  /// The text up to the last answer, and the ids that the model has of it:
  /// those of an answer are the ones that it chose, which need not be those
  /// that the tokenizer has for the text.
  std::string known;
  std::vector<int32_t> knownIds;
};

} // namespace anec

#endif // ANEC_GENERATE_CHATSESSION_H
