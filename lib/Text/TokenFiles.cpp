//===- TokenFiles.cpp - text to files of tokens, and back -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Text/TokenFiles.h"
#include "anec/Support/MappedFile.h"
#include "anec/Text/ChatTemplate.h"
#include "anec/Text/Tokenizer.h"
#include "lib/Support/Diags.h"
#include "lib/Support/ReadFile.h"
#include "lib/Text/Diags.h"
#include "lib/Train/TokenFileHeader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

/// The ids in `text`, between any white space.
static std::optional<std::vector<int32_t>> parseIds(llvm::StringRef text,
                                                    llvm::StringRef path,
                                                    unsigned vocabulary,
                                                    Diagnostics &diags) {
  std::vector<int32_t> ids;
  for (;;) {
    text = text.ltrim();
    if (text.empty())
      return ids;
    llvm::StringRef word = text.take_until(llvm::isSpace);
    text = text.drop_front(word.size());
    uint32_t id = 0;
    if (word.getAsInteger(10, id) || id >= vocabulary) {
      diags.reportFile(path, diag::BadTokenId, word, vocabulary);
      return std::nullopt;
    }
    ids.push_back(int32_t(id));
  }
}

/// The text of the conversation at `path`.
static std::optional<std::string> renderChat(llvm::StringRef path,
                                             const Tokenizer &tokenizer,
                                             const ChatOptions &options,
                                             Diagnostics &diags) {
  std::optional<ChatTemplate> chat = openChatTemplate(tokenizer, diags);
  if (!chat)
    return std::nullopt;
  std::optional<std::vector<ChatMessage>> messages = readChat(path, diags);
  if (!messages)
    return std::nullopt;
  return chat->render(*messages, options, diags);
}

/// Reads the file at `path`, which may be standard input.
static MappedFile mapInput(llvm::StringRef path, Diagnostics &diags) {
  std::string error;
  MappedFile file = isStreamPath(path) ? MappedFile(readInput(path, error))
                                       : mapFile(path, error);
  if (!file)
    diags.reportFile(path, diag::CannotOpen, error);
  return file;
}

bool anec::tokenize(llvm::StringRef path, const TokenizeOptions &options,
                    llvm::raw_ostream &out, Diagnostics &diags) {
  std::unique_ptr<Tokenizer> tokenizer =
      openTokenizer(options.tokenizer, diags);
  if (!tokenizer)
    return false;
  std::optional<std::vector<int32_t>> ids;
  if (options.chat) {
    std::optional<std::string> text =
        renderChat(path, *tokenizer, options.chatOptions, diags);
    if (options.render && text)
      out << *text;
    if (options.render || !text)
      return text.has_value();
    ids = tokenizer->encode(*text, diags);
  } else {
    MappedFile text = mapInput(path, diags);
    if (!text)
      return false;
    if (options.decode) {
      ids = parseIds(text->getBuffer(), path, tokenizer->vocabulary(), diags);
      if (ids)
        out << tokenizer->decode(*ids, options.markers);
      return ids.has_value();
    }
    ids = tokenizer->encode(text->getBuffer(), diags);
  }
  if (!ids)
    return false;
  if (options.markers)
    ids = tokenizer->withMarkers(std::move(*ids));
  if (!options.output.empty())
    return writeTokenFile(*ids, tokenizer->vocabulary(), options.output, diags);
  llvm::interleave(*ids, out, " ");
  out << '\n';
  return true;
}
