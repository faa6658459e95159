//===- ReferencePages.h - pages made from the tables ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The pages of docs/ that are generated: the ops, passes, rules, targets,
/// known errors and diagnostics that this build has.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_REFERENCEPAGES_H
#define ANEC_LIB_REPORT_REFERENCEPAGES_H

#include "anec/Support/Diagnostics.h"

namespace anec {

/// `ops`, `passes`, `rules`, and others.
std::vector<llvm::StringRef> referencePageNames();

/// The diagnostics of all folders of the library, in no particular order.
std::vector<diag::AnyKind> libraryDiagnostics();

/// Prints the page called `name` as Markdown; returns false when there is none.
/// The page `diagnostics` lists `diagnostics`, sorted by id.
bool printReferencePage(llvm::StringRef name,
                        llvm::ArrayRef<diag::AnyKind> diagnostics,
                        llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_REFERENCEPAGES_H
