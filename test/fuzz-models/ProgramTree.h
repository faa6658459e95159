//===- ProgramTree.h - a program that can be printed and shrunk -*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A small tree of a .tdsl program. Extents are expressions of config entries,
/// so that a program stays consistent when an entry changes.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_MODELS_PROGRAMTREE_H
#define ANEC_TEST_FUZZ_MODELS_PROGRAMTREE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace anec::fuzz {

/// An extent as it is written, and what that is at first.
struct Extent {
  std::string text;
  int64_t value = 1;

  Extent() : text("1") {}
  explicit Extent(int64_t value) : text(std::to_string(value)), value(value) {}
  Extent(std::string text, int64_t value)
      : text(std::move(text)), value(value) {}

  bool isOne() const { return text == "1"; }
  bool operator==(const Extent &other) const { return text == other.text; }
};
Extent operator*(const Extent &lhs, const Extent &rhs);
Extent operator+(const Extent &lhs, const Extent &rhs);

using Extents = std::vector<Extent>;

/// `[d, 2 * s]`
std::string listText(const Extents &extents);

struct TreeType {
  std::string dtype;
  Extents shape;

  size_t rank() const { return shape.size(); }
  int64_t elements() const;
  std::string text() const;
  bool operator==(const TreeType &other) const {
    return dtype == other.dtype && shape == other.shape;
  }
};

struct Expr {
  /// The text, in which `$0` stands for the first operand.
  std::string form;
  std::vector<Expr> operands;
  TreeType type;
  /// For a call of a block: its name, and the index as it is written. `form`
  /// is not used then.
  std::string callee, index;

  bool isName() const { return operands.empty() && callee.empty(); }
  std::string text() const;
};

struct Name {
  std::string name;
  TreeType type;
};

struct Statement {
  // `names = value;`
  std::vector<Name> names;
  Expr value;
  // `repeat variable in from..to { body }` when there is a variable.
  std::string variable;
  int64_t from = 0, to = 1;
  std::vector<Statement> body;

  bool isRepeat() const { return !variable.empty(); }
};

struct Block {
  std::string kind; ///< `layer`, `kernel` or `model`
  std::string name;
  std::vector<Name> parameters, weights;
  std::vector<Statement> body;
  std::vector<Expr> results;
};

struct Program {
  std::vector<std::pair<std::string, int64_t>> config;
  std::vector<Block> blocks; ///< the model is the last
  std::set<std::string> constructs;

  std::string text() const;
  Block *find(llvm::StringRef name);
};

/// Calls `visit` with each expression of a block, operands after what uses
/// them, and with the names that are defined there. `visit` may replace the
/// expression; its operands are visited after that.
using ExprVisitor =
    std::function<void(Expr &expr, const std::vector<Name> &scope)>;
void forEachExpr(Block &block, const ExprVisitor &visit);

/// Puts `value` for every use of a name.
void substitute(Block &block, llvm::StringRef name, const Expr &value);
/// How often the block reads a name.
unsigned countUses(Block &block, llvm::StringRef name);

} // namespace anec::fuzz

#endif // ANEC_TEST_FUZZ_MODELS_PROGRAMTREE_H
