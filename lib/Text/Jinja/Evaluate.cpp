//===- Evaluate.cpp - the values of expressions ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Characters.h"
#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;
using E = Expression::Kind;

Value Evaluator::lookup(StringRef name) {
  for (Scope *each = scope.get(); each; each = each->outer.get())
    if (Value *value = each->find(name))
      return *value;
  if (const CallRow *row = findGlobal(name)) {
    Ref<Callable> made(new Callable);
    made->row = row;
    return callable(std::move(made));
  }
  if (name == "self" && !blocks.empty()) {
    Ref<Callable> made(new Callable);
    made->special = Callable::Special::Blocks;
    return callable(std::move(made));
  }
  return undefined("`" + name + "` is undefined");
}

bool Evaluator::canFold(const Expression &expression) {
  switch (expression.kind) {
  case E::Name:
  case E::Member:
  case E::Call:
    return false;
  case E::Filter: // Those of items use the variables.
    return expression.items[0] && none_of(itemFilters(), [&](const auto &row) {
             return row.name == expression.text;
           });
  default:
    return true;
  }
}

Value Evaluator::evaluate(const Expression &expression) {
  if (expression.kind == E::Literal)
    return expression.literal;
  if (isFolding && !canFold(expression))
    return fail("this is not constant");
  if (expression.kind == E::Name && spend(1))
    return lookup(expression.text);
  ++depth;
  line = expression.line;
  if (depth > mostDepth)
    fail("calls are in each other too deeply");
  Value value = spend(1) ? evaluateParts(expression) : Value();
  --depth;
  return failed() ? Value() : value;
}

Value Evaluator::literalOf(const Expression &expression) {
  if (expression.kind == E::Dict) {
    Ref<Dict> made(new Dict);
    for (size_t at = 0; at + 1 < expression.items.size() && !failed();
         at += 2) {
      Value key = evaluate(*expression.items[at]);
      Value value = evaluate(*expression.items[at + 1]);
      if (!isHashable(key))
        return fail("a " + key.typeName() + " cannot be a key");
      made->set(std::move(key), std::move(value));
    }
    return dict(std::move(made));
  }
  List items;
  items.reserve(expression.items.size());
  for (const ExpressionPtr &item : expression.items)
    items.push_back(item->kind == E::Slice ? Value() : evaluate(*item));
  return list(std::move(items), expression.kind == E::List
                                    ? Sequence::Kind::List
                                    : Sequence::Kind::Tuple);
}

Value Evaluator::subscript(const Expression &expression) {
  Value object = evaluate(*expression.items[0]);
  const Expression &key = *expression.items[1];
  if (key.kind != E::Slice) {
    Value index = evaluate(key);
    line = expression.line;
    return failed() ? Value() : item(object, index);
  }
  auto bound = [&](size_t at) {
    return key.items[at] ? evaluate(*key.items[at]) : Value::none();
  };
  Value begin = bound(0), end = bound(1), step = bound(2);
  line = expression.line;
  return failed() ? Value() : slice(object, begin, end, step);
}

Value Evaluator::compareAll(const Expression &expression) {
  Value lhs = evaluate(*expression.items[0]);
  for (auto [index, op] : enumerate(expression.ops)) {
    Value rhs = evaluate(*expression.items[index + 1]);
    line = expression.line;
    if (failed() || !compare(op, lhs, rhs))
      return Value::of(false);
    lhs = std::move(rhs);
  }
  return Value::of(true);
}

bool Evaluator::arguments(const Expression &call, Arguments &made) {
  for (const ExpressionPtr &item : drop_begin(call.items))
    made.items.push_back(evaluate(*item));
  for (const auto &[name, value] : call.named)
    made.named.emplace_back(name, evaluate(*value));
  if (call.moreItems) {
    Value more = evaluate(*call.moreItems);
    if (!failed())
      append_range(made.items, items(more));
  }
  if (call.moreNamed) {
    Value more = evaluate(*call.moreNamed);
    if (!failed() && !more.is(VK::Dict))
      fail("what is behind `**` is a " + more.typeName() + ", and no dict");
    if (failed())
      return false;
    for (const auto &[key, value] : more.dict().entries) {
      if (!key.isText()) {
        fail("names of arguments must be texts");
        return false;
      }
      if (any_of(made.named, [&, &name = key](const auto &each) {
            return each.first == name.text();
          })) {
        fail("the argument `" + key.text() + "` is given twice");
        return false;
      }
      made.named.emplace_back(key.text().str(), value);
    }
  }
  return !failed();
}

