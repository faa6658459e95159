//===- ScheduleDot.h - a schedule as a graph --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_SCHEDULEDOT_H
#define ANEC_LIB_PACKAGE_SCHEDULEDOT_H

#include "anec/IR/IR.h"

namespace llvm {
class raw_ostream;
}

namespace anec {

/// Prints the host functions of `module` as a graph in Graphviz's language:
/// kernel calls as boxes, host ops as ovals, and values as edges labeled with
/// the result. A `repeat` points at the box of its body.
void printDot(const Module &module, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_PACKAGE_SCHEDULEDOT_H
