//===- TemplateFlags.h - flags of conversations -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_TEMPLATEFLAGS_H
#define ANEC_TOOLS_ANE_RUN_TEMPLATEFLAGS_H

#include "anec/Text/ChatTemplate.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// What the template of a conversation is given beside the messages.
struct TemplateFlags {
  /// The error in the flags; empty when they are valid.
  std::string check() const;
  bool isGiven() const {
    return tools.getNumOccurrences() || date.getNumOccurrences() ||
           variables.getNumOccurrences();
  }
  /// Nothing, with the reason reported, if a file cannot be read.
  [[nodiscard]] std::optional<ChatOptions> options(Diagnostics &diags) const;

  llvm::cl::opt<std::string> tools{
      "tools", llvm::cl::value_desc("FILE.json"),
      llvm::cl::desc("Tools that the assistant can call: [{\"type\": "
                     "\"function\", \"function\": {..}}, ..]")};
  llvm::cl::opt<std::string> date{
      "date", llvm::cl::value_desc("YYYY-MM-DD"),
      llvm::cl::desc("The date that a chat template is given, or a time, "
                     "YYYY-MM-DDTHH:MM:SS (default: now)")};
  llvm::cl::list<std::string> variables{
      "template-arg", llvm::cl::value_desc("NAME=VALUE"),
      llvm::cl::desc("A variable of the chat template, such as "
                     "enable_thinking=false: JSON, or else a text; can be "
                     "repeated")};
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_TEMPLATEFLAGS_H
