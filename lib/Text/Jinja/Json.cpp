//===- Json.cpp - values of JSON texts ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// As json.loads has them: members in their order, and 1.0 is no integer,
/// neither of which llvm::json keeps. The texts have been read by parseJson.
///
//===----------------------------------------------------------------------===//

#include "llvm/Support/JSON.h"
#include "Syntax.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>

using namespace anec::jinja;
using namespace llvm;

namespace {
class Reader {
public:
  explicit Reader(StringRef text) : rest(text) {}
  Value value();

private:
  bool take(char c) {
    rest = rest.ltrim(" \t\r\n");
    return rest.consume_front(StringRef(&c, 1));
  }
  Value string();
  Value leaf();

  StringRef rest;
};
} // namespace

Value Reader::string() {
  size_t end = 1;
  while (end < rest.size() && rest[end] != '"')
    end += rest[end] == '\\' ? 2 : 1;
  StringRef source = rest.take_front(end + 1);
  rest = rest.drop_front(source.size());
  if (!source.contains('\\'))
    return Value::literal(source.drop_front().drop_back().str());
  Expected<json::Value> parsed = json::parse(source);
  if (!parsed) {
    consumeError(parsed.takeError());
    return Value::literal("");
  }
  return Value::literal(parsed->getAsString().value_or("").str());
}

Value Reader::leaf() {
  StringRef word = rest.take_until(
      [](char c) { return StringRef(",]} \t\r\n").contains(c); });
  rest = rest.drop_front(word.size());
  if (word == "null")
    return Value::none();
  if (word == "true" || word == "false")
    return Value::of(word == "true");
  StringRef digits = word;
  bool isNegative = digits.consume_front("-");
  if (!digits.empty() && all_of(digits, isDigit))
    if (std::optional<Whole> number = Whole::of(digits, 10))
      return Value::literal(isNegative ? -*number : *number);
  return Value::of(std::strtod(word.str().c_str(), nullptr));
}

Value Reader::value() {
  rest = rest.ltrim(" \t\r\n");
  if (rest.starts_with("\""))
    return string();
  if (take('[')) {
    List items;
    unsigned depth = 0;
    while (!rest.empty() && !take(']')) {
      items.push_back(value());
      depth = std::max(depth, items.back().depth() + 1);
      take(',');
    }
    Ref<Object> made(new Sequence(Sequence::Kind::List, std::move(items)));
    made->depth = depth;
    return {Value::Kind::Sequence, std::move(made)};
  }
  if (take('{')) {
    Ref<Dict> made(new Dict);
    while (!rest.empty() && !take('}')) {
      rest = rest.ltrim(" \t\r\n");
      Value key = string();
      take(':');
      made->set(std::move(key), value());
      take(',');
    }
    return {Value::Kind::Dict, std::move(made)};
  }
  return leaf();
}

Value anec::jinja::valueOfJson(StringRef json) { return Reader(json).value(); }
