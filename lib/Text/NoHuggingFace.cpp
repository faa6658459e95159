//===- NoHuggingFace.cpp - a build that cannot read tokenizer.json --------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Tokenizers.h"
#include "anec/Text/ChatTemplate.h"
#include "lib/Text/Diags.h"

using namespace anec;

bool anec::hasHuggingFace() { return false; }

std::unique_ptr<Tokenizer> anec::openHuggingFace(const MappedFile &,
                                                 llvm::StringRef path,
                                                 Diagnostics &diags) {
  diags.reportFile(path, diag::NoTokenizerJson);
  return nullptr;
}

// Conversations need a tokenizer.json, and the same tables of Unicode.
struct ChatTemplate::Program {};

std::optional<ChatTemplate> anec::openChatTemplate(const Tokenizer &tokenizer,
                                                   Diagnostics &diags) {
  diags.reportFile(tokenizer.path(), diag::NoChatTemplate);
  return std::nullopt;
}

std::optional<std::string> ChatTemplate::render(llvm::ArrayRef<ChatMessage>,
                                                const ChatOptions &,
                                                Diagnostics &diags) const {
  diags.reportFile(path, diag::NoChatTemplate);
  return std::nullopt;
}
