//===- CallTable.cpp - filters, tests, methods and functions --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CallTable.h"
#include "Callable.h"
#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

static const CallRow *findIn(std::initializer_list<ArrayRef<CallRow>> tables,
                             StringRef name) {
  for (ArrayRef<CallRow> table : tables)
    for (const CallRow &row : table)
      if (row.name == name)
        return &row;
  return nullptr;
}

const CallRow *anec::jinja::findFilter(StringRef name) {
  return findIn(
      {textFilters(), sequenceFilters(), itemFilters(), numberFilters()}, name);
}

const CallRow *anec::jinja::findTest(StringRef name) {
  return findIn({tests()}, name);
}

const CallRow *anec::jinja::findGlobal(StringRef name) {
  return findIn({globals()}, name);
}

const CallRow *anec::jinja::findMethod(const Value &self, StringRef name) {
  switch (self.kind()) {
  case VK::Text:
    return findIn({textMethods(), textPredicates()}, name);
  case VK::Sequence:
    return self.isList() || self.isTuple() ||
                   self.sequence().kind == Sequence::Kind::Range
               ? findIn({sequenceMethods()}, name)
               : nullptr;
  case VK::Dict:
    return findIn({dictMethods()}, name);
  case VK::Bool:
  case VK::Integer:
  case VK::BigInteger:
  case VK::Float:
    return findIn({numberMethods()}, name);
  case VK::Loop:
    return findIn({loopMethods()}, name);
  case VK::Callable:
    return self.callable().special == Callable::Special::Cycler
               ? findIn({helperMethods()}, name)
               : nullptr;
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

static Value defaultOf(StringRef spelling) {
  int64_t number = 0;
  if (spelling == "none")
    return Value::none();
  if (spelling == "true" || spelling == "false")
    return Value::of(spelling == "true");
  if (!spelling.getAsInteger(10, number))
    return Value::of(number);
  return Value::literal(spelling.str());
}

/// Gives the parameters of `call` their values; false after an error.
static bool bind(Call &call, Arguments &given) {
  bool takesRest = false, takesNamed = false, canName = true;
  size_t used = 0;
  std::vector<bool> isUsed(given.named.size());
  StringRef parameters = call.row.parameters;
  // Parameters before `/` have no names.
  size_t unnamed =
      parameters.contains('/')
          ? parameters.take_until([](char c) { return c == '/'; }).count(',')
          : 0;
  for (size_t index = 0; !parameters.empty(); ++index) {
    auto [parameter, others] = parameters.split(", ");
    parameters = others;
    if (parameter == "/")
      continue;
    if (parameter == "*" || parameter == "**") {
      (parameter == "*" ? takesRest : takesNamed) = true;
      continue;
    }
    canName = index >= unnamed;
    auto [keyword, fallback] = parameter.split('=');
    bool hasFallback = parameter.contains('='),
         canMiss = keyword.consume_back("?");
    const Value *found = nullptr;
    if (used < given.items.size())
      found = &given.items[used++];
    for (auto [at, each] : enumerate(given.named))
      if (canName && each.first == keyword && !isUsed[at]) {
        if (found) {
          call.fail("the argument `" + keyword + "` is given twice");
          return false;
        }
        isUsed[at] = true;
        found = &each.second;
      }
    if (!found && !hasFallback && !canMiss) {
      call.fail("the argument `" + keyword + "` is missing");
      return false;
    }
    call.isGiven.push_back(found);
    call.values.push_back(found         ? *found
                          : hasFallback ? defaultOf(fallback)
                                        : Value());
  }
  for (; used < given.items.size(); ++used) {
    if (!takesRest) {
      call.fail("there are too many arguments");
      return false;
    }
    call.rest.push_back(given.items[used]);
  }
  for (auto [at, each] : enumerate(given.named))
    if (!isUsed[at]) {
      if (!takesNamed) {
        call.fail("there is no argument `" + each.first + "`");
        return false;
      }
      call.named.push_back(each);
    }
  return true;
}

Value Call::fail(const Twine &text) const {
  return eval.fail("`" + row.name + "`: " + text);
}

int64_t Call::integer(size_t index) const {
  if (values[index].isInteger())
    return values[index].asInteger();
  eval.failUndefined(values[index]);
  if (values[index].isBig())
    fail("an argument is too large");
  fail("an argument is " + values[index].typeName() + ", and no int");
  return 0;
}

StringRef Call::text(size_t index) const {
  if (values[index].isText())
    return values[index].text();
  eval.failUndefined(values[index]);
  fail("an argument is " + values[index].typeName() + ", and no str");
  return "";
}

Value Evaluator::callRow(const CallRow &row, Value self, Arguments given) {
  spend(1);
  Call call{*this, row, std::move(self), {}, {}, {}, {}};
  if (failed() || !bind(call, given))
    return {};
  return row.run(call);
}
