//===- Methods.cpp - methods of lists, dicts, numbers and loops -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;
using SK = Sequence::Kind;

//===----------------------------------------------------------------------===//
// Lists, tuples and ranges
//===----------------------------------------------------------------------===//

static Value countItems(Call &call) {
  int64_t found = 0;
  for (const Value &item : call.self.sequence().items)
    found += !call.eval.failed() && call.eval.same(item, call[0]);
  return Value::of(found);
}

static Value index(Call &call) {
  const List &items = call.self.sequence().items;
  int64_t size = int64_t(items.size()), begin = 0, end = size;
  auto bound = [&](size_t at, int64_t &into) {
    if (!call.has(at))
      return;
    into = call.integer(at);
    into = std::clamp<int64_t>(into < 0 ? into + size : into, 0, size);
  };
  bound(1, begin);
  bound(2, end);
  for (int64_t at = begin; at < end && !call.eval.failed(); ++at)
    if (call.eval.same(items[size_t(at)], call[0]))
      return Value::of(at);
  return call.fail("there is no such item");
}

static Value copy(Call &call) { return call.self; }

static constexpr CallRow sequenceMethodTable[] = {
    {"copy", "", copy},
    {"count", "value, /", countItems},
    {"index", "value, start?, stop?, /", index},
};
ArrayRef<CallRow> anec::jinja::sequenceMethods() { return sequenceMethodTable; }

//===----------------------------------------------------------------------===//
// Dicts
//===----------------------------------------------------------------------===//

static Value get(Call &call) {
  if (!isHashable(call[0]))
    return call.fail("a " + call[0].typeName() + " is not a key");
  const Value *found = call.self.dict().find(call[0]);
  return found ? *found : call[1];
}

template <SK kind>
static Value view(Call &call) {
  List items;
  for (const auto &[key, value] : call.self.dict().entries)
    items.push_back(kind == SK::Keys ? key
                    : kind == SK::Values
                        ? value
                        : call.eval.list(List{key, value}, SK::Tuple));
  return call.eval.list(std::move(items), kind);
}

static Value fromKeys(Call &call) {
  Ref<Dict> made(new Dict);
  for (const Value &key : call.eval.items(call[0])) {
    if (!isHashable(key))
      return call.fail("a " + key.typeName() + " is not a key");
    made->set(key, call[1]);
  }
  return call.eval.dict(std::move(made));
}

static constexpr CallRow ofDicts[] = {
    {"copy", "", copy},
    {"fromkeys", "iterable, value=none, /", fromKeys},
    {"get", "key, default=none, /", get},
    {"items", "", view<SK::Items>},
    {"keys", "", view<SK::Keys>},
    {"values", "", view<SK::Values>},
};
ArrayRef<CallRow> anec::jinja::dictMethods() { return ofDicts; }

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static Value bitLength(Call &call) {
  if (!call.self.isWhole())
    return call.fail("a float has none");
  return Value::of(int64_t(call.self.asWhole().bits()));
}

static Value isInteger(Call &call) {
  if (call.self.isWhole())
    return call.fail("an int has none");
  double number = call.self.asNumber();
  return Value::of(std::isfinite(number) && std::floor(number) == number);
}

static Value conjugate(Call &call) {
  return call.self.is(VK::Bool) ? Value::of(call.self.asInteger()) : call.self;
}

static constexpr CallRow ofNumbers[] = {
    {"bit_length", "", bitLength},
    {"conjugate", "", conjugate},
    {"is_integer", "", isInteger},
};
ArrayRef<CallRow> anec::jinja::numberMethods() { return ofNumbers; }

//===----------------------------------------------------------------------===//
// Loops and cyclers
//===----------------------------------------------------------------------===//

static Value cycle(Call &call) {
  if (call.rest.empty())
    return call.fail("needs an item");
  return call.rest[size_t(call.self.loop().index0) % call.rest.size()];
}

static Value changed(Call &call) {
  std::optional<List> &last = call.self.loop().changed;
  bool isSame = last && last->size() == call.rest.size();
  for (size_t at = 0; isSame && at < call.rest.size(); ++at)
    isSame = call.eval.same((*last)[at], call.rest[at]);
  last = call.rest;
  return Value::of(!isSame);
}

static constexpr CallRow ofLoops[] = {
    {"changed", "*", changed},
    {"cycle", "*", cycle},
};
ArrayRef<CallRow> anec::jinja::loopMethods() { return ofLoops; }

static Value nextItem(Call &call) {
  Callable &cycler = call.self.callable();
  Value item = cycler.items[cycler.position];
  cycler.position = (cycler.position + 1) % cycler.items.size();
  return item;
}

static Value reset(Call &call) {
  call.self.callable().position = 0;
  return Value::none();
}

static constexpr CallRow ofCyclers[] = {
    {"next", "", nextItem},
    {"reset", "", reset},
};
ArrayRef<CallRow> anec::jinja::helperMethods() { return ofCyclers; }
