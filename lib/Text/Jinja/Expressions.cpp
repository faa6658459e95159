//===- Expressions.cpp - expressions of template programs -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CallTable.h"
#include "Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>

using namespace anec::jinja;
using namespace llvm;

std::string Parser::name() {
  if (token().kind != T::Name) {
    fail("a name is expected, and there is `" + token().text + "`");
    return "";
  }
  return tokens[next++].text;
}

ExpressionPtr Parser::make(E kind, unsigned line, std::string text) {
  auto made = std::make_unique<Expression>();
  made->kind = kind;
  made->line = line;
  made->text = std::move(text);
  return made;
}

void Parser::add(Expression &to, ExpressionPtr item) {
  to.height = std::max(to.height, item ? item->height + 1 : 0);
  to.items.push_back(std::move(item));
  if (to.height > highestTree)
    fail("an expression has too many parts");
}

/// What a macro uses beside its parameters.
void Parser::note(const Expression &name) {
  for (Statement *macro : macros) {
    macro->usesVarargs |= name.text == "varargs";
    macro->usesKwargs |= name.text == "kwargs";
    macro->usesCaller |= name.text == "caller";
  }
}

ExpressionPtr Parser::expression(bool hasChoice) {
  Nesting nesting(depth);
  if (depth > Nesting::most) {
    fail("it is nested too deeply");
    return make(E::Literal, token().line);
  }
  return hasChoice ? choice() : disjunction();
}

ExpressionPtr Parser::choice() {
  unsigned line = token().line;
  size_t known = unknown.size();
  ExpressionPtr value = disjunction();
  while (!error && word("if")) {
    ExpressionPtr condition = disjunction();
    ExpressionPtr otherwise = word("else") ? expression() : nullptr;
    value = of(E::Choice, line, std::move(condition), std::move(value),
               std::move(otherwise));
    line = token().line;
    unknown.resize(known); // they are guarded
  }
  return value;
}

ExpressionPtr Parser::disjunction() {
  ExpressionPtr value = conjunction();
  for (unsigned line = token().line; word("or"); line = token().line)
    value = of(E::Or, line, std::move(value), conjunction());
  return value;
}

ExpressionPtr Parser::conjunction() {
  ExpressionPtr value = negation();
  for (unsigned line = token().line; word("and"); line = token().line)
    value = of(E::And, line, std::move(value), negation());
  return value;
}

ExpressionPtr Parser::negation() {
  Nesting nesting(depth);
  if (depth > Nesting::most)
    fail("it is nested too deeply");
  unsigned line = token().line;
  if (word("not"))
    return of(E::Not, line, negation());
  return comparison();
}

ExpressionPtr Parser::comparison() {
  static constexpr std::pair<StringLiteral, Operator> operators[] = {
      {"==", Operator::Equal},  {"!=", Operator::Unequal},
      {"<", Operator::Less},    {"<=", Operator::LessEqual},
      {">", Operator::Greater}, {">=", Operator::GreaterEqual}};
  ExpressionPtr value = sum(), made;
  while (!error) {
    std::optional<Operator> op;
    unsigned line = token().line;
    for (const auto &[spelling, each] : operators)
      if (isOperator(spelling))
        op = each;
    if (op)
      ++next;
    else if (word("in"))
      op = Operator::In;
    else if (isWord("not") && is(T::Name, "in", 1)) {
      next += 2;
      op = Operator::NotIn;
    }
    if (!op)
      break;
    if (!made)
      made = of(E::Compare, line, std::move(value));
    made->ops.push_back(*op);
    add(*made, sum());
  }
  return made ? std::move(made) : std::move(value);
}

ExpressionPtr Parser::sum() {
  ExpressionPtr value = concatenation();
  while (!error) {
    unsigned line = token().line;
    bool adds = isOperator("+");
    if (!adds && !isOperator("-"))
      break;
    ++next;
    value = binary(adds ? Operator::Add : Operator::Subtract, line,
                   std::move(value), concatenation());
  }
  return value;
}

ExpressionPtr Parser::concatenation() {
  unsigned line = token().line;
  ExpressionPtr value = product();
  if (!isOperator("~"))
    return value;
  value = of(E::Concat, line, std::move(value));
  while (operation("~"))
    add(*value, product());
  return value;
}

ExpressionPtr Parser::product() {
  static constexpr std::pair<StringLiteral, Operator> operators[] = {
      {"*", Operator::Multiply},
      {"/", Operator::Divide},
      {"//", Operator::FloorDivide},
      {"%", Operator::Remainder}};
  ExpressionPtr value = power();
  while (!error) {
    const auto *found = find_if(
        operators, [&](const auto &each) { return isOperator(each.first); });
    if (found == std::end(operators))
      break;
    unsigned line = token().line;
    ++next;
    value = binary(found->second, line, std::move(value), power());
  }
  return value;
}

