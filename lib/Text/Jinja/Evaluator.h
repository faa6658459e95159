//===- Evaluator.h - runs template programs ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_EVALUATOR_H
#define ANEC_LIB_TEXT_JINJA_EVALUATOR_H

#include "CallTable.h"
#include "Callable.h"
#include "Syntax.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

namespace anec::jinja {

/// Runs a program. After an error, everything returns at once.
class Evaluator {
public:
  /// With `isFolding`, it evaluates constants before a run, as jinja2 does.
  Evaluator(const Inputs &inputs, TemplateError &error, bool isFolding = false);
  ~Evaluator();

  void run(const std::vector<Statement> &program);
  std::string take() { return std::move(output); }

  /// The value of a constant; nothing if it is none, or has an error.
  std::optional<Value> constantOf(const Expression &expression);
  /// Whether an expression is constant when its parts are.
  static bool canFold(const Expression &expression);

  /// Reports an error; returns an undefined value.
  Value fail(const llvm::Twine &text);
  Value raise(llvm::StringRef text);
  bool failed() const { return bool(error); }
  /// Reports the use of a value that is undefined; true if it is.
  bool failUndefined(const Value &value);

  // Bounds.
  /// Counts what is done; false when it is too much, or after an error.
  bool spend(size_t work);
  /// The same, for reading or copying a text.
  bool spendOn(llvm::StringRef text) { return spend(1 + text.size() / 64); }
  /// The same, for looking for a part of a text.
  bool spendOnFinding(llvm::StringRef text, llvm::StringRef part) {
    return spend(1 + (text.size() + part.size()) / (part.size() < 8 ? 32 : 16));
  }
  /// Whether there is room for that many bytes.
  bool reserve(size_t bytes);
  size_t &work() { return budget.work; }

  // Making values.
  Value text(std::string bytes, bool isMarkup = false);
  Value integer(const Whole &number);
  Value list(List items, Sequence::Kind kind = Sequence::Kind::List);
  Value range(int64_t start, int64_t stop, int64_t step);
  Value dict(Ref<Dict> made);
  Value iterator(Ref<Iterator> made);
  Value undefined(const llvm::Twine &reason);
  Value callable(Ref<Callable> made);
  Value space(Ref<Dict> members);

  // Printing: Python's str(), repr() and json.dumps().
  std::string digits(const Value &integer);
  std::string str(const Value &value);
  std::string repr(const Value &value);
  struct JsonForm {
    std::optional<std::string> indent;
    std::string comma = ", ", colon = ": ";
    bool isAscii = false, isSorted = false;
  };
  std::string json(const Value &value, const JsonForm &form);

  // Reading values.
  Value member(const Value &object, llvm::StringRef name);
  Value item(const Value &object, const Value &key);
  Value slice(const Value &object, const Value &begin, const Value &end,
              const Value &step);
  /// The attribute at a path, as filters have it: `a.b.0`.
  Value path(const Value &object, const Value &attribute,
             const Value *fallback = nullptr);
  /// What a loop over `value` has; null after an error.
  Ref<Iterator> iterate(const Value &value);
  std::optional<Value> next(Iterator &items);
  List items(const Value &value);
  std::optional<int64_t> length(const Value &value);

  // Operations.
  Value binary(Operator op, const Value &lhs, const Value &rhs);
  bool compare(Operator op, const Value &lhs, const Value &rhs);
  bool less(const Value &lhs, const Value &rhs);
  bool contains(const Value &container, const Value &item);
  bool same(const Value &lhs, const Value &rhs);
  /// `format % arguments`.
  Value interpolate(const Value &format, const Value &arguments);
  Value format(const Value &format, const List &items, const Named &named);

  Value call(const Value &callee, Arguments given);
  Value callRow(const CallRow &row, Value self, Arguments given);
  Value filter(llvm::StringRef name, const Value &value, Arguments given);
  bool test(llvm::StringRef name, const Value &value, Arguments given);
  /// The next item of a loop; false at its end.
  bool advance(Loop &loop);
  std::optional<Value> peek(Loop &loop);
  int64_t lengthOf(Loop &loop);

  const Inputs &inputs;

private:
  enum class Flow : uint8_t { Next, Break, Continue };
  struct Frame;

  Value evaluate(const Expression &expression);
  Value evaluateParts(const Expression &expression);
  Value literalOf(const Expression &expression);
  Value subscript(const Expression &expression);
  Value compareAll(const Expression &expression);
  Value callExpression(const Expression &expression, const Value *caller);
  Value filterExpression(const Expression &expression, const Value *value);
  Value lookup(llvm::StringRef name);
  bool arguments(const Expression &call, Arguments &made);
  Value negative(const Value &value, bool negates);

  Value callMacro(const Callable &macro, Arguments given);
  Value callLoop(Loop &loop, const Value &items);

  Flow runAll(const std::vector<Statement> &statements);
  Flow runOne(const Statement &statement);
  Flow runIn(Ref<Scope> inner, const std::vector<Statement> &statements);
  /// The text that statements print, in a scope.
  std::string capture(Ref<Scope> inner,
                      const std::vector<Statement> &statements,
                      Flow *flow = nullptr);
  Flow loop(const Statement &statement, Ref<Iterator> items, int64_t depth);
  Flow loopBody(const Statement &statement, Loop &loop, const Value &asValue);
  void assign(const Expression &target, const Value &value);
  void callBlock(const Statement &statement);
  Value macroOf(const Statement &statement, Ref<Scope> around);
  Flow block(const Statement &statement);
  void print(llvm::StringRef text);
  Ref<Scope> inner(Ref<Scope> outer);
  void charge(Object &made, size_t bytes);
  Value failSlice(const Value &culprit, const llvm::Twine &text);
  void findBlocks(const std::vector<Statement> &statements);

  /// Of expressions and statements in each other, with calls of macros.
  static constexpr unsigned mostDepth = 900;
  /// Of lists in each other.
  static constexpr unsigned deepest = 100;

  TemplateError &error;
  const bool isFolding;
  Budget budget;
  std::string output;
  std::string *sink = &output;
  Ref<Scope> top, scope;
  /// What can refer to itself, and is emptied at the end.
  std::vector<Ref<Namespace>> spaces;
  std::vector<Ref<Scope>> captured;
  std::vector<const Statement *> blocks;
  unsigned line = 0, depth = 0;
};

/// A text that grows, within the bounds of an evaluator.
class TextBuilder {
public:
  explicit TextBuilder(Evaluator &eval) : eval(eval) {}
  TextBuilder &operator+=(llvm::StringRef part) {
    // While it grows, there are two of it.
    if (eval.spendOn(part) && eval.reserve(2 * (bytes.size() + part.size())))
      bytes += part;
    return *this;
  }
  std::string take() { return std::move(bytes); }
  size_t size() const { return bytes.size(); }

private:
  Evaluator &eval;
  std::string bytes;
};

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_EVALUATOR_H
