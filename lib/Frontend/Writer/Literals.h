//===- Literals.h - constants as programs write them ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_WRITER_LITERALS_H
#define ANEC_LIB_FRONTEND_WRITER_LITERALS_H

#include "anec/IR/Constant.h"
#include <optional>

namespace anec::frontend {

/// The shortest decimal that is `value` in an element type.
std::string spellElement(double value, DType dtype);

/// A number or a list of lists without its type: the argument of an op, or a
/// literal next to a tensor.
std::string literal(const Constant &value);

/// An expression of a constant with its type, if it has a short one: a literal
/// of few elements, one number or 0, 1, 2, ... or a lower triangle in a shape.
/// Nothing for others.
std::optional<std::string> constantExpression(const Constant &value);

/// Whether `constantExpression` is short enough to stand in a statement.
bool isInline(const Constant &value);

} // namespace anec::frontend

#endif // ANEC_LIB_FRONTEND_WRITER_LITERALS_H
