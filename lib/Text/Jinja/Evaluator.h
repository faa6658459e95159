//===- Evaluator.h - runs template programs ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_EVALUATOR_H
#define ANEC_LIB_TEXT_JINJA_EVALUATOR_H

#include "Syntax.h"
#include "llvm/ADT/Twine.h"
#include <map>

namespace anec::jinja {

/// The arguments of a call.
struct Arguments {
  std::vector<Value> items;
  Members named;

  /// The argument at `index`, or called `name`; null if it is not given.
  const Value *get(size_t index, llvm::StringRef name = "") const;
  std::string text(size_t index, llvm::StringRef fallback = "") const;
};

/// `lhs op rhs` of numbers; nothing where it is none, or too large.
std::optional<Value> arithmetic(llvm::StringRef op, const Value &lhs,
                                const Value &rhs);

/// Runs a program. After an error, everything returns at once.
class Evaluator {
public:
  Evaluator(Members variables, TemplateError &error);

  void run(const std::vector<Statement> &statements);
  std::string take() { return std::move(out); }

  /// Reports an error; returns an undefined value.
  Value fail(const llvm::Twine &text);

  // In Calls.cpp: the functions, filters, tests and methods of the language.
  Value filter(llvm::StringRef name, const Value &value,
               const Arguments &given);
  bool test(llvm::StringRef name, const Value &value, const Arguments &given);
  Value method(const Value &object, llvm::StringRef name,
               const Arguments &given);
  Value function(llvm::StringRef name, const Arguments &given);
  static bool isFunction(llvm::StringRef name);

  /// The elements that a loop over `value` has.
  List elements(const Value &value);
  /// The attribute or element `key`; undefined if there is none.
  Value member(const Value &value, const Value &key);

private:
  enum class Flow : uint8_t { Next, Break, Continue };

  Value evaluate(const Expression &expression);
  Value evaluateParts(const Expression &expression);
  Value binary(const Expression &expression);
  Value slice(const Expression &expression);
  Value call(const Expression &expression);
  Value callMacro(const Statement &macro, const Arguments &given);
  Value lookup(llvm::StringRef name);
  Arguments argumentsOf(const Expression &expression, size_t first);
  bool contains(const Value &container, const Value &item);
  Value filterItems(llvm::StringRef name, const Value &value,
                    const Arguments &given);
  Value textMethod(const Value &object, llvm::StringRef name,
                   const Arguments &given);

  Flow runAll(const std::vector<Statement> &statements);
  Flow runOne(const Statement &statement);
  Flow loop(const Statement &statement);
  void assign(const Statement &statement);
  void bind(const std::vector<std::string> &names, const Value &value);
  void print(llvm::StringRef text);
  /// Counts what was done; hostile programs end.
  bool isSpent();

  static constexpr size_t mostSteps = 5'000'000;
  static constexpr unsigned mostCalls = 40, mostDepth = 100;

  TemplateError &error;
  std::vector<std::map<std::string, Value, std::less<>>> scopes;
  std::string out;
  size_t steps = 0, offset = 0;
  unsigned calls = 0;
};

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_EVALUATOR_H
