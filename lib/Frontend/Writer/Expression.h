//===- Expression.h - expressions as text -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_WRITER_EXPRESSION_H
#define ANEC_LIB_FRONTEND_WRITER_EXPRESSION_H

#include "anec/IR/IR.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace anec::frontend {

/// How tightly an expression binds.
enum class Binding : uint8_t { Or, And, Not, Comparison, Sum, Product, Atom };

struct Expression {
  std::string text;
  Binding binding = Binding::Atom;

  /// The text, in parentheses if it binds less tightly than `least`.
  std::string within(Binding least) const {
    return binding < least ? "(" + text + ")" : text;
  }
};

/// The expression of an operand.
using OperandText = llvm::function_ref<Expression(const Value &value)>;

/// The expression of an op, which a program can call, with its operands.
Expression expressionOf(const Op &op, OperandText operand);

/// The value of which an op takes a part, as `x[0:4]`; null for other ops.
const Value *partOf(const Op &op);

} // namespace anec::frontend

#endif // ANEC_LIB_FRONTEND_WRITER_EXPRESSION_H
