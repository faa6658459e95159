//===- Evaluator.cpp - runs template programs -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "Characters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;
using S = Statement::Kind;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

Evaluator::Evaluator(const Inputs &inputs, TemplateError &error, bool isFolding)
    : inputs(inputs), error(error), isFolding(isFolding) {
  // Constants may take 1/50 of the time and 1/32 of the memory of a run.
  if (isFolding)
    budget = {.bytes = Budget::mostBytes / 32 * 31,
              .work = Budget::mostWork / 50 * 49};
  Ref<Scope> base(new Scope(nullptr));
  for (const auto &[name, value] : inputs.variables)
    base->set(name, value);
  top = scope = Ref<Scope>(new Scope(std::move(base)));
}

Evaluator::~Evaluator() {
  // Only these can refer to themselves.
  for (const Ref<Namespace> &space : spaces)
    space->members = Ref<Dict>(new Dict);
  for (const Ref<Scope> &each : captured)
    each->variables.clear();
}

Value Evaluator::fail(const Twine &text) {
  if (!error)
    error = {text.str(), line};
  return {};
}

Value Evaluator::raise(StringRef text) {
  fail(text.empty() ? "an exception" : text);
  error.isRaised = true;
  return {};
}

bool Evaluator::failUndefined(const Value &value) {
  if (value.isUndefined())
    fail(value.text().empty() ? "a value is undefined" : value.text());
  return value.isUndefined();
}

bool Evaluator::spend(size_t work) {
  budget.work += work;
  if (budget.work > Budget::mostWork)
    fail("it takes longer than a template may");
  return !failed();
}

bool Evaluator::reserve(size_t bytes) {
  if (bytes > Budget::mostBytes || budget.bytes > Budget::mostBytes - bytes)
    fail("it takes more memory than a template may");
  return !failed();
}

/// Constants stay, and nobody is charged when they go.
void Evaluator::charge(Object &made, size_t bytes) {
  made.charge(isFolding ? nullptr : &budget, bytes);
  if (isFolding)
    budget.bytes += bytes;
}

//===----------------------------------------------------------------------===//
// Making values
//===----------------------------------------------------------------------===//

Value Evaluator::text(std::string bytes, bool isMarkup) {
  if (!reserve(bytes.size()))
    return {};
  size_t size = bytes.capacity() + sizeof(Text);
  Ref<Object> made(new Text(std::move(bytes), isMarkup));
  charge(*made, size);
  return {VK::Text, std::move(made)};
}

Value Evaluator::integer(const Whole &number) {
  Value made = Value::literal(number);
  if (!made.isBig())
    return made;
  if (number.isTooLarge())
    return fail("an integer is too large");
  size_t size = sizeof(BigInteger) + number.size.getNumWords() * 8;
  if (!spend(1 + number.bits() / 256) || !reserve(size))
    return {};
  charge(*const_cast<Object *>(static_cast<const Object *>(made.identity())),
         size);
  return made;
}

Value Evaluator::list(List items, Sequence::Kind kind) {
  size_t size = items.capacity() * sizeof(Value) + sizeof(Sequence);
  unsigned depth = 0;
  for (const Value &item : items)
    depth = std::max(depth, item.depth() + 1);
  if (depth > deepest)
    fail("lists are in each other more than 100 times");
  if (!spend(1 + items.size() / 4) || !reserve(size))
    return {};
  Ref<Object> made(new Sequence(kind, std::move(items)));
  made->depth = depth;
  charge(*made, size);
  return {VK::Sequence, std::move(made)};
}

Value Evaluator::range(int64_t start, int64_t stop, int64_t step) {
  static constexpr int64_t longest = 100'000;
  if (step == 0)
    return fail("the step of a range is 0");
  // As the sandbox of jinja2 has it.
  __int128 span = step > 0 ? __int128(stop) - start : __int128(start) - stop;
  __int128 size = step > 0 ? step : -__int128(step);
  if ((span + size - 1) / size > longest)
    return fail("a range has more than 100000 numbers");
  List items;
  for (__int128 at = start; step > 0 ? at < stop : at > stop; at += step)
    items.push_back(Value::of(int64_t(at)));
  Value made = list(std::move(items), Sequence::Kind::Range);
  if (made.is(VK::Sequence)) {
    auto &sequence = const_cast<Sequence &>(made.sequence());
    sequence.start = start;
    sequence.stop = stop;
    sequence.step = step;
  }
  return made;
}

