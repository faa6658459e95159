//===- Tasks.h - the tasks that a program is split into ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The vendor's compiler splits a program into tasks, which run one after
/// another: some ops take several, and some are part of the task of the product
/// before them. Counts are recorded for the engines of the M1 and the M2;
/// docs/reference/accuracy.md compares them with these predictions.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TARGET_TASKS_H
#define ANEC_LIB_TARGET_TASKS_H

#include "anec/IR/IR.h"
#include "anec/Target/Target.h"

namespace anec {

/// The predicted number of tasks of `function`. Chips after the M2 are taken to
/// split programs as the M2 does.
unsigned countTasks(const Function &function, const Target &target);

/// Bytes that `op` reads and writes on the chip, each operand once, and of what
/// it moves only the part that it moves: 0 for products, for what is part of a
/// product's task, and for ops that only change a shape.
uint64_t elementBytes(const Op &op);

} // namespace anec

#endif // ANEC_LIB_TARGET_TASKS_H
