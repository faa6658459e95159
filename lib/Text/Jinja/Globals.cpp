//===- Globals.cpp - the functions of template programs -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdio>
#include <ctime>

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

/// The entries of dict(...): of one, or of pairs, and those with names.
static Ref<Dict> entriesOf(Call &call) {
  Ref<Dict> made(new Dict);
  if (call.rest.size() > 1) {
    call.fail("there are too many arguments");
    return made;
  }
  if (!call.rest.empty() && call.rest[0].is(VK::Dict)) {
    for (const auto &[key, value] : call.rest[0].dict().entries)
      made->set(key, value);
  } else if (!call.rest.empty()) {
    for (const Value &item : call.eval.items(call.rest[0])) {
      List pair = call.eval.items(item);
      if (pair.size() != 2 || !isHashable(pair[0])) {
        call.fail("an item is not a pair");
        return made;
      }
      made->set(pair[0], pair[1]);
    }
  }
  for (const auto &[name, value] : call.named)
    made->set(call.eval.text(name), value);
  return made;
}

static Value dict(Call &call) {
  Ref<Dict> made = entriesOf(call);
  return call.eval.dict(std::move(made));
}

static Value space(Call &call) {
  Ref<Dict> made = entriesOf(call);
  for (const auto &[key, value] : made->entries)
    if (key.isText() && key.text().starts_with("_"))
      return call.fail("names in a namespace have no `_` first");
  return call.eval.space(std::move(made));
}

static Value range(Call &call) {
  if (call.rest.empty() || call.rest.size() > 3)
    return call.fail("takes one to three integers");
  int64_t bounds[3] = {0, 0, 1};
  for (auto [index, value] : enumerate(call.rest)) {
    if (call.eval.failUndefined(value))
      return {};
    if (value.isBig())
      return call.fail("a number is too large");
    if (!value.isInteger())
      return call.fail("a " + value.typeName() + " is not an int");
    bounds[index] = value.asInteger();
  }
  if (call.rest.size() == 1)
    std::swap(bounds[0], bounds[1]);
  return call.eval.range(bounds[0], bounds[1], bounds[2]);
}

static Value raiseException(Call &call) {
  return call.eval.raise(call.eval.str(call[0]));
}

/// The date and the time, in a form of strftime.
static Value strftimeNow(Call &call) {
  StringRef form = call.text(0);
  std::string filled;
  // %f is Python's own; the time has no zone.
  for (size_t at = 0; at < form.size(); ++at) {
    char next = form[at] == '%' && at + 1 < form.size() ? form[at + 1] : '\0';
    char digits[16];
    std::snprintf(digits, sizeof(digits), "%06d",
                  int(call.eval.inputs.microseconds % 1'000'000));
    if (next == 'f')
      filled += digits;
    else if (next && next != 'z' && next != 'Z')
      filled += {'%', next};
    else if (!next)
      filled += form[at];
    at += next != '\0';
  }
  std::time_t seconds = std::time_t(call.eval.inputs.seconds);
  std::tm parts{};
  gmtime_r(&seconds, &parts); // they are in local time already
  if (filled.size() > 1000)
    return call.fail("the form is too long");
  filled += " "; // so that what is made is never empty
  std::string made(filled.size() * 40 + 64, '\0');
  made.resize(std::strftime(made.data(), made.size(), filled.c_str(), &parts));
  if (!made.empty())
    made.pop_back();
  return call.eval.text(std::move(made));
}

static Value cycler(Call &call) {
  if (call.rest.empty())
    return call.fail("needs an item");
  Ref<Callable> made(new Callable);
  made->special = Callable::Special::Cycler;
  made->items = call.rest;
  return call.eval.callable(std::move(made));
}

static Value joiner(Call &call) {
  Ref<Callable> made(new Callable);
  made->special = Callable::Special::Joiner;
  made->items = {call.has(0) ? call[0] : call.eval.text(", ")};
  return call.eval.callable(std::move(made));
}

static Value unsupportedGlobal(Call &call) {
  return call.fail("is not supported, because texts would differ each time");
}

static constexpr CallRow globalsTable[] = {
    {"cycler", "*", cycler},
    {"dict", "*, **", dict},
    {"joiner", "sep?", joiner},
    {"lipsum", "*, **", unsupportedGlobal},
    {"namespace", "*, **", space},
    {"raise_exception", "message", raiseException},
    {"range", "*", range},
    {"strftime_now", "format", strftimeNow},
};
ArrayRef<CallRow> anec::jinja::globals() { return globalsTable; }
