//===- Operators.cpp - the operators of template programs -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Characters.h"
#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Of integers. Nothing if the result needs more bits.
static std::optional<Value> ofIntegers(Operator op, int64_t lhs, int64_t rhs) {
  static constexpr int64_t mostExact = int64_t(1) << 53;
  int64_t result = 0;
  switch (op) {
  case Operator::Add:
    if (__builtin_add_overflow(lhs, rhs, &result))
      return std::nullopt;
    break;
  case Operator::Subtract:
    if (__builtin_sub_overflow(lhs, rhs, &result))
      return std::nullopt;
    break;
  case Operator::Multiply:
    if (__builtin_mul_overflow(lhs, rhs, &result))
      return std::nullopt;
    break;
  case Operator::Divide:
    if (std::max({lhs, rhs, -mostExact}) > mostExact ||
        std::min(lhs, rhs) < -mostExact)
      return std::nullopt;
    return Value::of(double(lhs) / double(rhs));
  case Operator::FloorDivide:
  case Operator::Remainder: {
    if (rhs == -1) { // the least integer has no negative
      if (lhs == INT64_MIN && op == Operator::FloorDivide)
        return std::nullopt;
      return Value::of(op == Operator::FloorDivide ? -lhs : int64_t(0));
    }
    int64_t quotient = lhs / rhs, rest = lhs % rhs;
    if (rest != 0 && (rest < 0) != (rhs < 0)) {
      --quotient;
      rest += rhs;
    }
    result = op == Operator::FloorDivide ? quotient : rest;
    break;
  }
  default:
    return std::nullopt;
  }
  return Value::of(result);
}

/// Of integers of any size.
static Value ofWholes(Evaluator &eval, Operator op, const Whole &lhs,
                      const Whole &rhs) {
  size_t words = 1 + std::max(lhs.bits(), rhs.bits()) / 64;
  if (!eval.spend(1 + words * words / 10))
    return {};
  switch (op) {
  case Operator::Add:
    return eval.integer(lhs + rhs);
  case Operator::Subtract:
    return eval.integer(lhs + -rhs);
  case Operator::Multiply:
    return eval.integer(lhs * rhs);
  case Operator::FloorDivide:
    return eval.integer(divide(lhs, rhs).first);
  case Operator::Remainder:
    return eval.integer(divide(lhs, rhs).second);
  case Operator::Divide:
    if (std::optional<double> made = ratio(lhs, rhs);
        made && std::isfinite(*made))
      return Value::of(*made);
    return eval.fail("`/`: a number is too large");
  default:
    break;
  }
  if (rhs.isNegative) {
    double base = lhs.asDouble(), exponent = rhs.asDouble();
    return std::isfinite(base) && std::isfinite(exponent)
               ? Value::of(std::pow(base, exponent))
               : eval.fail("`**`: a number is too large");
  }
  std::optional<Whole> made = power(lhs, rhs);
  if (!made || !eval.spend(made->bits() / 3))
    return eval.fail("`**`: a number is too large");
  return eval.integer(*made);
}

