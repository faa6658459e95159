//===- ErrorDescription.h - a known error as text ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_REPORT_ERRORDESCRIPTION_H
#define ANEC_REPORT_ERRORDESCRIPTION_H

#include "anec/Target/KnownError.h"

namespace anec {

/// Prints all that is known of an error: what it looks like, its cause, the
/// rules about it, the remedy and the sources.
void printKnownError(const KnownError &error, llvm::raw_ostream &out);

/// How the mark is written in a log: `InvalidMILProgram`, `Tensor dimensions
/// ... are not within supported range`.
std::string spelling(const ErrorMark &mark);
/// The same for all marks and statuses of an error.
std::vector<std::string> spellings(const KnownError &error);

/// `a, b, and 12 more of extents`: the rules of the row by name, the others by
/// family; empty when there are none.
std::string describeRules(const KnownError &error);

} // namespace anec

#endif // ANEC_REPORT_ERRORDESCRIPTION_H
