//===- JsonTree.cpp - large JSON texts ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "JsonTree.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<bool> JsonValue::boolean() const {
  if (kind != Kind::True && kind != Kind::False)
    return std::nullopt;
  return kind == Kind::True;
}

std::optional<int64_t> JsonValue::integer() const {
  int64_t value = 0;
  if (kind != Kind::Number || word.getAsInteger(10, value))
    return std::nullopt;
  return value;
}

std::optional<double> JsonValue::number() const {
  if (kind != Kind::Number && kind != Kind::String)
    return std::nullopt;
  if (word == "Infinity")
    return INFINITY;
  if (word == "-Infinity")
    return -INFINITY;
  if (word == "NaN")
    return NAN;
  double value = 0;
  if (kind != Kind::Number || word.getAsDouble(value))
    return std::nullopt;
  return value;
}

llvm::ArrayRef<JsonValue> JsonValue::elements() const {
  if (kind != Kind::Array)
    return {};
  return {static_cast<const JsonValue *>(first), count};
}

llvm::ArrayRef<JsonMember> JsonValue::members() const {
  if (kind != Kind::Object)
    return {};
  return {static_cast<const JsonMember *>(first), count};
}

const JsonValue &JsonValue::operator[](StringRef key) const {
  static const JsonValue null;
  for (const JsonMember &member : members())
    if (member.key == key)
      return member.value;
  return null;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace anec::torch {

class JsonTreeParser {
public:
  JsonTreeParser(StringRef text, JsonTree &tree) : text(text), tree(tree) {}
  bool parseAll() {
    return parse(tree.value, 0) && ((peek() == '\0' && at == text.size()) ||
                                    fail("there is text behind the value"));
  }
  std::string error;

private:
  static constexpr unsigned deepest = 256;

  bool fail(const llvm::Twine &why) {
    error = ("at byte " + llvm::Twine(at) + ": " + why).str();
    return false;
  }
  /// The next character that is not white space; 0 at the end.
  char peek() {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    return at < text.size() ? text[at] : '\0';
  }
  bool take(char c) {
    bool is = peek() == c;
    at += is;
    return is;
  }
  bool parse(JsonValue &value, unsigned depth);
  bool parseArray(JsonValue &value, unsigned depth);
  bool parseObject(JsonValue &value, unsigned depth);
  bool parseWord(JsonValue &value);
  bool parseString(StringRef &word);
  bool haveEqualKeys(llvm::ArrayRef<JsonMember> members);

  template <typename Part>
  void keep(JsonValue &value, JsonValue::Kind kind, std::vector<Part> &parts) {
    Part *copy = tree.memory.Allocate<Part>(parts.size());
    std::uninitialized_copy(parts.begin(), parts.end(), copy);
    value.kind = kind;
    value.first = copy;
    value.count = parts.size();
  }

  StringRef text;
  JsonTree &tree;
  size_t at = 0;
};

} // namespace anec::torch

bool JsonTreeParser::parse(JsonValue &value, unsigned depth) {
  if (depth == deepest)
    return fail("values are nested too deeply");
  switch (peek()) {
  case '[':
    return parseArray(value, depth);
  case '{':
    return parseObject(value, depth);
  case '"':
    value.kind = JsonValue::Kind::String;
    return parseString(value.word);
  default:
    return parseWord(value);
  }
}

bool JsonTreeParser::parseArray(JsonValue &value, unsigned depth) {
  std::vector<JsonValue> parts;
  ++at;
  if (!take(']')) {
    do {
      if (!parse(parts.emplace_back(), depth + 1))
        return false;
    } while (take(','));
    if (!take(']'))
      return fail("expected `,` or `]`");
  }
  keep(value, JsonValue::Kind::Array, parts);
  return true;
}

bool JsonTreeParser::haveEqualKeys(llvm::ArrayRef<JsonMember> members) {
  if (members.size() > 8) {
    llvm::StringSet<> keys;
    return !llvm::all_of(members, [&](const JsonMember &member) {
      return keys.insert(member.key).second;
    });
  }
  for (size_t i = 0; i != members.size(); ++i)
    for (size_t j = 0; j != i; ++j)
      if (members[i].key == members[j].key)
        return true;
  return false;
}

bool JsonTreeParser::parseObject(JsonValue &value, unsigned depth) {
  std::vector<JsonMember> parts;
  ++at;
  if (!take('}')) {
    do {
      JsonMember &part = parts.emplace_back();
      if (peek() != '"')
        return fail("expected a key");
      if (!parseString(part.key))
        return false;
      if (!take(':'))
        return fail("expected `:`");
      if (!parse(part.value, depth + 1))
        return false;
    } while (take(','));
    if (!take('}'))
      return fail("expected `,` or `}`");
  }
  if (haveEqualKeys(parts))
    return fail("an object has two equal keys");
  keep(value, JsonValue::Kind::Object, parts);
  return true;
}

bool JsonTreeParser::parseWord(JsonValue &value) {
  size_t end = std::min(text.find_first_of(" \t\r\n,]}:", at), text.size());
  value.word = text.slice(at, end);
  if (value.word == "null")
    value.kind = JsonValue::Kind::Null;
  else if (value.word == "true")
    value.kind = JsonValue::Kind::True;
  else if (value.word == "false")
    value.kind = JsonValue::Kind::False;
  else
    value.kind = JsonValue::Kind::Number;
  if (value.kind == JsonValue::Kind::Number && !value.number())
    return fail("expected a value");
  at = end;
  return true;
}

bool JsonTreeParser::parseString(StringRef &word) {
  size_t begin = ++at;
  bool isPlain = true;
  for (; at < text.size() && text[at] != '"'; ++at) {
    isPlain &= text[at] != '\\' && uint8_t(text[at]) >= 0x20;
    at += text[at] == '\\';
  }
  if (at >= text.size())
    return fail("the text ends inside of a string");
  word = text.slice(begin, at++);
  if (isPlain)
    return true;
  JsonError ignored;
  std::optional<llvm::json::Value> leaf =
      parseJson(text.slice(begin - 1, at), ignored);
  if (!leaf)
    return fail("a string is malformed");
  word = leaf->getAsString()->copy(tree.memory);
  return true;
}

bool JsonTree::parse(StringRef text, std::string &error) {
  JsonTreeParser parser(text, *this);
  if (parser.parseAll())
    return true;
  error = std::move(parser.error);
  return false;
}
