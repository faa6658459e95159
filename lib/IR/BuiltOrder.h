//===- BuiltOrder.h - ops in an order of their own --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The arguments of a call are evaluated in the order that the compiler
/// chooses: in `mul(exp(x), sum(y))`, either op can be built first. Where rules
/// are written as such equations, their ops are put in order afterwards, so
/// that programs do not depend on the compiler that anec was built with.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_BUILTORDER_H
#define ANEC_LIB_IR_BUILTORDER_H

#include "anec/IR/IR.h"

namespace anec {

/// Orders the ops `built`, which are all ops between two points of a function,
/// in the order of their creation: those that `result` needs come first, each
/// after the ops of its operands, of which the last operand's come first. Other
/// ops, which nothing needs, follow. Their uses of values are in this order,
/// too.
void orderBuilt(llvm::ArrayRef<Op *> built, const Value *result);

} // namespace anec

#endif // ANEC_LIB_IR_BUILTORDER_H
