//===- Conversations.cpp - data of conversations --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Text/Conversations.h"
#include "ChatExamples.h"
#include "lib/Train/ConversationFiles.h"
#include <algorithm>

using namespace anec;

std::optional<uint64_t>
anec::longestConversation(const std::vector<std::string> &paths,
                          llvm::StringRef tokenizer, Diagnostics &diags) {
  std::optional<std::vector<DataFile>> files = listDataFiles(paths, "", diags);
  std::optional<std::vector<std::string>> chats;
  if (files)
    chats = conversationFiles(*files, diags);
  if (!chats || chats->empty())
    return chats ? std::optional<uint64_t>(0) : std::nullopt;
  std::unique_ptr<Tokenizer> words = openTokenizer(tokenizer, diags);
  std::optional<std::vector<ChatExample>> examples;
  if (words)
    examples = readChatFiles(*chats, *words, diags);
  if (!examples)
    return std::nullopt;
  uint64_t longest = 0;
  for (const ChatExample &example : *examples)
    longest = std::max<uint64_t>(longest, example.ids.size());
  return longest;
}