Value Evaluator::dict(Ref<Dict> made) {
  size_t size = made->entries.capacity() * 2 * sizeof(Value) + sizeof(Dict);
  if (made->entries.size() > 8)
    size += made->entries.size() * 40; // of the index
  if (made->depth > deepest)
    fail("dicts are in each other more than 100 times");
  if (!spend(1 + 2 * made->entries.size()) || !reserve(size))
    return {};
  charge(*made, size);
  return {VK::Dict, std::move(made)};
}

Value Evaluator::iterator(Ref<Iterator> made) {
  made->depth = made->source.depth() + 1;
  if (made->depth > deepest)
    fail("generators are in each other more than 100 times");
  if (!reserve(sizeof(Iterator)))
    return {};
  charge(*made, sizeof(Iterator) + 128);
  return {VK::Iterator, std::move(made)};
}

Value Evaluator::undefined(const Twine &reason) {
  Value made = text(reason.str());
  Ref<Object> object;
  if (made.isText())
    object = Ref<Object>(
        const_cast<Object *>(static_cast<const Object *>(made.identity())));
  return {VK::Undefined, std::move(object)};
}

Value Evaluator::callable(Ref<Callable> made) {
  made->depth = made->self.depth() + 1;
  for (const Value &item : made->items)
    made->depth = std::max(made->depth, item.depth() + 1);
  if (made->depth > deepest)
    fail("functions are in each other more than 100 times");
  size_t size = sizeof(Callable) + made->items.size() * sizeof(Value);
  if (!reserve(size))
    return {};
  charge(*made, size);
  return {VK::Callable, std::move(made)};
}

Value Evaluator::space(Ref<Dict> members) {
  if (!dict(members).is(VK::Dict))
    return {};
  Ref<Namespace> made(new Namespace);
  charge(*made, sizeof(Namespace));
  made->members = std::move(members);
  spaces.push_back(made);
  return {VK::Namespace, std::move(made)};
}

