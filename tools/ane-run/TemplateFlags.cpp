//===- TemplateFlags.cpp - flags of conversations -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TemplateFlags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

static bool isName(llvm::StringRef text) {
  return !text.empty() && !llvm::isDigit(text.front()) &&
         llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

std::string TemplateFlags::check() const {
  if (date.getNumOccurrences() && !chatTime(date))
    return "--date takes a date such as 2026-01-31, or a time such as "
           "2026-01-31T23:59:00";
  for (llvm::StringRef variable : variables) {
    auto [name, value] = variable.split('=');
    if (!isName(name) || !variable.contains('='))
      return "--template-arg takes NAME=VALUE";
    if (name == "messages" || name == "tools")
      return "--template-arg does not take `" + name.str() +
             "`, which is in a file of its own";
  }
  return "";
}

std::optional<ChatOptions> TemplateFlags::options(Diagnostics &diags) const {
  ChatOptions made;
  if (tools.getNumOccurrences()) {
    std::optional<std::string> read = readTools(tools, diags);
    if (!read)
      return std::nullopt;
    made.tools = std::move(*read);
  }
  if (date.getNumOccurrences())
    made.seconds = chatTime(date);
  for (llvm::StringRef variable : variables) {
    auto [name, value] = variable.split('=');
    made.variables.emplace_back(name.str(), value.str());
  }
  return made;
}
