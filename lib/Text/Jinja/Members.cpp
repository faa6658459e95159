//===- Members.cpp - attributes, items and slices -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Characters.h"
#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

/// The attributes of `loop`.
static std::optional<Value> loopMember(Evaluator &eval, Loop &loop,
                                       StringRef name) {
  if (name == "index0" || name == "index")
    return Value::of(loop.index0 + (name == "index"));
  if (name == "depth0" || name == "depth")
    return Value::of(loop.depth0 + (name == "depth"));
  if (name == "first")
    return Value::of(loop.index0 == 0);
  if (name == "last")
    return Value::of(!eval.peek(loop));
  if (name == "length")
    return Value::of(eval.lengthOf(loop));
  if (name == "revindex" || name == "revindex0")
    return Value::of(eval.lengthOf(loop) - loop.index0 - (name == "revindex0"));
  if (name == "previtem")
    return loop.index0 == 0 ? eval.undefined("there is no previous item")
                            : loop.previous;
  if (name == "nextitem") {
    std::optional<Value> ahead = eval.peek(loop);
    return ahead ? *ahead : eval.undefined("there is no next item");
  }
  return std::nullopt;
}

static std::optional<Value> macroMember(Evaluator &eval, const Callable &macro,
                                        StringRef name) {
  const Statement &body = *macro.body;
  if (name == "name")
    return macro.name.empty() ? Value::none() : eval.text(macro.name);
  if (name == "caller")
    return Value::of(body.usesCaller);
  if (name == "catch_kwargs")
    return Value::of(body.usesKwargs);
  if (name == "catch_varargs")
    return Value::of(body.usesVarargs);
  if (name != "arguments")
    return std::nullopt;
  List names;
  for (const std::string &parameter : body.names)
    names.push_back(eval.text(parameter));
  return eval.list(std::move(names), Sequence::Kind::Tuple);
}

/// Attributes that are no methods, as Python has them.
static std::optional<Value> attribute(Evaluator &eval, const Value &object,
                                      StringRef name,
                                      ArrayRef<const Statement *> blocks) {
  if (object.is(VK::Namespace)) {
    const Value *found = object.space().members->find(name);
    return found ? std::optional(*found) : std::nullopt;
  }
  if (object.is(VK::Loop))
    return loopMember(eval, object.loop(), name);
  if (object.isNumber()) {
    if (name == "real" || (name == "numerator" && object.isWhole()))
      return object.is(VK::Bool) ? Value::of(object.asInteger()) : object;
    if (name == "imag")
      return object.isWhole() ? Value::of(int64_t(0)) : Value::of(0.0);
    if (name == "denominator" && object.isWhole())
      return Value::of(int64_t(1));
    return std::nullopt;
  }
  if (object.is(VK::Sequence)) {
    const Sequence &sequence = object.sequence();
    if (sequence.kind == Sequence::Kind::Group &&
        (name == "grouper" || name == "list"))
      return sequence.items[name == "list"];
    if (sequence.kind != Sequence::Kind::Range)
      return std::nullopt;
    if (name == "start" || name == "stop" || name == "step")
      return Value::of(name == "start"  ? sequence.start
                       : name == "stop" ? sequence.stop
                                        : sequence.step);
    return std::nullopt;
  }
  if (!object.is(VK::Callable))
    return std::nullopt;
  Callable &function = object.callable();
  if (function.isMacro())
    return macroMember(eval, function, name);
  if (function.special == Callable::Special::Cycler && name == "current")
    return function.items[function.position];
  if (function.special != Callable::Special::Blocks)
    return std::nullopt;
  for (const Statement *block : blocks)
    if (block->text == name) {
      Ref<Callable> made(new Callable);
      made->body = block;
      made->name = block->text;
      made->scope = function.scope;
      return eval.callable(std::move(made));
    }
  return std::nullopt;
}

/// What a sandbox keeps from programs, because it would change a value.
static bool isUnsafe(const Value &object, StringRef name) {
  static constexpr StringLiteral ofLists[] = {"append",  "clear", "extend",
                                              "insert",  "pop",   "remove",
                                              "reverse", "sort"},
                                 ofDicts[] = {"clear", "pop", "popitem",
                                              "setdefault", "update"};
  return (object.isList() && is_contained(ofLists, name)) ||
         (object.is(VK::Dict) && is_contained(ofDicts, name));
}

static Value missing(Evaluator &eval, const Value &object, StringRef name) {
  if (isUnsafe(object, name))
    return eval.undefined("`." + name + "`: templates do not change a " +
                          object.typeName());
  return eval.undefined("a " + object.typeName() + " has no `" + name + "`");
}

static std::optional<Value> methodOf(Evaluator &eval, const Value &object,
                                     StringRef name) {
  const CallRow *row = findMethod(object, name);
  if (!row)
    return std::nullopt;
  Ref<Callable> made(new Callable);
  made->row = row;
  made->self = object;
  return eval.callable(std::move(made));
}

Value Evaluator::member(const Value &object, StringRef name) {
  if (failUndefined(object))
    return {};
  if (std::optional<Value> method = methodOf(*this, object, name))
    return *method;
  if (std::optional<Value> found = attribute(*this, object, name, blocks)) {
    if (found->is(VK::Callable) && found->callable().body &&
        !found->callable().scope)
      found->callable().scope = top;
    return *found;
  }
  if (object.is(VK::Dict) && !isUnsafe(object, name))
    if (const Value *found = object.dict().find(name))
      return *found;
  return missing(*this, object, name);
}

