//===- Expressions.h - expressions over symbolic extents --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Extents that an export leaves open are expressions in the form of sympy's
/// `srepr`: `Add(Mul(Integer(2), Symbol('s10', positive=True)), Integer(1))`.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_EXPRESSIONS_H
#define ANEC_LIB_TORCH_EXPRESSIONS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace anec::torch {

/// The numbers of symbols.
using Symbols = llvm::StringMap<int64_t>;

class Expression {
public:
  /// Null if `text` is no expression, or has a function that is not known.
  static std::unique_ptr<Expression> parse(llvm::StringRef text);
  /// Nothing if a symbol has no number, or the result is none (a division by
  /// 0, an overflow, a fraction).
  std::optional<int64_t> evaluate(const Symbols &symbols) const;
  /// Adds the names of the symbols.
  void collect(std::vector<llvm::StringRef> &names) const;
  /// `2*s10 + 1`: for messages.
  std::string str() const;

private:
  friend class ExpressionParser;
  llvm::StringRef function; ///< `Add`, `Symbol`, `Integer`
  llvm::StringRef symbol;
  int64_t number = 0;
  std::vector<std::unique_ptr<Expression>> operands;
};

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_EXPRESSIONS_H
