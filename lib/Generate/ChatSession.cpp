//===- ChatSession.cpp - a conversation with a model ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/ChatSession.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

void anec::endWithTurn(const ChatTemplate &chat, const Tokenizer &tokenizer,
                       GenerateOptions &options) {
  const std::string &end = chat.turnEnd();
  if (std::optional<int32_t> id = tokenizer.markerId(end))
    options.endIds.push_back(*id);
  else if (!end.empty())
    options.stopTexts.push_back(end);
}

std::optional<ChatSession> ChatSession::open(Generator &generator,
                                             const Tokenizer &tokenizer,
                                             Diagnostics &diags,
                                             ChatOptions options) {
  std::optional<ChatTemplate> chat = openChatTemplate(tokenizer, diags);
  if (!chat)
    return std::nullopt;
  return ChatSession(generator, tokenizer, std::move(*chat),
                     std::move(options));
}

std::optional<std::vector<int32_t>>
ChatSession::encode(llvm::StringRef text, Diagnostics &diags) const {
  llvm::StringRef rest = text;
  if (known.empty() || !rest.consume_front(known))
    return tokenizer->encode(text, diags);
  std::optional<std::vector<int32_t>> ids = tokenizer->encode(rest, diags);
  if (!ids || ids->empty())
    return ids ? tokenizer->encode(text, diags) : std::nullopt;
  // Only a marker has the same id whatever is before it.
  std::optional<std::string> marker = tokenizer->markerText(ids->front());
  if (!marker || !rest.starts_with(*marker))
    return tokenizer->encode(text, diags);
  ids->insert(ids->begin(), knownIds.begin(), knownIds.end());
  return ids;
}

std::optional<GeneratedText> ChatSession::answer(GenerateOptions options,
                                                 TextSink sink,
                                                 Diagnostics &diags) {
  std::optional<std::string> text = chat.render(all, form, diags);
  if (!text)
    return std::nullopt;
  std::optional<std::vector<int32_t>> ids = encode(*text, diags);
  if (!ids || !generator->canRead(*ids, diags))
    return std::nullopt;
  options.echo = false;
  options.goesOn = true;
  endWithTurn(chat, *tokenizer, options);
  std::optional<GeneratedText> made =
      generator->run(*ids, options, sink, diags);
  if (!made)
    return std::nullopt;
  all.push_back({"assistant", made->text});
  known.clear();
  if (made->finish != Finish::StopText) {
    known = *text + made->text;
    knownIds = std::move(*ids);
    llvm::append_range(knownIds, made->ids);
  }
  return made;
}