static double ofFloats(Operator op, double lhs, double rhs) {
  switch (op) {
  case Operator::Add:
    return lhs + rhs;
  case Operator::Subtract:
    return lhs - rhs;
  case Operator::Multiply:
    return lhs * rhs;
  case Operator::Divide:
    return lhs / rhs;
  case Operator::Power:
    return std::pow(lhs, rhs);
  default:
    break;
  }
  double rest = std::fmod(lhs, rhs);
  double quotient = (lhs - rest) / rhs;
  if (rest != 0 && (rest < 0) != (rhs < 0)) {
    rest += rhs;
    quotient -= 1;
  } else if (rest == 0) {
    rest = std::copysign(0.0, rhs);
  }
  if (op == Operator::Remainder)
    return rest;
  if (quotient == 0)
    return std::copysign(0.0, lhs / rhs);
  double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

static Value repeated(Evaluator &eval, const Value &value, int64_t count) {
  count = std::max<int64_t>(count, 0);
  bool isText = value.isText();
  size_t size =
      isText ? value.text().size() : value.sequence().items.size() * 16;
  if (size && (uint64_t(count) > Budget::mostBytes / size ||
               !eval.reserve(size * size_t(count)))) {
    eval.reserve(SIZE_MAX);
    return {};
  }
  if (isText) {
    std::string bytes;
    bytes.reserve(size * size_t(count));
    for (int64_t at = 0; size && at < count; ++at)
      bytes += value.text();
    eval.spendOn(bytes);
    return eval.text(std::move(bytes), value.isMarkup());
  }
  List items;
  for (int64_t at = 0; size && at < count; ++at)
    append_range(items, value.sequence().items);
  return eval.list(std::move(items), value.isList() ? Sequence::Kind::List
                                                    : Sequence::Kind::Tuple);
}

static StringRef operatorText(Operator op) {
  static constexpr StringLiteral names[] = {"+",  "-",  "*",  "/",  "//",
                                            "%",  "**", "==", "!=", "<",
                                            "<=", ">",  ">=", "in", "not in"};
  return names[size_t(op)];
}

Value Evaluator::binary(Operator op, const Value &lhs, const Value &rhs) {
  // A text formats what is undefined as an empty one.
  if (op == Operator::Remainder && lhs.isText())
    return interpolate(lhs, rhs);
  if (failUndefined(lhs) || failUndefined(rhs))
    return {};
  if (lhs.isNumber() && rhs.isNumber()) {
    bool divides = op == Operator::Divide || op == Operator::FloorDivide ||
                   op == Operator::Remainder;
    if ((divides && rhs.asNumber() == 0) ||
        (op == Operator::Power && lhs.asNumber() == 0 && rhs.asNumber() < 0))
      return fail("`" + operatorText(op) + "`: a division by zero");
    if (lhs.isInteger() && rhs.isInteger())
      if (std::optional<Value> made =
              ofIntegers(op, lhs.asInteger(), rhs.asInteger()))
        return *made;
    if (lhs.isWhole() && rhs.isWhole())
      return ofWholes(*this, op, lhs.asWhole(), rhs.asWhole());
    for (const Value *side : {&lhs, &rhs})
      if (side->isBig() && !std::isfinite(side->asNumber()))
        return fail("`" + operatorText(op) + "`: a number is too large");
    double made = ofFloats(op, lhs.asNumber(), rhs.asNumber());
    if (op == Operator::Power && (std::isnan(made) || std::isinf(made)) &&
        std::isfinite(lhs.asNumber()) && std::isfinite(rhs.asNumber()))
      return fail("`**`: a number is too large, or complex");
    return Value::of(made);
  }
  auto isSequence = [](const Value &value) {
    return value.isText() || value.isList() || value.isTuple();
  };
  if (op == Operator::Multiply && isSequence(lhs) && rhs.isInteger())
    return repeated(*this, lhs, rhs.asInteger());
  if (op == Operator::Multiply && isSequence(rhs) && lhs.isInteger())
    return repeated(*this, rhs, lhs.asInteger());
  if (op == Operator::Add && lhs.isText() && rhs.isText()) {
    bool isMarkup = lhs.isMarkup() || rhs.isMarkup();
    auto part = [&](const Value &value) {
      return isMarkup && !value.isMarkup() ? escaped(value.text())
                                           : value.text().str();
    };
    if (!spendOn(lhs.text()) || !spendOn(rhs.text()) ||
        !reserve(lhs.text().size() + rhs.text().size()))
      return {};
    std::string made = part(lhs);
    made += part(rhs);
    return text(std::move(made), isMarkup);
  }
  if (op == Operator::Add &&
      ((lhs.isList() && rhs.isList()) || (lhs.isTuple() && rhs.isTuple()))) {
    const List &left = lhs.sequence().items, &right = rhs.sequence().items;
    if (!reserve((left.size() + right.size()) * sizeof(Value)))
      return {};
    List items;
    items.reserve(left.size() + right.size());
    append_range(items, left);
    append_range(items, right);
    return list(std::move(items),
                lhs.isList() ? Sequence::Kind::List : Sequence::Kind::Tuple);
  }
  return fail("`" + operatorText(op) + "` of a " + lhs.typeName() + " and a " +
              rhs.typeName());
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

bool Evaluator::same(const Value &lhs, const Value &rhs) {
  bool isSame = equals(lhs, rhs, budget.work);
  spend(0);
  return isSame;
}

bool Evaluator::less(const Value &lhs, const Value &rhs) {
  if (!spend(1 + workOf(lhs) + workOf(rhs)) || failUndefined(lhs) ||
      failUndefined(rhs))
    return false;
  if (lhs.isNumber() && rhs.isNumber())
    return compareNumbers(lhs, rhs) < 0;
  if (lhs.isText() && rhs.isText())
    return lhs.text() < rhs.text(); // UTF-8 sorts as its characters
  if ((lhs.isList() && rhs.isList()) || (lhs.isTuple() && rhs.isTuple())) {
    const List &left = lhs.sequence().items, &right = rhs.sequence().items;
    for (auto [item, other] : zip(left, right))
      if (!same(item, other))
        return less(item, other);
    return left.size() < right.size();
  }
  fail("`<` of a " + lhs.typeName() + " and a " + rhs.typeName());
  return false;
}

bool Evaluator::contains(const Value &container, const Value &item) {
  if (container.isUndefined())
    return false;
  if (container.isText()) {
    if (!item.isText()) {
      failUndefined(item);
      fail("`in` of a str takes a str, and there is a " + item.typeName());
      return false;
    }
    return spendOnFinding(container.text(), item.text()) &&
           findPart(container.text(), item.text()) != StringRef::npos;
  }
  if (container.is(VK::Dict)) {
    if (!isHashable(item))
      fail("a " + item.typeName() + " is not a key of a dict");
    return container.dict().find(item) != nullptr;
  }
  Ref<Iterator> items = iterate(container);
  while (items && !failed()) {
    std::optional<Value> each = next(*items);
    if (!each)
      break;
    if (same(*each, item))
      return true;
  }
  return false;
}

bool Evaluator::compare(Operator op, const Value &lhs, const Value &rhs) {
  switch (op) {
  case Operator::Equal:
    return same(lhs, rhs);
  case Operator::Unequal:
    return !same(lhs, rhs);
  case Operator::Less:
    return less(lhs, rhs);
  case Operator::Greater:
    return less(rhs, lhs);
  case Operator::In:
    return contains(rhs, lhs);
  case Operator::NotIn:
    return !contains(rhs, lhs);
  default:
    break;
  }
  // NaN is neither less nor equal.
  bool isLess = op == Operator::LessEqual ? less(lhs, rhs) : less(rhs, lhs);
  return isLess || (!failed() && same(lhs, rhs));
}
