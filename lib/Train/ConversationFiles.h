//===- ConversationFiles.h - which data are conversations ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_CONVERSATIONFILES_H
#define ANEC_LIB_TRAIN_CONVERSATIONFILES_H

#include "lib/Train/DataFiles.h"

namespace anec {

/// Whether a file called `path` with `text` has conversations: a .jsonl file,
/// or a .json file in which messages have roles.
bool hasConversations(llvm::StringRef path, llvm::StringRef text);

/// The files, if all of them have conversations, and otherwise none. Returns
/// nothing, with the reason reported, when one cannot be read.
[[nodiscard]] std::optional<std::vector<std::string>>
conversationFiles(llvm::ArrayRef<DataFile> files, Diagnostics &diags);

/// `text` without a byte order mark, which some editors put before UTF-8.
inline llvm::StringRef withoutByteOrderMark(llvm::StringRef text) {
  text.consume_front("\xef\xbb\xbf");
  return text;
}

} // namespace anec

#endif // ANEC_LIB_TRAIN_CONVERSATIONFILES_H
