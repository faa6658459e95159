//===- PrettyPrint.cpp - pprint.pformat() ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What does not fit a line of 80 characters is broken as Python breaks it:
/// items of lists and dicts each on a line, and texts at their line ends and
/// behind spaces.
///
//===----------------------------------------------------------------------===//

#include "Characters.h"
#include "Print.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

/// `value` with its dicts in the order of their keys.
static Value sorted(Evaluator &eval, const Value &value) {
  if (!eval.spend(1)) // what is in several places is sorted in each
    return value;
  if (value.is(VK::Dict)) {
    auto entries = value.dict().entries;
    stable_sort(entries, [&](const auto &lhs, const auto &rhs) {
      return lhs.first.kind() == rhs.first.kind()
                 ? eval.less(lhs.first, rhs.first)
                 : lhs.first.typeName() < rhs.first.typeName();
    });
    Ref<Dict> made(new Dict);
    for (auto &[key, member] : entries)
      made->set(key, sorted(eval, member));
    return eval.dict(std::move(made));
  }
  if (!value.isList() && !value.isTuple())
    return value;
  List items;
  for (const Value &item : value.sequence().items)
    items.push_back(sorted(eval, item));
  return eval.list(std::move(items), value.sequence().kind);
}

namespace {
/// `indent` is the column where a value begins, and `allowance` the room that
/// what closes those around it takes.
class PrettyPrinter {
public:
  explicit PrettyPrinter(Evaluator &eval) : eval(eval), out(eval) {}
  void print(const Value &value, int64_t indent, int64_t allowance,
             unsigned level);
  std::string take() { return out.take(); }

private:
  void printItems(const List &items, int64_t indent, int64_t allowance,
                  unsigned level);
  void printEntries(const Dict &dict, int64_t indent, int64_t allowance,
                    unsigned level);
  void printText(StringRef text, int64_t indent, int64_t allowance,
                 unsigned level);
  void breakLine(int64_t indent) {
    out += "\n" + std::string(size_t(indent), ' ');
  }

  static constexpr int64_t width = 80;
  Evaluator &eval;
  TextBuilder out;
};
} // namespace

void PrettyPrinter::print(const Value &value, int64_t indent, int64_t allowance,
                          unsigned level) {
  std::string line = eval.repr(value);
  bool fits = int64_t(countCharacters(line)) <= width - indent - allowance;
  if (fits || eval.failed()) {
    out += line;
  } else if (value.is(VK::Dict)) {
    out += "{";
    printEntries(value.dict(), indent + 1, allowance + 1, level + 1);
    out += "}";
  } else if (value.isList() || value.isTuple()) {
    const List &items = value.sequence().items;
    StringRef end = value.isList() ? "]" : items.size() == 1 ? ",)" : ")";
    out += value.isList() ? "[" : "(";
    printItems(items, indent + 1, allowance + int64_t(end.size()), level + 1);
    out += end;
  } else if (value.isText() && !value.isMarkup()) {
    printText(value.text(), indent, allowance, level + 1);
  } else {
    out += line;
  }
}

void PrettyPrinter::printItems(const List &items, int64_t indent,
                               int64_t allowance, unsigned level) {
  for (const Value &item : items) {
    bool isLast = &item == &items.back();
    print(item, indent, isLast ? allowance : 1, level);
    if (isLast)
      return;
    out += ",";
    breakLine(indent);
  }
}

void PrettyPrinter::printEntries(const Dict &dict, int64_t indent,
                                 int64_t allowance, unsigned level) {
  for (const auto &entry : dict.entries) {
    bool isLast = &entry == &dict.entries.back();
    std::string key = eval.repr(entry.first);
    out += key;
    out += ": ";
    print(entry.second, indent + int64_t(countCharacters(key)) + 2,
          isLast ? allowance : 1, level);
    if (isLast)
      return;
    out += ",";
    breakLine(indent);
  }
}

/// Words, each with the spaces behind it.
static std::vector<StringRef> wordsOf(StringRef line) {
  std::vector<StringRef> words;
  bool isInSpaces = false;
  const char *begin = line.begin();
  for (StringRef rest = line; !rest.empty();) {
    const char *at = rest.begin();
    bool isSpaceNow = isSpace(takeCharacter(rest));
    if (isInSpaces && !isSpaceNow) {
      words.emplace_back(begin, size_t(at - begin));
      begin = at;
    }
    isInSpaces = isSpaceNow;
  }
  words.emplace_back(begin, size_t(line.end() - begin));
  return words;
}

void PrettyPrinter::printText(StringRef text, int64_t indent, int64_t allowance,
                              unsigned level) {
  bool isOutermost = level == 1;
  indent += isOutermost;
  allowance += isOutermost;
  auto fits = [&](const std::string &part, bool isLast) {
    int64_t most = width - indent - (isLast ? allowance : 0);
    return eval.spend(1 + part.size() / 8) &&
           int64_t(countCharacters(part)) <= most;
  };
  std::vector<std::string> chunks;
  std::vector<StringRef> all = lines(text, /*keepEnds=*/true);
  for (const StringRef &line : all) {
    bool isLastLine = &line == &all.back();
    if (std::string whole = textRepr(line, false); fits(whole, isLastLine)) {
      chunks.push_back(std::move(whole));
      continue;
    }
    StringRef current = line.take_front(0);
    std::vector<StringRef> words = wordsOf(line);
    for (const StringRef &word : words) {
      StringRef longer(current.begin(), current.size() + word.size());
      bool isLast = isLastLine && &word == &words.back();
      if (fits(textRepr(longer, false), isLast)) {
        current = longer;
        continue;
      }
      if (!current.empty())
        chunks.push_back(textRepr(current, false));
      current = word;
    }
    if (!current.empty())
      chunks.push_back(textRepr(current, false));
  }
  bool hasParentheses = isOutermost && chunks.size() > 1;
  out += hasParentheses ? "(" : "";
  for (const std::string &chunk : chunks) {
    out += chunk;
    if (&chunk != &chunks.back())
      breakLine(indent);
  }
  out += hasParentheses ? ")" : "";
}

std::string anec::jinja::prettyText(Evaluator &eval, const Value &value) {
  PrettyPrinter printer(eval);
  printer.print(sorted(eval, value), 0, 0, 0);
  return printer.take();
}
