//===- ReferencePages.cpp - pages made from the tables --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/ReferencePages.h"
#include "Pages.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

namespace {

struct Page {
  llvm::StringLiteral name;
  /// Null for the page of diagnostics, which needs a list of them.
  void (*print)(llvm::raw_ostream &out);
};

constexpr Page pages[] = {
    {"ops", printOpsPage},       {"passes", printPassesPage},
    {"rules", printRulesPage},   {"targets", printTargetsPage},
    {"errors", printErrorsPage}, {"onnx", printOnnxPage},
    {"pytorch", printTorchPage}, {"diagnostics", nullptr},
};

} // namespace

std::vector<llvm::StringRef> anec::referencePageNames() {
  std::vector<llvm::StringRef> names;
  for (const Page &page : pages)
    names.push_back(page.name);
  return names;
}

bool anec::printReferencePage(llvm::StringRef name,
                              llvm::ArrayRef<diag::AnyKind> diagnostics,
                              llvm::raw_ostream &out) {
  const Page *page =
      llvm::find_if(pages, [&](const Page &row) { return row.name == name; });
  if (page == std::end(pages))
    return false;
  out << "<!-- Made by `anec debug --dump-docs=" << name
      << "`; do not edit. -->\n\n";
  if (page->print)
    page->print(out);
  else
    printDiagnosticsPage(diagnostics, out);
  return true;
}