Ref<Scope> Evaluator::inner(Ref<Scope> outer) {
  Ref<Scope> made(new Scope(std::move(outer)));
  charge(*made, 256);
  reserve(0);
  return made;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Evaluator::print(StringRef text) {
  if (!spendOn(text) || !reserve(text.size()))
    return;
  budget.bytes += text.size();
  *sink += text;
}

std::string Evaluator::capture(Ref<Scope> inner,
                               const std::vector<Statement> &statements,
                               Flow *flow) {
  std::string text, *outer = sink;
  sink = &text;
  Flow end = runIn(std::move(inner), statements);
  if (flow)
    *flow = end;
  sink = outer;
  budget.bytes -= text.size();
  return text;
}

Evaluator::Flow Evaluator::runIn(Ref<Scope> inner,
                                 const std::vector<Statement> &statements) {
  std::swap(scope, inner);
  Flow flow = runAll(statements);
  std::swap(scope, inner);
  return flow;
}

Evaluator::Flow Evaluator::runAll(const std::vector<Statement> &statements) {
  for (const Statement &statement : statements)
    if (Flow flow = runOne(statement); failed() || flow != Flow::Next)
      return flow;
  return Flow::Next;
}

Evaluator::Flow Evaluator::runOne(const Statement &statement) {
  ++depth;
  auto leave = make_scope_exit([&] { --depth; });
  line = statement.line;
  if (depth > mostDepth)
    fail("calls are in each other too deeply");
  if (!spend(1))
    return Flow::Next;
  switch (statement.kind) {
  case S::Data:
    print(statement.text);
    break;
  case S::Output: {
    Value value = evaluate(*statement.value);
    if (value.isText())
      print(value.text());
    else
      print(str(value));
    break;
  }
  case S::If:
    return runAll(evaluate(*statement.value).isTrue() ? statement.body
                                                      : statement.otherwise);
  case S::For: {
    Value value = evaluate(*statement.value);
    line = statement.line;
    Ref<Iterator> items = failed() ? nullptr : iterate(value);
    return items ? loop(statement, std::move(items), 0) : Flow::Next;
  }
  case S::Set:
    assign(*statement.targets.front(), evaluate(*statement.value));
    break;
  case S::SetBody: {
    Flow flow = Flow::Next;
    Value value = text(capture(inner(scope), statement.body, &flow));
    if (flow != Flow::Next)
      return flow;
    if (statement.value)
      value = filterExpression(*statement.value, &value);
    assign(*statement.targets.front(), value);
    break;
  }
  case S::With: {
    Ref<Scope> made = inner(scope);
    List values;
    for (const ExpressionPtr &value : statement.values)
      values.push_back(evaluate(*value));
    std::swap(scope, made);
    for (auto [target, value] : zip(statement.targets, values))
      assign(*target, value);
    Flow flow = failed() ? Flow::Next : runAll(statement.body);
    std::swap(scope, made);
    return flow;
  }
  case S::Filter: {
    Flow flow = Flow::Next;
    Value value = text(capture(inner(scope), statement.body, &flow));
    if (flow != Flow::Next)
      return flow;
    if (!failed())
      print(str(filterExpression(*statement.value, &value)));
    break;
  }
  case S::Macro:
    scope->set(statement.text, macroOf(statement, scope));
    break;
  case S::Call: {
    Value caller = macroOf(statement, scope);
    Value value = callExpression(*statement.value, &caller);
    if (!failed())
      print(str(value));
    break;
  }
  case S::Block:
    runIn(inner(statement.isScoped ? scope : top), statement.body);
    break;
  case S::Generation:
    runIn(inner(scope), statement.body);
    break;
  case S::Scope:
    return statement.value ? runIn(inner(scope), statement.body)
                           : runAll(statement.body);
  case S::Evaluate:
    evaluate(*statement.value);
    break;
  case S::Load:
    fail("`" + statement.text + "`: there are no other templates");
    break;
  case S::Break:
    return Flow::Break;
  case S::Continue:
    return Flow::Continue;
  }
  return Flow::Next;
}

void Evaluator::assign(const Expression &target, const Value &value) {
  if (failed())
    return;
  line = target.line;
  if (target.kind == Expression::Kind::Name)
    return scope->set(target.text, value);
  if (target.kind == Expression::Kind::Member) {
    Value space = lookup(target.text);
    if (!space.is(VK::Namespace)) {
      fail("`" + target.text + "." + target.member + "`: `" + target.text +
           "` is not a namespace");
      return;
    }
    if (StringRef(target.member).starts_with("_")) {
      fail("`" + target.member + "`: names in a namespace have no `_` first");
      return;
    }
    space.space().members->set(text(target.member), value);
    return;
  }
  Ref<Iterator> items = iterate(value);
  for (const ExpressionPtr &each : target.items) {
    std::optional<Value> item =
        items && !failed() ? next(*items) : std::nullopt;
    if (!item) {
      fail("there are " + Twine(target.items.size()) +
           " names for fewer values");
      return;
    }
    assign(*each, *item);
  }
  if (!failed() && next(*items))
    fail("there are " + Twine(target.items.size()) + " names for more values");
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

void Evaluator::findBlocks(const std::vector<Statement> &statements) {
  for (const Statement &statement : statements) {
    if (statement.kind == S::Block)
      blocks.push_back(&statement);
    findBlocks(statement.body);
    findBlocks(statement.otherwise);
  }
}

void Evaluator::run(const std::vector<Statement> &program) {
  findBlocks(program);
  runAll(program);
  // Half of a pair, from an escape, is no character.
  for (StringRef rest = output; !failed() && !isASCII(rest);) {
    uint32_t character = takeCharacter(rest);
    if (character >= 0xD800 && character <= 0xDFFF)
      fail("what it prints is not Unicode: half of a surrogate pair");
    if (rest.empty())
      break;
  }
}

std::optional<std::string>
anec::jinja::run(const std::vector<Statement> &program, const Inputs &inputs,
                 TemplateError &error) {
  Evaluator evaluator(inputs, error);
  evaluator.run(program);
  if (error)
    return std::nullopt;
  return evaluator.take();
}
