//===- Loops.cpp - loops and macros ---------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;
using S = Statement::Kind;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Evaluator::Flow Evaluator::loop(const Statement &statement, Ref<Iterator> items,
                                int64_t depth0) {
  if (statement.condition) {
    Ref<Iterator> chosen(new Iterator);
    chosen->source = Value(VK::Iterator, std::move(items));
    chosen->step = [&statement,
                    around = scope](Evaluator &eval,
                                    const Value &item) -> std::optional<Value> {
      Ref<Scope> made = eval.inner(around);
      std::swap(eval.scope, made);
      eval.assign(*statement.targets.front(), item);
      bool holds =
          !eval.failed() && eval.evaluate(*statement.condition).isTrue();
      std::swap(eval.scope, made);
      return holds ? std::optional(item) : std::nullopt;
    };
    items = chosen;
  }
  Ref<Loop> loop(new Loop);
  charge(*loop, sizeof(Loop));
  loop->items = std::move(items);
  loop->statement = &statement;
  loop->depth0 = depth0;
  if (statement.isRecursive) {
    loop->scope = scope;
    captured.push_back(scope);
  }
  return loopBody(statement, *loop, Value(VK::Loop, loop));
}

Evaluator::Flow Evaluator::loopBody(const Statement &statement, Loop &loop,
                                    const Value &asValue) {
  // `else` is for loops no turn of which came to its end, as in jinja2.
  bool hasTurn = false;
  while (advance(loop)) {
    Ref<Scope> made = inner(scope);
    std::swap(scope, made);
    assign(*statement.targets.front(), loop.current);
    scope->set("loop", asValue);
    Flow flow = failed() ? Flow::Break : runAll(statement.body);
    std::swap(scope, made);
    if (flow == Flow::Break)
      break;
    hasTurn |= flow == Flow::Next;
  }
  if (!hasTurn && !failed())
    return runIn(inner(scope), statement.otherwise);
  return Flow::Next;
}

bool Evaluator::advance(Loop &loop) {
  if (failed())
    return false;
  std::optional<Value> item = next(*loop.items);
  if (!item || failed())
    return false;
  ++loop.index0;
  loop.previous = std::move(loop.current);
  loop.current = std::move(*item);
  return true;
}

std::optional<Value> Evaluator::peek(Loop &loop) {
  if (!loop.items->ahead)
    loop.items->ahead = next(*loop.items);
  return loop.items->ahead;
}

int64_t Evaluator::lengthOf(Loop &loop) {
  Iterator &items = *loop.items;
  if (!loop.length) {
    if (!items.step && !items.source.is(VK::Iterator)) {
      loop.length = length(items.source).value_or(0);
    } else {
      // The rest is read now.
      List rest;
      while (std::optional<Value> item = failed() ? std::nullopt : next(items))
        rest.push_back(std::move(*item));
      loop.length = int64_t(rest.size()) + loop.index0 + 1;
      items.source = list(std::move(rest));
      items.position = 0;
      items.step = nullptr;
    }
  }
  return *loop.length;
}

Value Evaluator::callLoop(Loop &loop, const Value &value) {
  if (!loop.scope)
    return fail("`loop`: only a loop that is `recursive` can be called");
  Ref<Iterator> items = iterate(value);
  if (!items)
    return {};
  std::string made, *outer = sink;
  sink = &made;
  Ref<Scope> around = loop.scope;
  std::swap(scope, around);
  this->loop(*loop.statement, std::move(items), loop.depth0 + 1);
  std::swap(scope, around);
  sink = outer;
  budget.bytes -= made.size();
  return text(std::move(made));
}

//===----------------------------------------------------------------------===//
// Macros
//===----------------------------------------------------------------------===//

Value Evaluator::macroOf(const Statement &statement, Ref<Scope> around) {
  Ref<Callable> made(new Callable);
  made->body = &statement;
  made->name = statement.text;
  if (captured.empty() || captured.back() != around)
    captured.push_back(around);
  made->scope = std::move(around);
  return callable(std::move(made));
}

static std::optional<Value> takeNamed(Named &named, StringRef name) {
  for (auto each = named.begin(); each != named.end(); ++each)
    if (each->first == name) {
      Value value = std::move(each->second);
      named.erase(each);
      return value;
    }
  return std::nullopt;
}

Value Evaluator::callMacro(const Callable &macro, Arguments given) {
  const Statement &body = *macro.body;
  Ref<Scope> made = inner(macro.scope);
  if (body.kind == S::Block)
    return text(capture(std::move(made), body.body));
  std::string name = macro.name.empty() ? "caller" : macro.name;
  std::vector<size_t> missing;
  for (auto [index, parameter] : enumerate(body.names)) {
    if (index < given.items.size()) {
      made->set(parameter, given.items[index]);
      continue;
    }
    std::optional<Value> value = takeNamed(given.named, parameter);
    if (!value) {
      value = undefined("parameter `" + parameter + "` was not provided");
      missing.push_back(index);
    }
    made->set(parameter, *value);
  }
  if (body.usesCaller) {
    std::optional<Value> caller = takeNamed(given.named, "caller");
    made->set("caller", caller ? *caller : undefined("no caller is defined"));
  }
  if (body.usesKwargs) {
    Ref<Dict> rest(new Dict);
    for (auto &[key, value] : given.named)
      rest->set(text(key), value);
    made->set("kwargs", dict(std::move(rest)));
  } else if (!given.named.empty()) {
    return fail("the macro `" + name + "` has no argument `" +
                given.named.front().first + "`");
  }
  size_t used = std::min(body.names.size(), given.items.size());
  if (body.usesVarargs)
    made->set("varargs",
              list(List(given.items.begin() + long(used), given.items.end()),
                   Sequence::Kind::Tuple));
  else if (used < given.items.size())
    return fail("the macro `" + name + "` has no more than " +
                Twine(body.names.size()) + " arguments");
  std::swap(scope, made);
  size_t first = body.names.size() - body.defaults.size();
  for (size_t index : missing)
    if (index >= first && !failed())
      scope->set(body.names[index], evaluate(*body.defaults[index - first]));
  std::swap(scope, made);
  return failed() ? Value() : text(capture(std::move(made), body.body));
}
