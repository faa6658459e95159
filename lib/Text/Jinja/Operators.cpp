//===- Operators.cpp - operators of template programs ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

Value Evaluator::slice(const Expression &expression) {
  Value value = evaluate(*expression.items[0]);
  std::optional<int64_t> bounds[3];
  for (unsigned part = 0; part < 3; ++part)
    if (expression.items[part + 1]) {
      Value bound = evaluate(*expression.items[part + 1]);
      if (bound.isInteger())
        bounds[part] = bound.integer;
      else if (!bound.is(VK::None))
        return fail("an end of a part is no integer");
    }
  bool isText = value.isString();
  if (!isText && !value.is(VK::List))
    return fail("a part is taken of what is neither a list nor a text");
  std::vector<size_t> offsets;
  if (isText)
    offsets = characters(value.text);
  int64_t count =
      isText ? int64_t(offsets.size()) - 1 : int64_t(value.list->size());
  int64_t step = bounds[2].value_or(1);
  if (step == 0)
    return fail("the step of a part is 0");
  int64_t least = step < 0 ? -1 : 0, most = step < 0 ? count - 1 : count;
  auto place = [&](std::optional<int64_t> bound, int64_t fallback) {
    if (!bound)
      return fallback;
    int64_t at = *bound < 0 ? std::max(*bound, -count - 1) + count : *bound;
    return std::clamp(at, least, most);
  };
  int64_t from = place(bounds[0], step < 0 ? most : least),
          to = place(bounds[1], step < 0 ? least : most);
  List items;
  std::string text;
  step = std::clamp<int64_t>(step, -count - 1, count + 1);
  for (int64_t at = from; step > 0 ? at < to : at > to; at += step) {
    if (isText)
      text += value.text.substr(offsets[size_t(at)],
                                offsets[size_t(at) + 1] - offsets[size_t(at)]);
    else
      items.push_back((*value.list)[size_t(at)]);
  }
  return isText ? Value::of(text) : Value::of(std::move(items));
}

bool Evaluator::contains(const Value &container, const Value &item) {
  if (container.isString() && item.isString())
    return StringRef(container.text).contains(item.text);
  if (container.is(VK::List))
    return any_of(*container.list,
                  [&](const Value &each) { return each.equals(item); });
  if (container.is(VK::Object))
    return item.isString() && container.find(item.text);
  fail("`in` is asked of what is neither a list nor a text");
  return false;
}

static std::optional<int> order(const Value &lhs, const Value &rhs) {
  if (lhs.isNumber() && rhs.isNumber())
    return lhs.asNumber() < rhs.asNumber()   ? -1
           : lhs.asNumber() > rhs.asNumber() ? 1
                                             : 0;
  if (lhs.isString() && rhs.isString())
    return lhs.text.compare(rhs.text);
  return std::nullopt;
}

std::optional<Value> anec::jinja::arithmetic(StringRef op, const Value &lhs,
                                             const Value &rhs) {
  if (!lhs.isNumber() || !rhs.isNumber())
    return std::nullopt;
  double x = lhs.asNumber(), y = rhs.asNumber();
  bool isWhole = lhs.isInteger() && rhs.isInteger() && op != "/";
  if ((op == "/" || op == "//" || op == "%") && y == 0)
    return std::nullopt;
  double result = op == "+"    ? x + y
                  : op == "-"  ? x - y
                  : op == "*"  ? x * y
                  : op == "/"  ? x / y
                  : op == "//" ? std::floor(x / y)
                  : op == "%"  ? x - y * std::floor(x / y)
                               : std::pow(x, y);
  if (!isWhole)
    return Value::of(result);
  if (!(std::abs(result) < 9e15)) // beyond, doubles skip integers
    return std::nullopt;
  return Value::of(int64_t(result));
}

Value Evaluator::binary(const Expression &expression) {
  Value lhs = evaluate(*expression.items[0]),
        rhs = evaluate(*expression.items[1]);
  StringRef op = expression.text;
  if (error)
    return {};
  offset = expression.offset;
  if (op == "==" || op == "!=")
    return Value::of(lhs.equals(rhs) == (op == "=="));
  if (op == "in" || op == "not in")
    return Value::of(contains(rhs, lhs) == (op == "in"));
  if (op == "<" || op == "<=" || op == ">" || op == ">=") {
    std::optional<int> sign = order(lhs, rhs);
    if (!sign)
      return fail("`" + op + "` compares what has no order");
    return Value::of(op == "<"    ? *sign < 0
                     : op == "<=" ? *sign <= 0
                     : op == ">"  ? *sign > 0
                                  : *sign >= 0);
  }
  if (op == "~")
    return Value::of(lhs.str() + rhs.str());
  if (op == "+" && lhs.isString() && rhs.isString())
    return Value::of(lhs.text + rhs.text);
  if (op == "+" && lhs.is(VK::List) && rhs.is(VK::List)) {
    List items = *lhs.list;
    append_range(items, *rhs.list);
    return Value::of(std::move(items));
  }
  if (op == "*" && lhs.isString() && rhs.isInteger()) {
    std::string text;
    for (int64_t i = 0; i < rhs.integer && !isSpent(); ++i) {
      text += lhs.text;
      if (text.size() > mostText)
        break;
    }
    return Value::of(text);
  }
  std::optional<Value> result = arithmetic(op, lhs, rhs);
  if (!result)
    return fail("`" + op + "` cannot be computed of these values");
  return *result;
}
