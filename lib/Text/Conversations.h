//===- Conversations.h - data of conversations ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_CONVERSATIONS_H
#define ANEC_LIB_TEXT_CONVERSATIONS_H

#include "anec/Support/Diagnostics.h"
#include <optional>
#include <string>
#include <vector>

namespace anec {

/// The tokens of the longest conversation in the files and folders `paths`, by
/// the tokenizer at `tokenizer` and its template; 0 if they have other data.
/// Returns nothing, with the reason reported, when they cannot be read.
[[nodiscard]] std::optional<uint64_t>
longestConversation(const std::vector<std::string> &paths,
                    llvm::StringRef tokenizer, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_TEXT_CONVERSATIONS_H
