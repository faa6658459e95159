//===- Tests.cpp - the tests of template programs -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Characters.h"
#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

template <VK kind>
static Value isKind(Call &call) {
  return Value::of(call.self.is(kind));
}

static Value isDefined(Call &call) {
  return Value::of(!call.self.isUndefined());
}
static Value isWhole(Call &call) {
  return Value::of(call.self.isWhole() && !call.self.is(VK::Bool));
}
static Value isNumberTest(Call &call) {
  return Value::of(call.self.isNumber());
}
static Value isEscaped(Call &call) { return Value::of(call.self.isMarkup()); }

template <bool flag>
static Value isFlag(Call &call) {
  return Value::of(call.self.is(VK::Bool) && call.self.isTrue() == flag);
}

static Value isCallable(Call &call) {
  // Undefined values have the method, and fail when it is called.
  return Value::of(call.self.is(VK::Callable) || call.self.is(VK::Loop) ||
                   call.self.isUndefined());
}

static Value isSequence(Call &call) {
  bool isView = call.self.is(VK::Sequence) &&
                call.self.sequence().kind >= Sequence::Kind::Keys;
  return Value::of(call.self.isText() || call.self.is(VK::Dict) ||
                   call.self.isUndefined() ||
                   (call.self.is(VK::Sequence) && !isView));
}

static Value isIterable(Call &call) {
  return Value::of(call.self.isText() || call.self.is(VK::Dict) ||
                   call.self.is(VK::Sequence) || call.self.is(VK::Iterator) ||
                   call.self.is(VK::Loop) || call.self.isUndefined());
}

template <Property property>
static Value hasCase(Call &call) {
  std::string text = call.eval.str(call.self);
  return Value::of(hasProperty(text, property));
}

/// The remainder of a division by `divisor`.
static Value remainder(Call &call, const Value &divisor) {
  return call.eval.binary(Operator::Remainder, call.self, divisor);
}
template <int64_t rest>
static Value isParity(Call &call) {
  Value made = remainder(call, Value::of(int64_t(2)));
  return Value::of(made.isNumber() && made.asNumber() == double(rest));
}
static Value isDivisible(Call &call) {
  Value made = remainder(call, call[0]);
  return Value::of(made.isNumber() && made.asNumber() == 0);
}

template <Operator op>
static Value compares(Call &call) {
  return Value::of(call.eval.compare(op, call.self, call[0]));
}

static Value isSame(Call &call) {
  const Value &lhs = call.self, &rhs = call[0];
  if (lhs.kind() != rhs.kind())
    return Value::of(false);
  if (lhs.identity() == rhs.identity() && lhs.identity())
    return Value::of(true);
  // Small values are one and the same in Python.
  bool isSmall = lhs.isNone() || lhs.isInteger() || lhs.isText() ||
                 (lhs.isTuple() && lhs.sequence().items.empty());
  return Value::of(isSmall && call.eval.same(lhs, rhs));
}

/// Whether a table, a dict of Python, has the row.
template <const CallRow *(*find)(StringRef)>
static Value isNamed(Call &call) {
  if (!isHashable(call.self))
    return call.fail(Twine(call.self.typeName()) + " is not a key of a dict");
  return Value::of(call.self.isText() && find(call.self.text()));
}

static constexpr CallRow testsTable[] = {
    {"!=", "other", compares<Operator::Unequal>},
    {"<", "other", compares<Operator::Less>},
    {"<=", "other", compares<Operator::LessEqual>},
    {"==", "other", compares<Operator::Equal>},
    {">", "other", compares<Operator::Greater>},
    {">=", "other", compares<Operator::GreaterEqual>},
    {"boolean", "", isKind<VK::Bool>},
    {"callable", "", isCallable},
    {"defined", "", isDefined},
    {"divisibleby", "num", isDivisible},
    {"eq", "other", compares<Operator::Equal>},
    {"equalto", "other", compares<Operator::Equal>},
    {"escaped", "", isEscaped},
    {"even", "", isParity<0>},
    {"false", "", isFlag<false>},
    {"filter", "", isNamed<findFilter>},
    {"float", "", isKind<VK::Float>},
    {"ge", "other", compares<Operator::GreaterEqual>},
    {"greaterthan", "other", compares<Operator::Greater>},
    {"gt", "other", compares<Operator::Greater>},
    {"in", "seq", compares<Operator::In>},
    {"integer", "", isWhole},
    {"iterable", "", isIterable},
    {"le", "other", compares<Operator::LessEqual>},
    {"lessthan", "other", compares<Operator::Less>},
    {"lower", "", hasCase<Property::Lower>},
    {"lt", "other", compares<Operator::Less>},
    {"mapping", "", isKind<VK::Dict>},
    {"ne", "other", compares<Operator::Unequal>},
    {"none", "", isKind<VK::None>},
    {"number", "", isNumberTest},
    {"odd", "", isParity<1>},
    {"sameas", "other", isSame},
    {"sequence", "", isSequence},
    {"string", "", isKind<VK::Text>},
    {"test", "", isNamed<findTest>},
    {"true", "", isFlag<true>},
    {"undefined", "", isKind<VK::Undefined>},
    {"upper", "", hasCase<Property::Upper>},
};
ArrayRef<CallRow> anec::jinja::tests() { return testsTable; }
