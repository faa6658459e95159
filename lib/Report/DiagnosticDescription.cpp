//===- DiagnosticDescription.cpp - what a message means -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/DiagnosticDescription.h"
#include "DiagnosticText.h"
#include "WrappedText.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace anec;

/// Columns of lines of prose.
static constexpr size_t width = 80;

namespace {
/// How a file that is not text is written in a block of this language.
struct Form {
  llvm::StringLiteral language, words;
};
} // namespace

static constexpr Form forms[] = {
    {"protobuf", ", in the text format of protobuf"},
    {"arrays", ", whose arrays are"},
};

static llvm::StringRef formOf(llvm::StringRef language) {
  const Form *form = llvm::find_if(
      forms, [&](const Form &form) { return form.language == language; });
  return form == std::end(forms) ? "" : llvm::StringRef(form->words);
}

/// Prints the block of code that `text` begins with, without its fences, and
/// removes it from `text`.
static void printBlock(llvm::StringRef &text, llvm::raw_ostream &out) {
  llvm::StringRef first = text.split('\n').first;
  auto [language, name] = first.ltrim('`').split(' ');
  // The code of an empty file has no lines.
  size_t end = text.find("\n```", first.size());
  llvm::StringRef code = text.slice(first.size() + 1, end);
  text = text.drop_front(std::min(end, text.size()))
             .ltrim('\n')
             .split('\n')
             .second;
  if (!name.empty())
    out << name << formOf(language) << ":\n\n";
  while (!code.empty()) {
    auto [line, others] = code.split('\n');
    out << (line.empty()       ? ""
            : language == "sh" ? "  $ "
                               : "  ")
        << line << '\n';
    code = others;
  }
}

/// Prints Markdown for a terminal: paragraphs in lines of `width`, and code
/// indented.
static void printMarkdown(llvm::StringRef text, llvm::raw_ostream &out) {
  while (!(text = text.ltrim('\n')).empty()) {
    out << '\n';
    if (text.starts_with("```")) {
      printBlock(text, out);
      continue;
    }
    auto [paragraph, rest] = text.split("\n\n");
    std::string line = paragraph.str();
    std::replace(line.begin(), line.end(), '\n', ' ');
    printWrapped(line, width, 0, out);
    text = rest;
  }
}

void anec::printDiagnostic(diag::AnyKind kind, llvm::raw_ostream &out) {
  out << kind->id << ": " << spelling(kind->severity) << "\n\n  "
      << kind->shownText() << '\n';
  printMarkdown(diagnosticText(kind->id), out);
  if (kind->text.contains('{'))
    out << "\n{0}, {1}, ... are what the program has there.\n";
}