ExpressionPtr Parser::power() {
  ExpressionPtr value = unary();
  for (unsigned line = token().line; operation("**"); line = token().line)
    value = binary(Operator::Power, line, std::move(value), unary());
  return value;
}

ExpressionPtr Parser::unary(bool hasFilters) {
  Nesting nesting(depth);
  if (depth > Nesting::most)
    fail("it is nested too deeply");
  unsigned line = token().line;
  ExpressionPtr value;
  if (operation("-"))
    value = of(E::Negative, line, unary(false));
  else if (operation("+"))
    value = of(E::Positive, line, unary(false));
  else
    value = primary();
  value = postfix(std::move(value));
  return hasFilters ? filters(std::move(value)) : std::move(value);
}

ExpressionPtr Parser::number() {
  ExpressionPtr made = make(E::Literal, token().line);
  const Token &literal = tokens[next++];
  std::string digits = literal.text;
  llvm::erase(digits, '_');
  if (literal.kind == T::Float) {
    made->literal = Value::of(std::strtod(digits.c_str(), nullptr));
    return made;
  }
  StringRef text = digits;
  unsigned base = 10;
  if (text.size() > 2 && isAlpha(text[1])) {
    base = toLower(text[1]) == 'x' ? 16 : toLower(text[1]) == 'o' ? 8 : 2;
    text = text.drop_front(2);
  }
  if (std::optional<Whole> number = Whole::of(text, base);
      number && !number->isTooLarge())
    made->literal = Value::literal(*number);
  else
    fail("an integer is too large");
  return made;
}

ExpressionPtr Parser::primary(bool isTarget) {
  unsigned line = token().line;
  switch (token().kind) {
  case T::Name: {
    std::string text = name();
    if (text == "true" || text == "false" || text == "True" ||
        text == "False" || text == "none" || text == "None") {
      ExpressionPtr made = make(E::Literal, line);
      bool isNone = StringRef(text).ends_with("one");
      made->literal =
          isNone ? Value::none() : Value::of(text == "true" || text == "True");
      return made;
    }
    ExpressionPtr made = make(E::Name, line, std::move(text));
    if (isTarget && operation(".")) {
      made->kind = E::Member;
      made->member = name();
    }
    note(*made);
    return made;
  }
  case T::String: {
    ExpressionPtr made = make(E::Literal, line);
    std::string text;
    while (token().kind == T::String)
      text += tokens[next++].text;
    made->literal = Value::literal(std::move(text));
    return made;
  }
  case T::Integer:
  case T::Float:
    return number();
  default:
    break;
  }
  if (operation("(")) {
    ExpressionPtr made = tuple(isTarget, true, /*isInParentheses=*/true);
    expect(T::Operator, ")");
    return made;
  }
  if (operation("["))
    return list();
  if (operation("{"))
    return dict();
  fail("an expression is expected, and there is `" + token().text + "`");
  return make(E::Literal, line);
}

/// Expressions with commas between them, or one expression.
ExpressionPtr Parser::tuple(bool isTarget, bool hasChoice, bool isInParentheses,
                            StringRef end) {
  Nesting nesting(depth);
  if (depth > Nesting::most) {
    fail("it is nested too deeply");
    return make(E::Literal, token().line);
  }
  unsigned line = token().line;
  ExpressionPtr made = make(E::Tuple, line);
  bool hasComma = false;
  while (!error) {
    if (!made->items.empty())
      expect(T::Operator, ",");
    if (token().kind == T::End || token().kind == T::BlockEnd ||
        isOperator(")") || (!end.empty() && isWord(end)))
      break;
    add(*made, isTarget ? primary(true) : expression(hasChoice));
    if (!isOperator(","))
      break;
    hasComma = true;
  }
  if (hasComma)
    return made;
  if (!made->items.empty())
    return std::move(made->items.front());
  if (!isInParentheses)
    fail("an expression is expected, and there is `" + token().text + "`");
  return made;
}

ExpressionPtr Parser::list() {
  ExpressionPtr made = make(E::List, token().line);
  while (!error && !operation("]")) {
    if (!made->items.empty()) {
      expect(T::Operator, ",");
      if (operation("]"))
        break;
    }
    add(*made, expression());
  }
  return made;
}

ExpressionPtr Parser::dict() {
  ExpressionPtr made = make(E::Dict, token().line);
  while (!error && !operation("}")) {
    if (!made->items.empty()) {
      expect(T::Operator, ",");
      if (operation("}"))
        break;
    }
    add(*made, expression());
    expect(T::Operator, ":");
    add(*made, expression());
  }
  return made;
}

ExpressionPtr Parser::postfix(ExpressionPtr value) {
  while (!error) {
    if (isOperator(".") || isOperator("["))
      value = subscript(std::move(value));
    else if (isOperator("("))
      value = called(std::move(value));
    else
      break;
  }
  return value;
}

