//===- Value.cpp - values of template programs ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec::jinja;
using namespace llvm;

/// Notes what is inside of a list or an object.
static void note(Value &outer, const Value &inner) {
  outer.depth = std::max(outer.depth, inner.depth + 1);
  outer.holdsNamespace |= inner.holdsNamespace;
}

Value Value::of(List items) {
  Value value{.kind = Kind::List};
  for (const Value &item : items)
    note(value, item);
  value.list = std::make_shared<List>(std::move(items));
  return value;
}

Value Value::of(Members members) {
  Value value{.kind = Kind::Object};
  for (const auto &[key, member] : members)
    note(value, member);
  value.members = std::make_shared<Members>(std::move(members));
  return value;
}

bool Value::isTrue() const {
  switch (kind) {
  case Kind::Undefined:
  case Kind::None:
    return false;
  case Kind::Bool:
  case Kind::Integer:
    return integer != 0;
  case Kind::Number:
    return number != 0;
  case Kind::String:
    return !text.empty();
  case Kind::List:
    return !list->empty();
  case Kind::Object:
    return !members->empty();
  case Kind::Function:
    return true;
  }
  llvm_unreachable("not a kind");
}

/// Equality of at most `budget` pairs of values: lists can be in each other
/// many times.
static bool areEqual(const Value &lhs, const Value &rhs, size_t &budget) {
  using Kind = Value::Kind;
  if (budget == 0)
    return false;
  --budget;
  if (lhs.isNumber() && rhs.isNumber())
    return lhs.asNumber() == rhs.asNumber();
  if (lhs.kind != rhs.kind)
    return false;
  if (lhs.isString() || lhs.is(Kind::Function))
    return lhs.text == rhs.text;
  if (lhs.isNamespace || rhs.isNamespace)
    return lhs.members == rhs.members;
  if (lhs.is(Kind::List))
    return lhs.list == rhs.list ||
           std::equal(lhs.list->begin(), lhs.list->end(), rhs.list->begin(),
                      rhs.list->end(), [&](const Value &x, const Value &y) {
                        return areEqual(x, y, budget);
                      });
  if (lhs.is(Kind::Object))
    return lhs.members == rhs.members ||
           (lhs.members->size() == rhs.members->size() &&
            all_of(*lhs.members, [&](const auto &member) {
              const Value *same = rhs.find(member.first);
              return same && areEqual(member.second, *same, budget);
            }));
  return true;
}

bool Value::equals(const Value &other) const {
  size_t budget = mostItems;
  return areEqual(*this, other, budget);
}

const Value *Value::find(StringRef name) const {
  if (members)
    for (const auto &[key, value] : *members)
      if (key == name)
        return &value;
  return nullptr;
}

