//===- Fold.cpp - the constants of template programs ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// jinja2 evaluates constant expressions when it reads a program (its
/// optimizer.py, and `as_const` in nodes.py), which texts can show:
/// - a slice of a constant that has none is undefined, where one of a variable
///   is an error;
/// - a constant that is inf or nan is an error, except in `{{ }}`, because
///   jinja2 writes it as a name into its Python program.
///
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;
using E = Expression::Kind;

std::optional<Value> Evaluator::constantOf(const Expression &expression) {
  Value value = evaluate(expression);
  bool isConstant = !failed();
  error = {};
  return isConstant ? std::optional(value) : std::nullopt;
}

/// Whether `is` takes all values in `value`. There can be many more than there
/// are in memory, because lists are shared: false for more than `most`.
static bool allOf(const Value &value, function_ref<bool(const Value &)> is,
                  size_t &most) {
  if (most == 0)
    return false;
  --most;
  if (value.is(VK::Sequence))
    return is(value) && all_of(value.sequence().items, [&](const Value &item) {
             return allOf(item, is, most);
           });
  if (value.is(VK::Dict))
    return all_of(value.dict().entries, [&](const auto &entry) {
      return allOf(entry.first, is, most) && allOf(entry.second, is, most);
    });
  return is(value);
}

static bool allOf(const Value &value, function_ref<bool(const Value &)> is) {
  size_t most = 10'000;
  return allOf(value, is, most);
}

/// Whether jinja2 can write `value` into its Python program.
static bool isLiteral(const Value &value) {
  return allOf(value, [](const Value &one) {
    return one.isNone() || one.isNumber() || one.isText() || one.isList() ||
           one.isTuple();
  });
}

/// The same for what it writes as the text of a value.
static bool isPrintable(const Value &value) {
  return value.isUndefined() || allOf(value, [](const Value &one) {
           return one.isUndefined() || one.isNone() || one.isNumber() ||
                  one.isText() || one.isList() || one.isTuple();
         });
}

static bool isFinite(const Value &value) {
  return allOf(value, [](const Value &one) {
    return !one.is(VK::Float) || std::isfinite(one.asNumber());
  });
}

namespace {
class Folder {
public:
  explicit Folder(TemplateError &error) : error(error) {}
  void fold(std::vector<Statement> &statements);

private:
  void foldAll(std::vector<ExpressionPtr> &expressions) {
    for (ExpressionPtr &each : expressions)
      foldWhole(each.get());
  }
  void foldWhole(Expression *expression);
  void foldPrinted(Expression *expression);
  bool fold(Expression *expression);
  bool foldParts(Expression &expression);
  void finish(Expression *expression);

  TemplateError &error, impossible;
  Inputs none;
  Evaluator eval{none, impossible, /*isFolding=*/true};
};
} // namespace

/// How many of the parts `as_const` always evaluates.
static size_t neededParts(const Expression &expression) {
  switch (expression.kind) {
  case E::And:
  case E::Or:
  case E::Choice:
    return 1;
  case E::Compare:
    return 2;
  default:
    return expression.items.size();
  }
}

static void makeLiteral(Expression &expression, Value value) {
  expression.kind = E::Literal;
  expression.literal = std::move(value);
  expression.items.clear();
  expression.named.clear();
  expression.ops.clear();
  expression.moreItems = nullptr;
  expression.moreNamed = nullptr;
}

/// Folds the parts; whether all that are needed can be constant.
bool Folder::foldParts(Expression &expression) {
  bool isConstant = true;
  for (auto [index, item] : enumerate(expression.items)) {
    bool isPart = fold(item.get());
    isConstant &= isPart || index >= neededParts(expression);
  }
  for (auto &[name, value] : expression.named)
    isConstant &= fold(value.get());
  isConstant &= fold(expression.moreItems.get());
  isConstant &= fold(expression.moreNamed.get());
  return isConstant;
}

/// Whether `expression` has a constant value. It becomes a literal if jinja2
/// can write that value, and its kind is one that jinja2 folds.
bool Folder::fold(Expression *expression) {
  if (!expression || expression->kind == E::Literal)
    return true;
  if (!foldParts(*expression) || !Evaluator::canFold(*expression))
    return false;
  if (is_contained({E::List, E::Tuple, E::Dict, E::Slice}, expression->kind))
    return true;
  std::optional<Value> value = eval.constantOf(*expression);
  if (value && isLiteral(*value))
    makeLiteral(*expression, std::move(*value));
  return value.has_value();
}

/// Errors of what is not folded: now, or as soon as it is evaluated.
void Folder::finish(Expression *expression) {
  if (!expression)
    return;
  if (expression->kind == E::Literal && !isFinite(expression->literal))
    expression->kind = E::NotFinite;
  if (expression->kind == E::Index && expression->items[1]->kind == E::Tuple &&
      any_of(expression->items[1]->items,
             [](const auto &key) { return key->kind == E::Slice; }) &&
      !error)
    error = {"a slice cannot be one of several keys", expression->line};
  for (ExpressionPtr &item : expression->items)
    finish(item.get());
  for (auto &[name, value] : expression->named)
    finish(value.get());
  finish(expression->moreItems.get());
  finish(expression->moreNamed.get());
}

void Folder::foldWhole(Expression *expression) {
  fold(expression);
  finish(expression);
}

void Folder::foldPrinted(Expression *expression) {
  std::optional<Value> value;
  if (fold(expression))
    value = eval.constantOf(*expression);
  if (value && isPrintable(*value))
    makeLiteral(*expression, std::move(*value));
  else
    finish(expression);
}

void Folder::fold(std::vector<Statement> &statements) {
  for (Statement &statement : statements) {
    if (statement.kind == Statement::Kind::Output)
      foldPrinted(statement.value.get());
    else
      foldWhole(statement.value.get());
    foldWhole(statement.condition.get());
    foldAll(statement.values);
    foldAll(statement.defaults);
    fold(statement.body);
    fold(statement.otherwise);
  }
}

void anec::jinja::foldConstants(std::vector<Statement> &program,
                                TemplateError &error) {
  Folder(error).fold(program);
}
