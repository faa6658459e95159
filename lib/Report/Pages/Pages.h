//===- Pages.h - the sections of reference pages ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_PAGES_PAGES_H
#define ANEC_LIB_REPORT_PAGES_PAGES_H

#include "anec/Support/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

namespace anec {

/// Each prints the body of one page as Markdown.
void printOpsPage(llvm::raw_ostream &out);
void printPassesPage(llvm::raw_ostream &out);
void printRulesPage(llvm::raw_ostream &out);
void printOnnxPage(llvm::raw_ostream &out);
void printErrorsPage(llvm::raw_ostream &out);
void printTargetsPage(llvm::raw_ostream &out);
void printTorchPage(llvm::raw_ostream &out);
void printDiagnosticsPage(llvm::ArrayRef<diag::AnyKind> diagnostics,
                          llvm::raw_ostream &out);

/// The rows of a table by their `family`, sorted by family. The rows of one
/// family keep the order of the table.
template <typename Rows>
auto byFamily(const Rows &rows) {
  using Row = std::decay_t<decltype(*rows.begin())>;
  std::map<llvm::StringRef, std::vector<Row>> families;
  for (Row row : rows)
    families[row->family].push_back(row);
  return families;
}

} // namespace anec

#endif // ANEC_LIB_REPORT_PAGES_PAGES_H