Value Evaluator::callExpression(const Expression &expression,
                                const Value *caller) {
  const Expression &callee = *expression.items[0];
  Value object, function;
  const CallRow *row = nullptr;
  if (callee.kind == E::Attribute) {
    object = evaluate(*callee.items[0]);
    if (failed())
      return {};
    row = findMethod(object, callee.text);
    line = callee.line;
    if (!row)
      function = member(object, callee.text);
  } else {
    function = evaluate(callee);
  }
  Arguments given;
  if (failed() || !arguments(expression, given))
    return {};
  if (caller)
    given.named.emplace_back("caller", *caller);
  line = expression.line;
  if (!row)
    return call(function, std::move(given));
  return callRow(*row, std::move(object), std::move(given));
}

Value Evaluator::call(const Value &callee, Arguments given) {
  if (failUndefined(callee))
    return {};
  if (callee.is(VK::Loop)) {
    if (given.items.size() != 1)
      return fail("`loop` takes one argument");
    return callLoop(callee.loop(), given.items.front());
  }
  if (!callee.is(VK::Callable))
    return fail("a " + callee.typeName() + " is not a function");
  Callable &function = callee.callable();
  if (function.special == Callable::Special::Joiner)
    return function.position++ ? function.items.front() : text("");
  if (function.row)
    return callRow(*function.row, function.self, std::move(given));
  if (!function.body)
    return fail("this is not a function");
  return callMacro(function, std::move(given));
}

Value Evaluator::filter(StringRef name, const Value &value, Arguments given) {
  const CallRow *row = findFilter(name);
  return row ? callRow(*row, value, std::move(given))
             : fail("there is no filter `" + name + "`");
}

bool Evaluator::test(StringRef name, const Value &value, Arguments given) {
  const CallRow *row = findTest(name);
  if (!row)
    fail("there is no test `is " + name + "`");
  return row && callRow(*row, value, std::move(given)).isTrue();
}

/// The chain of filters in a block begins with `value`.
Value Evaluator::filterExpression(const Expression &expression,
                                  const Value *value) {
  Value input;
  if (expression.items[0])
    input = expression.items[0]->kind == E::Filter && value
                ? filterExpression(*expression.items[0], value)
                : evaluate(*expression.items[0]);
  else if (value)
    input = *value;
  Arguments given;
  if (failed() || !arguments(expression, given))
    return {};
  line = expression.line;
  return filter(expression.text, input, std::move(given));
}

Value Evaluator::negative(const Value &value, bool negates) {
  if (failUndefined(value))
    return {};
  if (value.is(VK::Float))
    return negates ? Value::of(-value.asNumber()) : value;
  if (!value.isWhole())
    return fail("a " + value.typeName() + " has no sign");
  return integer(negates ? -value.asWhole() : value.asWhole());
}

