//===- Expressions.cpp - parses expressions of template programs ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Parser.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::jinja;
using namespace llvm;

ExpressionPtr Parser::expression(bool hasChoice) {
  Nesting nesting(depth);
  if (depth > Nesting::most)
    fail("it is nested too deeply");
  ExpressionPtr value = disjunction();
  while (hasChoice && word("if")) {
    ExpressionPtr condition = disjunction(), other;
    if (word("else"))
      other = expression();
    value = make(E::Choice, "", std::move(condition), std::move(value),
                 std::move(other));
  }
  return value;
}

ExpressionPtr Parser::disjunction() {
  ExpressionPtr value = conjunction();
  while (word("or"))
    value = make(E::Or, "", std::move(value), conjunction());
  return value;
}

ExpressionPtr Parser::conjunction() {
  ExpressionPtr value = negation();
  while (word("and"))
    value = make(E::And, "", std::move(value), negation());
  return value;
}

ExpressionPtr Parser::negation() {
  Nesting nesting(depth);
  if (depth > Nesting::most)
    fail("it is nested too deeply");
  if (word("not"))
    return make(E::Not, "", negation());
  return comparison();
}

ExpressionPtr Parser::comparison() {
  ExpressionPtr value = chain(0);
  while (true) {
    std::string text;
    for (StringRef known : {"==", "!=", "<=", ">=", "<", ">"})
      if (text.empty() && operation(known))
        text = known.str();
    if (text.empty() && word("in"))
      text = "in";
    if (text.empty() && isName("not") && is(T::Name, "in", 1)) {
      next += 2;
      text = "not in";
    }
    if (text.empty())
      return value;
    value = make(E::Binary, text, std::move(value), chain(0));
  }
}

ExpressionPtr Parser::chain(unsigned level) {
  static const std::vector<StringRef> levels[] = {
      {"+", "-"}, {"~"}, {"*", "//", "/", "%"}};
  if (level == std::size(levels))
    return power();
  ExpressionPtr value = chain(level + 1);
  while (true) {
    StringRef found;
    for (StringRef known : levels[level])
      if (found.empty() && operation(known))
        found = known;
    if (found.empty())
      return value;
    value = make(E::Binary, found, std::move(value), chain(level + 1));
  }
}

ExpressionPtr Parser::power() {
  ExpressionPtr value = unary();
  while (operation("**"))
    value = make(E::Binary, "**", std::move(value), unary());
  return value;
}

ExpressionPtr Parser::unary(bool hasFilters) {
  Nesting nesting(depth);
  if (depth > Nesting::most)
    fail("it is nested too deeply");
  ExpressionPtr value;
  if (operation("-"))
    value = make(E::Negate, "", unary(false));
  else if (operation("+"))
    value = unary(false);
  else
    value = postfix(primary());
  return hasFilters ? filters(std::move(value)) : std::move(value);
}

ExpressionPtr Parser::list(StringRef close) {
  ExpressionPtr made = make(E::List);
  while (!error && !operation(close)) {
    made->items.push_back(expression());
    if (!operation(",") && !is(T::Operator, close))
      expect(T::Operator, close);
  }
  return made;
}

ExpressionPtr Parser::object() {
  ExpressionPtr made = make(E::Object);
  while (!error && !operation("}")) {
    made->items.push_back(expression());
    expect(T::Operator, ":");
    made->items.push_back(expression());
    if (!operation(",") && !is(T::Operator, "}"))
      expect(T::Operator, "}");
  }
  return made;
}

