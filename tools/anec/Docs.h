//===- Docs.h - reference pages made from the tables -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_DOCS_H
#define ANEC_TOOLS_ANEC_DOCS_H

#include "llvm/Support/raw_ostream.h"

namespace anec {

/// Prints the page called `ops`, `passes`, `rules`, `targets` or `diagnostics`
/// as Markdown; false when there is no such page.
bool printDocs(llvm::StringRef page, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_TOOLS_ANEC_DOCS_H
