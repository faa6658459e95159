//===- BlockWriter.h - the statements of a function -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_WRITER_BLOCKWRITER_H
#define ANEC_LIB_FRONTEND_WRITER_BLOCKWRITER_H

#include "Expression.h"
#include "lib/IR/Names.h"
#include "llvm/ADT/DenseMap.h"

namespace anec::frontend {

/// Lines have at most this number of characters, where they can be broken.
constexpr size_t lineWidth = 96;

/// Constants of a program that stand outside of its blocks.
class ProgramConstants {
public:
  ProgramConstants();
  /// The name of a constant, which no value has; `wanted` if it is new.
  llvm::StringRef nameOf(const Constant &value, llvm::StringRef wanted);
  /// The statements.
  std::string text() const;
  bool contains(llvm::StringRef name) const { return names.contains(name); }

private:
  struct Named {
    std::string name, expression;
    ConstantRef value;
  };
  std::vector<Named> all;
  NameSet names;
};

/// Writes the statements of one function. A value that is used once is written
/// where it is used, as far as lines allow, and others get a name.
class BlockWriter {
public:
  BlockWriter(const Function &function, ProgramConstants &constants);

  /// A name that nothing in the block has.
  std::string unique(llvm::StringRef wanted);
  void setName(const Value &value, std::string name) {
    named[&value] = std::move(name);
  }
  bool isNamed(const Value &value) const { return named.contains(&value); }
  /// Adds a line of the block.
  void add(const std::string &line) { lines.push_back(line); }
  /// Declares the weights that the body uses, by type.
  void declareWeights();
  /// Adds an op that a program calls.
  void addOp(const Op &op);
  /// Adds `return`.
  void addReturn();

  /// The expression of a value; one that waits to be written is written now.
  Expression use(const Value &value);
  /// Makes `text` statements that define `results`, with names for these.
  void define(llvm::ArrayRef<const Value *> results, const std::string &text);
  std::string text() const;

private:
  struct Waiting {
    Expression expression;
    std::string hint; ///< a name for it, of the module that its weight is in
  };
  Expression peek(const Value &value) const;
  std::string hintOf(const Op &op) const;
  std::string nameFor(const Value &value, llvm::StringRef hint);
  /// The characters of the operands that wait.
  size_t waitingSize(llvm::ArrayRef<Value *> operands) const;
  /// Writes the longest waiting operand. Returns its characters, 0 when there
  /// is none.
  size_t flushOne(llvm::ArrayRef<Value *> operands);

  const Function &function;
  ProgramConstants &constants;
  NameSet names;
  llvm::DenseMap<const Value *, std::string> named;
  llvm::DenseMap<const Value *, Waiting> waiting;
  std::vector<std::string> lines;
};

/// Joins words by commas, in lines of at most lineWidth that begin with
/// `indent` after the first.
std::string wrap(const std::string &first, llvm::ArrayRef<std::string> words,
                 const std::string &last, const std::string &indent);

/// `name` as an identifier, not a keyword: `a:0` is `a_0`, and `or` is
/// `or_`. `fallback` when nothing is left.
std::string identifier(llvm::StringRef name, llvm::StringRef fallback);

/// `fp32[1, 16]` in the language.
std::string typeText(const TensorType &type);

} // namespace anec::frontend

#endif // ANEC_LIB_FRONTEND_WRITER_BLOCKWRITER_H