ExpressionPtr Parser::primary() {
  ExpressionPtr made = make(E::Literal);
  Token here = token();
  if (operation("(")) {
    if (operation(")"))
      return make(E::List);
    made = expression();
    if (operation(",")) {
      ExpressionPtr rest = list(")");
      rest->items.insert(rest->items.begin(), std::move(made));
      return rest;
    }
    expect(T::Operator, ")");
    return made;
  }
  if (operation("["))
    return list("]");
  if (operation("{"))
    return object();
  ++next;
  switch (here.kind) {
  case T::String:
    made->literal = Value::of(here.text);
    while (token().kind == T::String)
      made->literal.text += tokens[next++].text;
    return made;
  case T::Integer: {
    int64_t number = 0;
    if (StringRef(here.text).getAsInteger(10, number))
      fail("`" + here.text + "` is too large");
    made->literal = Value::of(number);
    return made;
  }
  case T::Number:
    made->literal = Value::of(std::strtod(here.text.c_str(), nullptr));
    return made;
  case T::Name:
    for (StringRef known : {"true", "True", "false", "False"})
      if (here.text == known) {
        made->literal = Value::of(known.ends_with("rue"));
        return made;
      }
    if (here.text == "none" || here.text == "None") {
      made->literal = Value::none();
      return made;
    }
    made->kind = E::Name;
    made->text = here.text;
    return made;
  default:
    --next;
    fail("a value is expected, and there is `" + here.text + "`");
    return made;
  }
}

ExpressionPtr Parser::subscript(ExpressionPtr value) {
  ExpressionPtr parts[3];
  bool isSlice = false;
  for (unsigned part = 0; part < 3; ++part) {
    if (!is(T::Operator, ":") && !is(T::Operator, "]"))
      parts[part] = expression();
    if (part == 2 || !operation(":"))
      break;
    isSlice = true;
  }
  expect(T::Operator, "]");
  if (isSlice)
    return make(E::Slice, "", std::move(value), std::move(parts[0]),
                std::move(parts[1]), std::move(parts[2]));
  if (!parts[0])
    fail("an index is expected");
  return make(E::Index, "", std::move(value), std::move(parts[0]));
}

void Parser::arguments(Expression &call) {
  while (!error && !operation(")")) {
    if (token().kind == T::Name && is(T::Operator, "=", 1)) {
      std::string key = name();
      ++next;
      call.named.emplace_back(key, expression());
    } else {
      call.items.push_back(expression());
    }
    if (!operation(",") && !is(T::Operator, ")"))
      expect(T::Operator, ")");
  }
}

ExpressionPtr Parser::postfix(ExpressionPtr value) {
  while (!error) {
    if (operation(".")) {
      ExpressionPtr made;
      if (token().kind == T::Integer) { // x.0
        ExpressionPtr index = primary();
        made = make(E::Index, "", std::move(value), std::move(index));
      } else {
        made = make(E::Attribute, name(), std::move(value));
      }
      value = std::move(made);
    } else if (operation("[")) {
      value = subscript(std::move(value));
    } else if (operation("(")) {
      ExpressionPtr call = make(E::Call, "", std::move(value));
      arguments(*call);
      value = std::move(call);
    } else {
      break;
    }
  }
  return value;
}

ExpressionPtr Parser::test(ExpressionPtr value) {
  bool isNegated = word("not");
  ExpressionPtr made = make(E::Test, name(), std::move(value));
  bool isWord = isName("else") || isName("or") || isName("and") ||
                isName("is") || isName("if") || isName("not") || isName("in");
  if (operation("("))
    arguments(*made);
  else if (is(T::Operator, "[") || token().kind == T::String ||
           token().kind == T::Integer || token().kind == T::Number ||
           (token().kind == T::Name && !isWord))
    made->items.push_back(postfix(primary()));
  return isNegated ? make(E::Not, "", std::move(made)) : std::move(made);
}

ExpressionPtr Parser::filters(ExpressionPtr value) {
  while (!error) {
    if (operation("|")) {
      ExpressionPtr filter = make(E::Filter, name(), std::move(value));
      if (operation("("))
        arguments(*filter);
      value = std::move(filter);
    } else if (word("is")) {
      value = test(std::move(value));
    } else {
      break;
    }
  }
  return value;
}