Value Evaluator::evaluateParts(const Expression &expression) {
  auto part = [&](size_t index) { return evaluate(*expression.items[index]); };
  switch (expression.kind) {
  case E::Literal:
    return expression.literal;
  case E::NotFinite:
    return fail("a constant is inf or nan, which jinja2 has no name for");
  case E::Name:
  case E::Member:
    return lookup(expression.text);
  case E::List:
  case E::Tuple:
  case E::Dict:
    return literalOf(expression);
  case E::Attribute: {
    Value object = part(0);
    line = expression.line;
    return failed() ? Value() : member(object, expression.text);
  }
  case E::Index:
    return subscript(expression);
  case E::Slice:
    return fail("a slice is not a value");
  case E::Call:
    return callExpression(expression, nullptr);
  case E::Filter:
    return filterExpression(expression, nullptr);
  case E::Test: {
    Value value = part(0);
    Arguments given;
    if (failed() || !arguments(expression, given))
      return {};
    line = expression.line;
    return Value::of(test(expression.text, value, std::move(given)));
  }
  case E::Not:
    return Value::of(!part(0).isTrue());
  case E::Negative:
  case E::Positive:
    return negative(part(0), expression.kind == E::Negative);
  case E::And:
  case E::Or: {
    Value value = part(0);
    return value.isTrue() == (expression.kind == E::And) ? part(1) : value;
  }
  case E::Binary: {
    Value lhs = part(0), rhs = part(1);
    line = expression.line;
    return failed() ? Value() : binary(expression.op, lhs, rhs);
  }
  case E::Concat: {
    TextBuilder made(*this);
    for (const ExpressionPtr &item : expression.items)
      made += str(evaluate(*item));
    return text(made.take());
  }
  case E::Compare:
    return compareAll(expression);
  case E::Choice:
    if (part(0).isTrue())
      return part(1);
    if (expression.items[2])
      return part(2);
    return isFolding ? fail("this is not constant")
                     : undefined("the inline `if` is false, and has no `else`");
  }
  llvm_unreachable("not a kind");
}

//===----------------------------------------------------------------------===//
// Iteration
//===----------------------------------------------------------------------===//

Ref<Iterator> Evaluator::iterate(const Value &value) {
  if (value.is(VK::Iterator))
    return Ref<Iterator>(&value.iterator());
  Ref<Iterator> made(new Iterator);
  if (value.isText() || value.is(VK::Sequence) || value.is(VK::Dict)) {
    made->source = value;
  } else if (!value.isUndefined()) {
    fail("a " + value.typeName() + " has no items");
    return nullptr;
  }
  return made;
}

std::optional<Value> Evaluator::next(Iterator &items) {
  if (items.ahead) {
    std::optional<Value> item = std::move(items.ahead);
    items.ahead.reset();
    return item;
  }
  const Value &source = items.source;
  while (spend(1)) {
    std::optional<Value> item;
    size_t size = source.is(VK::Sequence) ? source.sequence().items.size()
                  : source.is(VK::Dict)   ? source.dict().entries.size()
                                          : 0;
    if (source.is(VK::Iterator)) {
      item = next(source.iterator());
    } else if (source.isText()) {
      StringRef rest = source.text().drop_front(items.position);
      if (!rest.empty()) {
        size_t length = hf::characterSize(rest);
        item = text(rest.take_front(length).str());
        items.position += length;
      }
    } else if (items.position < size) {
      size_t at = items.isReversed ? size - 1 - items.position : items.position;
      item = source.is(VK::Sequence) ? source.sequence().items[at]
                                     : source.dict().entries[at].first;
      ++items.position;
    }
    if (failed())
      return std::nullopt;
    if (!item && items.rest) {
      auto rest = std::move(items.rest);
      items.rest = nullptr;
      return rest(*this);
    }
    if (!item || !items.step)
      return item;
    if (std::optional<Value> made = items.step(*this, *item))
      return failed() ? std::nullopt : made;
  }
  return std::nullopt;
}

List Evaluator::items(const Value &value) {
  List made;
  if (value.is(VK::Sequence)) {
    size_t size = value.sequence().items.size();
    if (!spend(size / 4) || !reserve(size * sizeof(Value)))
      return {};
    return value.sequence().items;
  }
  Ref<Iterator> all = iterate(value);
  while (all && !failed()) {
    std::optional<Value> item = next(*all);
    if (!item || !reserve(made.size() * sizeof(Value)))
      break;
    made.push_back(std::move(*item));
  }
  return made;
}

std::optional<int64_t> Evaluator::length(const Value &value) {
  switch (value.kind()) {
  case VK::Undefined:
    return 0;
  case VK::Text:
    spendOn(value.text());
    return int64_t(countCharacters(value.text()));
  case VK::Sequence:
    return int64_t(value.sequence().items.size());
  case VK::Dict:
    return int64_t(value.dict().entries.size());
  case VK::Loop:
    return lengthOf(value.loop());
  default:
    fail("a " + value.typeName() + " has no length");
    return std::nullopt;
  }
}