static std::string spellNumber(double number) {
  std::string text;
  if (std::abs(number) < 1e16 && number == std::floor(number))
    return std::to_string(int64_t(number)) + ".0";
  for (int digits = 1; digits <= 17; ++digits) {
    char buffer[64];
    snprintf(buffer, sizeof buffer, "%.*g", digits, number);
    text = buffer;
    if (std::strtod(text.c_str(), nullptr) == number)
      break;
  }
  if (std::isfinite(number) && text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

static void appendRepr(StringRef text, std::string &out) {
  char quote = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  out += quote;
  for (char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\\' || c == quote)
      out += {'\\', c};
    else
      out += c;
  }
  out += quote;
}

/// `isInner`: texts have quotes.
static void append(const Value &value, bool isInner, std::string &out) {
  using Kind = Value::Kind;
  if (out.size() > mostText)
    return;
  StringRef comma = "";
  switch (value.kind) {
  case Kind::Undefined:
  case Kind::Function:
    return;
  case Kind::None:
    out += "None";
    return;
  case Kind::Bool:
    out += value.integer ? "True" : "False";
    return;
  case Kind::Integer:
    out += std::to_string(value.integer);
    return;
  case Kind::Number:
    out += spellNumber(value.number);
    return;
  case Kind::String:
    if (isInner)
      appendRepr(value.text, out);
    else
      out += value.text;
    return;
  case Kind::List:
    out += '[';
    for (const Value &item : *value.list) {
      out += comma;
      append(item, true, out);
      comma = ", ";
    }
    out += ']';
    return;
  case Kind::Object:
    if (value.isNamespace) {
      out += "<Namespace>";
      return;
    }
    out += '{';
    for (const auto &[key, member] : *value.members) {
      out += comma;
      appendRepr(key, out);
      out += ": ";
      append(member, true, out);
      comma = ", ";
    }
    out += '}';
    return;
  }
  llvm_unreachable("not a kind");
}

std::string Value::str() const {
  std::string out;
  append(*this, false, out);
  return out;
}

static void appendQuoted(StringRef text, std::string &out) {
  raw_string_ostream(out) << json::Value(json::fixUTF8(text));
}

static void appendJson(const Value &value, unsigned indent, unsigned depth,
                       std::string &out) {
  using Kind = Value::Kind;
  if (out.size() > mostText)
    return;
  std::string begin, end, comma = ", ";
  if (indent) {
    begin = "\n" + std::string(indent * (depth + 1), ' ');
    end = "\n" + std::string(indent * depth, ' ');
    comma = "," + begin;
  }
  bool isFirst = true;
  auto separate = [&] {
    out += isFirst ? begin : comma;
    isFirst = false;
  };
  switch (value.kind) {
  case Kind::Bool:
    out += value.integer ? "true" : "false";
    return;
  case Kind::String:
    return appendQuoted(value.text, out);
  case Kind::Integer:
  case Kind::Number:
    out += value.str();
    return;
  case Kind::List:
    out += '[';
    for (const Value &item : *value.list) {
      separate();
      appendJson(item, indent, depth + 1, out);
    }
    out += (isFirst ? "" : end) + "]";
    return;
  case Kind::Object:
    if (value.isNamespace)
      break;
    out += '{';
    for (const auto &[key, member] : *value.members) {
      separate();
      appendQuoted(key, out);
      out += ": ";
      appendJson(member, indent, depth + 1, out);
    }
    out += (isFirst ? "" : end) + "}";
    return;
  default:
    break;
  }
  out += "null";
}

std::string Value::json(unsigned indent) const {
  std::string out;
  appendJson(*this, indent, 0, out);
  return out;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

static bool startsCharacter(char c) { return (uint8_t(c) & 0xc0) != 0x80; }

std::vector<size_t> anec::jinja::characters(StringRef text) {
  std::vector<size_t> offsets;
  for (size_t at = 0; at < text.size(); ++at)
    if (startsCharacter(text[at]))
      offsets.push_back(at);
  offsets.push_back(text.size());
  return offsets;
}

/// Unicode's white space, and the separators that Python counts to it.
static bool isSpace(StringRef character) {
  if (character.size() == 1)
    return StringRef(" \t\n\v\f\r\x1c\x1d\x1e\x1f").contains(character);
  static constexpr StringLiteral others[] = {
      "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80",
      "\xe2\x80\x81", "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84",
      "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87", "\xe2\x80\x88",
      "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8", "\xe2\x80\xa9",
      "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};
  return is_contained(others, character);
}

StringRef anec::jinja::strip(StringRef text, bool left, bool right,
                             StringRef set) {
  auto goes = [&](StringRef character) {
    return set.empty() ? isSpace(character) : set.contains(character);
  };
  while (left && !text.empty()) {
    size_t size = 1;
    while (size < text.size() && !startsCharacter(text[size]))
      ++size;
    if (!goes(text.take_front(size)))
      break;
    text = text.drop_front(size);
  }
  while (right && !text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && !startsCharacter(text[at]))
      --at;
    if (!goes(text.drop_front(at)))
      break;
    text = text.take_front(at);
  }
  return text;
}