Value Evaluator::item(const Value &object, const Value &key) {
  if (failUndefined(object))
    return {};
  if (object.is(VK::Dict) && spend(workOf(key)))
    if (const Value *found = object.dict().find(key))
      return *found;
  bool isIndex = key.isInteger();
  if (isIndex && (object.is(VK::Sequence) || object.isText())) {
    const Sequence *sequence =
        object.is(VK::Sequence) ? &object.sequence() : nullptr;
    using SK = Sequence::Kind;
    bool hasItems = !sequence || (sequence->kind != SK::Keys &&
                                  sequence->kind != SK::Values &&
                                  sequence->kind != SK::Items);
    int64_t size = hasItems ? length(object).value_or(0) : 0;
    int64_t at = key.asInteger();
    if (at < 0)
      at += size;
    if (at >= 0 && at < size) {
      if (sequence)
        return sequence->items[size_t(at)];
      StringRef rest =
          object.text().drop_front(offsetOf(object.text(), size_t(at)));
      return text(rest.take_front(hf::characterSize(rest)).str(),
                  object.isMarkup());
    }
  }
  if (key.isText()) {
    // An attribute, though not an item, as the first was looked for.
    if (std::optional<Value> method = methodOf(*this, object, key.text()))
      return *method;
    if (std::optional<Value> found =
            attribute(*this, object, key.text(), blocks))
      return *found;
    return missing(*this, object, key.text());
  }
  return undefined("a " + object.typeName() + " has no element " + repr(key));
}

Value Evaluator::path(const Value &object, const Value &attribute,
                      const Value *fallback) {
  auto get = [&](const Value &of, const Value &key) {
    Value found = item(of, key);
    return found.isUndefined() && fallback && !fallback->isNone() ? *fallback
                                                                  : found;
  };
  if (attribute.isNone())
    return object;
  if (!attribute.isText())
    return get(object, attribute);
  Value at = object;
  StringRef rest = attribute.text();
  bool goesOn = true;
  while (goesOn && !failed()) {
    auto [part, others] = rest.split('.');
    goesOn = part.size() < rest.size();
    rest = others;
    int64_t index = 0;
    bool isIndex =
        hasProperty(part, Property::Digit) && !part.getAsInteger(10, index);
    at = get(at, isIndex ? Value::of(index) : text(part.str()));
  }
  return at;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Of a constant, jinja2 takes an item by the key that a slice is, and that is
/// undefined.
Value Evaluator::failSlice(const Value &culprit, const Twine &text) {
  if (isFolding)
    return undefined(text);
  return failUndefined(culprit) ? Value() : fail(text);
}

Value Evaluator::slice(const Value &object, const Value &begin,
                       const Value &end, const Value &step) {
  if (failUndefined(object))
    return {};
  using SK = Sequence::Kind;
  bool isSequence =
      object.isList() || object.isTuple() ||
      (object.is(VK::Sequence) && object.sequence().kind == SK::Range);
  if (!isSequence && !object.isText())
    return failSlice(object, "a " + object.typeName() + " has no slices");
  for (const Value *bound : {&begin, &end, &step})
    if (!bound->isNone() && !bound->isWhole())
      return failSlice(*bound, "a slice takes integers, and there is a " +
                                   bound->typeName());
  int64_t size = length(object).value_or(0);
  auto clipped = [](const Value &bound) {
    return !bound.isBig()               ? bound.asInteger()
           : bound.asWhole().isNegative ? INT64_MIN
                                        : INT64_MAX;
  };
  int64_t by = step.isNone() ? 1 : clipped(step);
  if (by == 0)
    return fail("the step of a slice is 0");
  by = std::clamp<int64_t>(by, -size - 1, size + 1);
  int64_t least = by > 0 ? 0 : -1, most = by > 0 ? size : size - 1;
  auto clip = [&](const Value &bound, int64_t other) {
    if (bound.isNone())
      return other;
    int64_t at = clipped(bound);
    return std::clamp(at < 0 ? std::max<int64_t>(at, -size - 1) + size : at,
                      least, most);
  };
  int64_t from = clip(begin, by > 0 ? least : most),
          to = clip(end, by > 0 ? most : least);
  auto each = [&](auto take) {
    for (int64_t at = from; by > 0 ? at < to : at > to; at += by)
      take(size_t(at));
  };
  if (isSequence) {
    const Sequence &sequence = object.sequence();
    if (sequence.kind == SK::Range)
      return range(sequence.start + from * sequence.step,
                   sequence.start + to * sequence.step, sequence.step * by);
    List items;
    each([&](size_t at) { items.push_back(sequence.items[at]); });
    return list(std::move(items),
                sequence.kind == SK::List ? SK::List : SK::Tuple);
  }
  StringRef bytes = object.text();
  if (!spendOn(bytes))
    return {};
  if (by == 1) {
    size_t first = offsetOf(bytes, size_t(from));
    StringRef rest = bytes.drop_front(first);
    size_t count = size_t(std::max<int64_t>(to - from, 0));
    return text(rest.take_front(offsetOf(rest, count)).str(),
                object.isMarkup());
  }
  std::u32string characters = decoded(bytes), taken;
  each([&](size_t at) { taken += characters[at]; });
  return text(encoded(taken), object.isMarkup());
}
