//===- DiagnosticText.cpp - what data/diagnostics says --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DiagnosticText.h"
#include <string>

using namespace anec;

namespace {

struct BuiltInFile {
  const char *name, *text;
};

} // namespace

static constexpr BuiltInFile files[] = {
#include "diagnostics.inc"
    {nullptr, nullptr},
};

llvm::StringRef anec::diagnosticText(llvm::StringRef id) {
  std::string heading = "\n## " + id.str() + "\n";
  for (const BuiltInFile &file : files) {
    llvm::StringRef text(file.text ? file.text : "");
    size_t at = text.find(heading);
    if (at == llvm::StringRef::npos)
      continue;
    text = text.drop_front(at + heading.size());
    return text.take_front(text.find("\n## ")).trim('\n');
  }
  return "";
}
