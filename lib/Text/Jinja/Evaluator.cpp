//===- Evaluator.cpp - runs template programs -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

Evaluator::Evaluator(Members variables, TemplateError &error) : error(error) {
  scopes.emplace_back();
  for (auto &[name, value] : variables)
    scopes.back()[name] = std::move(value);
}

Value Evaluator::fail(const Twine &text) {
  if (!error)
    error = {text.str(), offset};
  return {};
}

bool Evaluator::isSpent() {
  if (++steps > mostSteps || out.size() > mostText)
    fail("it takes too long");
  return bool(error);
}

void Evaluator::print(StringRef text) {
  if (out.size() + text.size() > mostText)
    fail("it takes too long");
  else
    out += text;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Value Evaluator::lookup(StringRef name) {
  for (auto &scope : llvm::reverse(scopes))
    if (auto found = scope.find(std::string_view(name)); found != scope.end())
      return found->second;
  return isFunction(name) ? Value::function(name) : Value();
}

Value Evaluator::member(const Value &value, const Value &key) {
  if (value.is(VK::Undefined))
    return fail("there is no value that `" + key.str() + "` could be of");
  if (value.is(VK::Object) && key.isString()) {
    const Value *found = value.find(key.text);
    return found ? *found : Value();
  }
  if (!key.isInteger())
    return {};
  int64_t at = key.integer;
  if (value.is(VK::List)) {
    at += at < 0 ? int64_t(value.list->size()) : 0;
    if (at >= 0 && at < int64_t(value.list->size()))
      return (*value.list)[size_t(at)];
  }
  if (value.isString()) {
    std::vector<size_t> offsets = characters(value.text);
    int64_t count = int64_t(offsets.size()) - 1;
    at += at < 0 ? count : 0;
    if (at >= 0 && at < count)
      return Value::of(value.text.substr(
          offsets[size_t(at)], offsets[size_t(at) + 1] - offsets[size_t(at)]));
  }
  return {};
}

Arguments Evaluator::argumentsOf(const Expression &expression, size_t first) {
  Arguments given;
  for (size_t index = first; index < expression.items.size(); ++index)
    given.items.push_back(evaluate(*expression.items[index]));
  for (const auto &[name, value] : expression.named)
    given.named.emplace_back(name, evaluate(*value));
  return given;
}

Value Evaluator::callMacro(const Statement &macro, const Arguments &given) {
  if (calls >= mostCalls)
    return fail("macros call each other too deeply");
  ++calls;
  std::string before = std::move(out);
  out.clear();
  // Only what is global is visible besides the parameters.
  auto outer = std::move(scopes);
  scopes.clear();
  scopes.push_back(outer.front());
  scopes.emplace_back();
  for (auto [index, name] : enumerate(macro.names)) {
    const Value *value = given.get(index, name);
    if (value)
      scopes.back()[name] = *value;
    else if (macro.defaults[index])
      scopes.back()[name] = evaluate(*macro.defaults[index]);
    else
      scopes.back()[name] = {};
  }
  runAll(macro.body);
  scopes = std::move(outer);
  std::string text = std::move(out);
  out = std::move(before);
  --calls;
  return Value::of(text);
}

Value Evaluator::call(const Expression &expression) {
  const Expression &callee = *expression.items[0];
  Arguments given = argumentsOf(expression, 1);
  if (callee.kind == Expression::Kind::Attribute) {
    Value object = evaluate(*callee.items[0]);
    offset = expression.offset;
    return error ? Value() : method(object, callee.text, given);
  }
  Value target = evaluate(callee);
  offset = expression.offset;
  if (error)
    return {};
  if (!target.is(VK::Function))
    return fail("`" + callee.text + "` is no function that anec knows");
  return target.macro ? callMacro(*target.macro, given)
                      : function(target.text, given);
}

Value Evaluator::evaluate(const Expression &expression) {
  if (isSpent())
    return {};
  offset = expression.offset;
  Value value = evaluateParts(expression);
  // What is long takes long to copy.
  steps += value.text.size() / 1024;
  if (value.list)
    steps += value.list->size() / 16;
  bool isLong = value.text.size() > mostText ||
                (value.list && value.list->size() > mostItems);
  if (isLong || value.depth > mostDepth)
    return fail("a value is too large");
  return value;
}

Value Evaluator::evaluateParts(const Expression &expression) {
  using E = Expression::Kind;
  auto item = [&](size_t index) { return evaluate(*expression.items[index]); };
  switch (expression.kind) {
  case E::Literal:
    return expression.literal;
  case E::Name:
    return lookup(expression.text);
  case E::List: {
    List items;
    for (const ExpressionPtr &each : expression.items)
      items.push_back(evaluate(*each));
    return Value::of(std::move(items));
  }
  case E::Object: {
    Members members;
    for (size_t index = 0; index + 1 < expression.items.size(); index += 2)
      members.emplace_back(item(index).str(), item(index + 1));
    return Value::of(std::move(members));
  }
  case E::Attribute:
    return member(item(0), Value::of(expression.text));
  case E::Index:
    return member(item(0), item(1));
  case E::Slice:
    return slice(expression);
  case E::Call:
    return call(expression);
  case E::Filter: {
    Value value = item(0);
    Arguments given = argumentsOf(expression, 1);
    offset = expression.offset;
    return error ? Value() : filter(expression.text, value, given);
  }
  case E::Test: {
    Value value = item(0);
    Arguments given = argumentsOf(expression, 1);
    offset = expression.offset;
    return Value::of(!error && test(expression.text, value, given));
  }
  case E::Not:
    return Value::of(!item(0).isTrue());
  case E::Negate: {
    Value value = item(0);
    std::optional<Value> result = arithmetic("-", Value::of(int64_t(0)), value);
    return result ? *result : fail("`-` is applied to what is no number");
  }
  case E::And: {
    Value value = item(0);
    return value.isTrue() ? item(1) : value;
  }
  case E::Or: {
    Value value = item(0);
    return value.isTrue() ? value : item(1);
  }
  case E::Binary:
    return binary(expression);
  case E::Choice:
    if (item(0).isTrue())
      return item(1);
    return expression.items[2] ? item(2) : Value();
  }
  llvm_unreachable("not a kind");
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

List Evaluator::elements(const Value &value) {
  List items;
  switch (value.kind) {
  case VK::List:
    return *value.list;
  case VK::Object:
    for (const auto &[key, each] : *value.members)
      items.push_back(Value::of(key));
    return items;
  case VK::String: {
    std::vector<size_t> offsets = characters(value.text);
    if (offsets.size() > mostItems) {
      fail("a value is too large");
      return items;
    }
    for (size_t at = 0; at + 1 < offsets.size(); ++at)
      items.push_back(Value::of(
          value.text.substr(offsets[at], offsets[at + 1] - offsets[at])));
    return items;
  }
  case VK::Undefined:
    return items;
  default:
    fail("a loop is over what has no elements");
    return items;
  }
}

void Evaluator::bind(const std::vector<std::string> &names,
                     const Value &value) {
  if (names.size() == 1) {
    scopes.back()[names.front()] = value;
    return;
  }
  if (!value.is(VK::List) || value.list->size() != names.size()) {
    fail("several names are given a value that does not have as many");
    return;
  }
  for (auto [name, each] : zip(names, *value.list))
    scopes.back()[name] = each;
}

Evaluator::Flow Evaluator::loop(const Statement &statement) {
  List items = elements(evaluate(*statement.value));
  if (statement.condition) {
    scopes.emplace_back();
    erase_if(items, [&](const Value &item) {
      bind(statement.names, item);
      return !evaluate(*statement.condition).isTrue();
    });
    scopes.pop_back();
  }
  if (items.empty() && !error)
    return runAll(statement.otherwise);
  for (size_t index = 0; index < items.size() && !isSpent(); ++index) {
    int64_t count = int64_t(items.size()), at = int64_t(index);
    scopes.emplace_back();
    bind(statement.names, items[index]);
    scopes.back()["loop"] = Value::of(
        Members{{"index", Value::of(at + 1)},
                {"index0", Value::of(at)},
                {"revindex", Value::of(count - at)},
                {"revindex0", Value::of(count - at - 1)},
                {"first", Value::of(at == 0)},
                {"last", Value::of(at + 1 == count)},
                {"length", Value::of(count)},
                {"previtem", at > 0 ? items[index - 1] : Value()},
                {"nextitem", at + 1 < count ? items[index + 1] : Value()}});
    Flow flow = runAll(statement.body);
    scopes.pop_back();
    if (flow == Flow::Break)
      break;
  }
  return Flow::Next;
}

void Evaluator::assign(const Statement &statement) {
  Value value;
  if (statement.value) {
    value = evaluate(*statement.value);
  } else {
    std::string before = std::move(out);
    out.clear();
    runAll(statement.body);
    value = Value::of(std::move(out));
    out = std::move(before);
  }
  if (statement.text.empty())
    return bind(statement.names, value);
  Value target = lookup(statement.names.front());
  offset = statement.offset;
  if (!target.isNamespace || value.holdsNamespace) {
    fail(!target.isNamespace
             ? "`" + statement.names.front() + "` is no namespace"
             : "a namespace is put into another");
    return;
  }
  for (auto &[key, member] : *target.members)
    if (key == statement.text) {
      member = value;
      return;
    }
  target.members->emplace_back(statement.text, value);
}

Evaluator::Flow Evaluator::runOne(const Statement &statement) {
  using S = Statement::Kind;
  offset = statement.offset;
  switch (statement.kind) {
  case S::Text:
    print(statement.text);
    return Flow::Next;
  case S::Output:
    print(evaluate(*statement.value).str());
    return Flow::Next;
  case S::If:
    return runAll(evaluate(*statement.value).isTrue() ? statement.body
                                                      : statement.otherwise);
  case S::For:
    return loop(statement);
  case S::Set:
    assign(statement);
    return Flow::Next;
  case S::Macro: {
    Value macro = Value::function(statement.text);
    macro.macro = &statement;
    scopes.back()[statement.text] = macro;
    return Flow::Next;
  }
  case S::Break:
    return Flow::Break;
  case S::Continue:
    return Flow::Continue;
  }
  llvm_unreachable("not a kind");
}

Evaluator::Flow Evaluator::runAll(const std::vector<Statement> &statements) {
  for (const Statement &statement : statements) {
    if (isSpent())
      break;
    if (Flow flow = runOne(statement); flow != Flow::Next)
      return flow;
  }
  return Flow::Next;
}

void Evaluator::run(const std::vector<Statement> &statements) {
  runAll(statements);
}

std::optional<std::string>
anec::jinja::run(const std::vector<Statement> &program, Members variables,
                 TemplateError &error) {
  Evaluator evaluator(std::move(variables), error);
  evaluator.run(program);
  if (error)
    return std::nullopt;
  return evaluator.take();
}
