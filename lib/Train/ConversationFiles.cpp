//===- ConversationFiles.cpp - which data are conversations ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Train/ConversationFiles.h"
#include "anec/Support/MappedFile.h"
#include "llvm/Support/Path.h"

using namespace anec;
using llvm::StringRef;

bool anec::hasConversations(StringRef path, StringRef text) {
  StringRef ending = llvm::sys::path::extension(path);
  if (ending.equals_insensitive(".jsonl"))
    return true;
  StringRef begin = withoutByteOrderMark(text).take_front(1 << 16).ltrim();
  if (!ending.equals_insensitive(".json") ||
      (!begin.starts_with("[") && !begin.starts_with("{")))
    return false;
  auto hasKey = [&](StringRef key) {
    for (size_t at = begin.find(key); at != StringRef::npos;
         at = begin.find(key, at + 1))
      if (begin.drop_front(at + key.size()).ltrim().starts_with(":"))
        return true;
    return false;
  };
  return (hasKey("\"role\"") && hasKey("\"content\"")) ||
         (hasKey("\"from\"") && hasKey("\"value\"")); // ShareGPT's names
}

std::optional<std::vector<std::string>>
anec::conversationFiles(llvm::ArrayRef<DataFile> files, Diagnostics &diags) {
  std::vector<std::string> chats;
  for (const DataFile &file : files) {
    StringRef ending = llvm::sys::path::extension(file.path);
    if (!ending.equals_insensitive(".json") &&
        !ending.equals_insensitive(".jsonl"))
      return std::vector<std::string>();
    MappedFile mapped = mapFile(file.path, diags);
    if (!mapped)
      return std::nullopt;
    if (!hasConversations(file.path, mapped->getBuffer()))
      return std::vector<std::string>();
    chats.push_back(file.path);
  }
  return chats;
}
