//===- ConfigText.cpp - the text of a config.json -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ConfigText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace llvm;

static std::string print(const json::Value &value) {
  std::string text;
  raw_string_ostream out(text);
  json::OStream(out, 2).value(value);
  return text;
}

/// The lines of a value as if the line that it begins in was not indented.
/// Strings have no line ends: those of JSON are escaped.
static std::string dedent(StringRef text, size_t columns) {
  std::string result;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (!result.empty()) {
      result += '\n';
      line = line.drop_front(
          std::min({columns, line.find_first_not_of(' '), line.size()}));
    }
    result += line.rtrim('\r');
    text = rest;
  }
  return result;
}

static std::string indented(StringRef text, size_t columns) {
  std::string result;
  for (char c : text) {
    result += c;
    if (c == '\n')
      result.append(columns, ' ');
  }
  return result;
}

ConfigText::ConfigText(const json::Object &object, const JsonPlaces &places,
                       StringRef pointer) {
  std::vector<std::pair<const char *, StringRef>> order;
  for (const auto &[key, value] : object)
    order.emplace_back(
        places.key(JsonPlaces::member(pointer, key)).Start.getPointer(), key);
  llvm::sort(order);
  for (const auto &[begin, key] : order) {
    SourceRange range = places.value(JsonPlaces::member(pointer, key));
    StringRef text(range.Start.getPointer(),
                   range.End.getPointer() - range.Start.getPointer());
    // The columns in front of the key, if nothing else is.
    size_t columns = 0;
    while (begin[-1 - ptrdiff_t(columns)] == ' ')
      ++columns;
    members.push_back({key.str(), *object.get(key), dedent(text, columns)});
  }
}

void ConfigText::update(const json::Object &object) {
  erase_if(members,
           [&](const Member &member) { return !object.get(member.key); });
  std::vector<Member> added;
  for (const auto &[key, value] : object) {
    StringRef name = key;
    auto known = find_if(
        members, [&](const Member &member) { return member.key == name; });
    if (known == members.end())
      added.push_back({name.str(), value, print(value)});
    else if (known->value != value)
      *known = {name.str(), value, print(value)};
  }
  llvm::sort(added, [](const Member &lhs, const Member &rhs) {
    return lhs.key < rhs.key;
  });
  append_range(members, added);
}

void ConfigText::set(StringRef key, StringRef value) {
  for (Member &member : members)
    if (member.key == key)
      member = {key.str(), value, print(value)};
}

std::string ConfigText::str(unsigned indent, unsigned end) const {
  std::string text = "{";
  for (const Member &member : members) {
    text += text.size() > 1 ? ",\n" : "\n";
    text.append(indent, ' ');
    text += print(member.key) + ": " + indented(member.text, indent);
  }
  text += '\n';
  text.append(end, ' ');
  return text + "}";
}