ExpressionPtr Parser::filters(ExpressionPtr value) {
  while (!error) {
    if (isOperator("|"))
      value = filterChain(std::move(value), false);
    else if (isWord("is"))
      value = test(std::move(value));
    else if (isOperator("("))
      value = called(std::move(value));
    else
      break;
  }
  return value;
}

ExpressionPtr Parser::subscript(ExpressionPtr value) {
  unsigned line = token().line;
  if (operation(".")) {
    if (token().kind == T::Integer)
      return of(E::Index, line, std::move(value), number());
    std::string member = name();
    value = of(E::Attribute, line, std::move(value));
    value->text = std::move(member);
    return value;
  }
  expect(T::Operator, "[");
  ExpressionPtr keys = make(E::Tuple, line);
  while (!error && !operation("]")) {
    if (!keys->items.empty())
      expect(T::Operator, ",");
    add(*keys, subscribed());
  }
  if (keys->items.size() == 1)
    keys = std::move(keys->items.front());
  return of(E::Index, line, std::move(value), std::move(keys));
}

ExpressionPtr Parser::subscribed() {
  unsigned line = token().line;
  auto ends = [&] {
    return isOperator(":") || isOperator("]") || isOperator(",");
  };
  ExpressionPtr begin = isOperator(":") ? nullptr : expression();
  if (!operation(":"))
    return begin;
  ExpressionPtr end = ends() ? nullptr : expression();
  ExpressionPtr step = operation(":") && !ends() ? expression() : nullptr;
  return of(E::Slice, line, std::move(begin), std::move(end), std::move(step));
}

void Parser::arguments(Expression &call) {
  unsigned line = token().line;
  auto ensure = [&](bool holds) {
    if (!holds)
      failAt(line, "an argument is behind those that come after it");
  };
  expect(T::Operator, "(");
  for (bool isFirst = true; !error && !operation(")"); isFirst = false) {
    if (!isFirst) {
      expect(T::Operator, ",");
      if (operation(")"))
        return;
    }
    if (operation("*")) {
      ensure(!call.moreItems && !call.moreNamed);
      call.moreItems = expression();
    } else if (operation("**")) {
      ensure(!call.moreNamed);
      call.moreNamed = expression();
    } else if (token().kind == T::Name && is(T::Operator, "=", 1)) {
      ensure(!call.moreNamed);
      std::string key = name();
      ++next;
      for (const auto &[other, value] : call.named)
        if (other == key)
          fail("the argument `" + key + "` is given twice");
      call.named.emplace_back(std::move(key), expression());
      call.height = std::max(call.height, call.named.back().second->height + 1);
    } else {
      ensure(!call.moreItems && !call.moreNamed && call.named.empty());
      add(call, expression());
    }
  }
}

ExpressionPtr Parser::called(ExpressionPtr value) {
  ExpressionPtr made = of(E::Call, token().line, std::move(value));
  arguments(*made);
  return made;
}

/// Names that are not guarded by conditions must be known.
void Parser::checkRow(const Expression &use) {
  bool isFilter = use.kind == E::Filter;
  if (isGuarded || (isFilter ? findFilter(use.text) : findTest(use.text)))
    return;
  unknown.push_back({(isFilter ? "there is no filter `" + use.text + "`"
                               : "there is no test `is " + use.text + "`"),
                     use.line});
}

/// `| name(...)`, as often as it is here; the first without its `|` in a
/// `filter` block.
ExpressionPtr Parser::filterChain(ExpressionPtr value, bool begins) {
  while (!error && (begins || operation("|"))) {
    unsigned line = token().line;
    std::string filter = name();
    while (operation("."))
      filter += "." + name();
    ExpressionPtr made = make(E::Filter, line, std::move(filter));
    add(*made, std::move(value));
    if (isOperator("("))
      arguments(*made);
    checkRow(*made);
    value = std::move(made);
    begins = false;
  }
  return value;
}

ExpressionPtr Parser::test(ExpressionPtr value) {
  expect(T::Name, "is");
  bool negates = word("not");
  unsigned line = token().line;
  std::string test = name();
  while (operation("."))
    test += "." + name();
  ExpressionPtr made = make(E::Test, line, std::move(test));
  add(*made, std::move(value));
  bool isArgument = token().kind == T::Name || token().kind == T::String ||
                    token().kind == T::Integer || token().kind == T::Float ||
                    isOperator("[") || isOperator("{");
  if (isOperator("(")) {
    arguments(*made);
  } else if (isArgument && !isWord("else") && !isWord("or") && !isWord("and")) {
    if (isWord("is"))
      fail("a test of a test is not possible");
    add(*made, postfix(primary()));
  }
  checkRow(*made);
  return negates ? of(E::Not, line, std::move(made)) : std::move(made);
}
