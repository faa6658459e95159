//===- DifferenceReport.h - differences of programs as text -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_DIFFERENCEREPORT_H
#define ANEC_LIB_REPORT_DIFFERENCEREPORT_H

#include "lib/MIL/Compare.h"

namespace llvm {
class raw_ostream;
}

namespace anec {

/// Prints `differences` between the programs called `left` and `right`, a line
/// for each, by function: `-` for what only the left program has, `+` for what
/// only the right one has, `!` for what differs. Prints nothing when there are
/// none.
void printDifferences(llvm::ArrayRef<Difference> differences,
                      llvm::StringRef left, llvm::StringRef right,
                      llvm::raw_ostream &out);

/// Prints one line of that.
void printDifference(const Difference &difference, llvm::raw_ostream &out);

/// Prints how many ops of each kind only one program has, differ in an argument
/// or type, and differ in the elements of an array, by function, and the sums.
/// Prints nothing when there are no differences.
void printDifferenceCounts(llvm::ArrayRef<Difference> differences,
                           llvm::StringRef left, llvm::StringRef right,
                           llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_DIFFERENCEREPORT_H
