//===- Calls.cpp - functions, filters, tests and methods of templates -----===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

const Value *Arguments::get(size_t index, StringRef name) const {
  if (index < items.size())
    return &items[index];
  for (const auto &[key, value] : named)
    if (!name.empty() && key == name)
      return &value;
  return nullptr;
}

std::string Arguments::text(size_t index, StringRef fallback) const {
  const Value *value = get(index);
  return value ? value->str() : fallback.str();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool Evaluator::isFunction(StringRef name) {
  return name == "raise_exception" || name == "range" || name == "namespace" ||
         name == "dict";
}

Value Evaluator::function(StringRef name, const Arguments &given) {
  if (name == "raise_exception") {
    fail(given.text(0, "an exception"));
    error.isRaised = true;
    return {};
  }
  if (name == "namespace" || name == "dict") {
    Value made = Value::of(given.named);
    made.isNamespace = name == "namespace";
    made.holdsNamespace |= made.isNamespace;
    return made;
  }
  static constexpr int64_t longestRange = 1'000'000'000'000;
  int64_t bounds[3] = {0, 0, 1};
  for (size_t index = 0; index < std::min<size_t>(given.items.size(), 3);
       ++index)
    bounds[index] = std::clamp<int64_t>(given.items[index].integer,
                                        -longestRange, longestRange);
  if (given.items.size() == 1)
    std::swap(bounds[0], bounds[1]);
  if (bounds[2] == 0)
    return fail("the step of a range is 0");
  List items;
  for (int64_t at = bounds[0]; bounds[2] > 0 ? at < bounds[1] : at > bounds[1];
       at += bounds[2]) {
    if (isSpent() || items.size() > mostItems)
      break;
    items.push_back(Value::of(at));
  }
  return Value::of(std::move(items));
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

bool Evaluator::test(StringRef name, const Value &value,
                     const Arguments &given) {
  const Value *other = given.get(0);
  bool isSequence =
      value.isString() || value.is(VK::List) || value.is(VK::Object);
  const std::pair<StringLiteral, bool> simple[] = {
      {"defined", !value.is(VK::Undefined)},
      {"undefined", value.is(VK::Undefined)},
      {"none", value.is(VK::None)},
      {"boolean", value.is(VK::Bool)},
      {"true", value.is(VK::Bool) && value.integer},
      {"false", value.is(VK::Bool) && !value.integer},
      {"integer", value.is(VK::Integer)},
      {"float", value.is(VK::Number)},
      {"number", value.isNumber()},
      {"string", value.isString()},
      {"mapping", value.is(VK::Object)},
      {"sequence", isSequence},
      {"iterable", isSequence},
      {"callable", value.is(VK::Function)},
      {"lower",
       value.isString() && StringRef(value.text).lower() == value.text},
      {"upper",
       value.isString() && StringRef(value.text).upper() == value.text},
      {"odd", value.isInteger() && value.integer % 2 != 0},
      {"even", value.isInteger() && value.integer % 2 == 0}};
  for (const auto &[known, holds] : simple)
    if (name == known)
      return holds;
  if (other && (name == "equalto" || name == "eq" || name == "sameas"))
    return value.equals(*other);
  if (other && name == "ne")
    return !value.equals(*other);
  if (other && name == "in")
    return contains(*other, value);
  if (other && name == "divisibleby" && value.isInteger() &&
      other->isInteger() && other->integer > 0)
    return value.integer % other->integer == 0;
  fail("`is " + name + "` is no test that anec knows");
  return false;
}

//===----------------------------------------------------------------------===//
// Filters
//===----------------------------------------------------------------------===//

static std::string titled(StringRef text, bool firstAlone) {
  std::string out;
  bool begins = true;
  for (char c : text) {
    out += char(begins ? toUpper(c) : toLower(c));
    begins = !firstAlone && !isAlnum(c);
  }
  return out;
}

static std::string replaced(StringRef text, StringRef from, StringRef to,
                            int64_t most) {
  std::string out;
  while (most != 0 && !from.empty() && out.size() <= mostText) {
    size_t at = text.find(from);
    if (at == StringRef::npos)
      break;
    out += text.take_front(at).str() + to.str();
    text = text.drop_front(at + from.size());
    --most;
  }
  return out + text.str();
}

/// Filters that look at each element: selectattr, rejectattr, select, reject
/// and map.
Value Evaluator::filterItems(StringRef name, const Value &value,
                             const Arguments &given) {
  List out;
  bool ofMember = name == "selectattr" || name == "rejectattr",
       selects = name == "select" || name == "selectattr";
  for (const Value &item : elements(value)) {
    if (error)
      break;
    if (name == "map") {
      if (const Value *attribute = given.get(~size_t(0), "attribute")) {
        out.push_back(member(item, *attribute));
      } else {
        Arguments rest;
        if (given.items.size() > 1)
          rest.items.assign(given.items.begin() + 1, given.items.end());
        out.push_back(filter(given.text(0), item, rest));
      }
      continue;
    }
    Value tested = ofMember ? member(item, Value::of(given.text(0))) : item;
    size_t first = ofMember ? 1 : 0;
    bool holds = tested.isTrue();
    if (given.items.size() > first) {
      Arguments rest;
      rest.items.assign(given.items.begin() + long(first) + 1,
                        given.items.end());
      holds = test(given.text(first), tested, rest);
    }
    if (holds == selects)
      out.push_back(item);
  }
  return Value::of(std::move(out));
}

Value Evaluator::filter(StringRef name, const Value &value,
                        const Arguments &given) {
  if (name == "default" || name == "d") {
    const Value *also = given.get(1, "boolean");
    bool isMissing =
        value.is(VK::Undefined) || (also && also->isTrue() && !value.isTrue());
    const Value *other = given.get(0);
    return !isMissing ? value : other ? *other : Value::of(std::string());
  }
  if (name == "selectattr" || name == "rejectattr" || name == "select" ||
      name == "reject" || name == "map")
    return filterItems(name, value, given);
  if (name == "tojson") {
    const Value *indent = given.get(1, "indent");
    int64_t width = indent && indent->isInteger() ? indent->integer : 0;
    return Value::of(value.json(unsigned(std::clamp<int64_t>(width, 0, 16))));
  }
  if (name == "length" || name == "count")
    return Value::of(value.isString()
                         ? int64_t(characters(value.text).size()) - 1
                         : int64_t(elements(value).size()));
  if (name == "list")
    return Value::of(elements(value));
  if (name == "first" || name == "last") {
    List items = elements(value);
    if (items.empty())
      return {};
    return name == "first" ? items.front() : items.back();
  }
  if (name == "reverse") {
    List items = elements(value);
    std::reverse(items.begin(), items.end());
    if (!value.isString())
      return Value::of(std::move(items));
    std::string text;
    for (const Value &character : items)
      text += character.text;
    return Value::of(text);
  }
  if (name == "join") {
    std::string separator = given.text(0), out;
    const Value *attribute = given.get(1, "attribute");
    for (auto [index, item] : enumerate(elements(value)))
      if (out.size() <= mostText)
        out += (index ? separator : "") +
               (attribute ? member(item, *attribute) : item).str();
    return Value::of(out);
  }
  if (name == "items")
    return method(value, "items", {});
  if (name == "int" || name == "float") {
    double number = value.asNumber();
    if (value.isString() && StringRef(value.text).trim().getAsDouble(number))
      number = 0;
    if (name == "float" || !(std::abs(number) >= 0))
      return Value::of(number);
    return Value::of(int64_t(std::clamp(number, -9e15, 9e15)));
  }
  if (name == "abs" && value.isInteger())
    return Value::of(std::abs(value.integer));
  std::string text = value.str();
  if (name == "string" || name == "safe")
    return Value::of(text);
  if (name == "trim")
    return Value::of(strip(text, true, true, given.text(0)).str());
  if (name == "indent") {
    const Value *width = given.get(0, "width");
    std::string spaces(
        size_t(std::clamp<int64_t>(width ? width->integer : 4, 0, 64)), ' ');
    return Value::of(replaced(text, "\n", "\n" + spaces, -1));
  }
  if (name == "upper" || name == "lower" || name == "title" ||
      name == "capitalize" || name == "replace")
    return method(Value::of(text), name, given);
  return fail("`| " + name + "` is no filter that anec knows");
}

//===----------------------------------------------------------------------===//
// Methods
//===----------------------------------------------------------------------===//

static List splitAt(StringRef text, const Value *separator, int64_t most) {
  List parts;
  if (separator && separator->isString() && !separator->text.empty()) {
    while (most-- != 0 && parts.size() <= mostItems) {
      size_t at = text.find(separator->text);
      if (at == StringRef::npos)
        break;
      parts.push_back(Value::of(text.take_front(at).str()));
      text = text.drop_front(at + separator->text.size());
    }
    parts.push_back(Value::of(text.str()));
    return parts;
  }
  text = strip(text, true, true);
  while (!text.empty() && parts.size() <= mostItems) {
    size_t end =
        most-- == 0 ? StringRef::npos : text.find_first_of(" \t\n\r\f\v");
    parts.push_back(Value::of(text.take_front(end).str()));
    text = strip(text.drop_front(std::min(end, text.size())), true, false);
  }
  return parts;
}

static bool hasEnd(StringRef text, const Value *end, bool atStart) {
  if (!end)
    return false;
  if (end->is(VK::List))
    return any_of(*end->list, [&](const Value &each) {
      return hasEnd(text, &each, atStart);
    });
  return end->isString() &&
         (atStart ? text.starts_with(end->text) : text.ends_with(end->text));
}

Value Evaluator::textMethod(const Value &object, StringRef name,
                            const Arguments &given) {
  StringRef text = object.text;
  if (name == "strip" || name == "lstrip" || name == "rstrip")
    return Value::of(strip(text, name != "rstrip", name != "lstrip",
                           given.get(0) && given.get(0)->isString()
                               ? StringRef(given.get(0)->text)
                               : StringRef())
                         .str());
  if (name == "split") {
    const Value *most = given.get(1, "maxsplit");
    return Value::of(
        splitAt(text, given.get(0, "sep"), most ? most->integer : -1));
  }
  if (name == "splitlines") {
    List lines;
    while (!text.empty() && lines.size() <= mostItems) {
      auto [line, rest] = text.split('\n');
      lines.push_back(Value::of(line.rtrim('\r').str()));
      text = rest;
    }
    return Value::of(std::move(lines));
  }
  if (name == "startswith" || name == "endswith")
    return Value::of(hasEnd(text, given.get(0), name == "startswith"));
  if (name == "replace") {
    const Value *most = given.get(2, "count");
    return Value::of(replaced(text, given.text(0), given.text(1),
                              most ? most->integer : -1));
  }
  bool hasCase = name == "upper" || name == "lower" || name == "title" ||
                 name == "capitalize";
  if (hasCase && !isASCII(text))
    return fail("`" + name + "` of other letters than ASCII's is not known");
  if (name == "upper")
    return Value::of(text.upper());
  if (name == "lower")
    return Value::of(text.lower());
  if (name == "title" || name == "capitalize")
    return Value::of(titled(text, name == "capitalize"));
  if (name == "find" || name == "count") {
    std::string part = given.text(0);
    if (name == "count")
      return Value::of(int64_t(part.empty() ? 0 : text.count(part)));
    size_t at = text.find(part);
    if (at == StringRef::npos)
      return Value::of(int64_t(-1));
    return Value::of(int64_t(characters(text.take_front(at)).size()) - 1);
  }
  if (name == "join")
    return filter("join", given.get(0) ? *given.get(0) : Value(),
                  {{object}, {}});
  return fail("`" + name + "` is no method of texts that anec knows");
}

Value Evaluator::method(const Value &object, StringRef name,
                        const Arguments &given) {
  if (object.isString())
    return textMethod(object, name, given);
  if (object.is(VK::Object)) {
    if (name == "get") {
      const Value *found = object.find(given.text(0));
      const Value *other = given.get(1, "default");
      return found ? *found : other ? *other : Value::none();
    }
    List items;
    for (const auto &[key, value] : *object.members)
      items.push_back(name == "keys" ? Value::of(key)
                      : name == "values"
                          ? value
                          : Value::of(List{Value::of(key), value}));
    if (name == "keys" || name == "values" || name == "items")
      return Value::of(std::move(items));
    // A macro, or a function, that a member holds.
    if (const Value *held = object.find(name); held && held->macro)
      return callMacro(*held->macro, given);
  }
  return fail("`" + name + "` is no method that anec knows");
}
