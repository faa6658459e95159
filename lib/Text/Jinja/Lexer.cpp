//===- Lexer.cpp - the tokens of template programs ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace anec::jinja;
using namespace llvm;

namespace {

class Lexer {
public:
  Lexer(StringRef program, TemplateError &error)
      : source(program), error(error) {}

  std::vector<Token> run();

private:
  using Kind = Token::Kind;

  void fail(const Twine &text) {
    if (!error)
      error = {text.str(), at};
  }
  void add(Kind kind, StringRef text) {
    tokens.push_back({kind, text.str(), at});
  }
  StringRef rest() const { return source.drop_front(at); }
  void text(size_t end);
  void comment();
  void tag(Kind begin, Kind end, StringRef close);
  /// Passes the end of a tag, if it is here.
  bool closes(StringRef close);
  void string();
  void token();

  static constexpr StringLiteral spaces = " \t\n\r\f\v";

  StringRef source;
  TemplateError &error;
  std::vector<Token> tokens;
  size_t at = 0;
  /// What is here begins a line.
  bool isLineBegin = true;
  int depth = 0; ///< of brackets
};

} // namespace

/// The text before a tag, without what the tag takes away.
void Lexer::text(size_t end) {
  StringRef text = source.slice(at, end);
  StringRef tag = source.substr(end, 3);
  if (tag.size() == 3 && tag[2] == '-') {
    text = text.rtrim(spaces);
  } else if (tag.starts_with("{%") || tag.starts_with("{#")) {
    size_t line = text.rfind('\n');
    bool begins = line != StringRef::npos || isLineBegin;
    size_t from = line == StringRef::npos ? 0 : line + 1;
    bool isBlank = text.drop_front(from).trim(" \t").empty();
    if (begins && isBlank && !tag.ends_with("+"))
      text = text.take_front(from);
  }
  if (!text.empty())
    add(Kind::Text, text);
  at = end;
}

bool Lexer::closes(StringRef close) {
  StringRef text = rest();
  bool strips = text.consume_front("-"),
       keeps = !strips && text.consume_front("+");
  if (!text.consume_front(close))
    return false;
  StringRef before = text;
  if (strips)
    text = text.ltrim(spaces);
  else if (close != "}}" && !keeps)
    text.consume_front("\n");
  isLineBegin = before.drop_back(text.size()).ends_with("\n");
  at = source.size() - text.size();
  return true;
}

void Lexer::comment() {
  size_t end = source.find("#}", at + 2);
  if (end == StringRef::npos)
    return fail("a comment does not end");
  bool isSigned = end > at + 2 && StringRef("-+").contains(source[end - 1]);
  at = isSigned ? end - 1 : end;
  closes("#}");
}

void Lexer::string() {
  char quote = source[at];
  std::string value;
  size_t begin = at++;
  for (; at < source.size() && source[at] != quote; ++at) {
    if (source[at] != '\\' || at + 1 == source.size()) {
      value += source[at];
      continue;
    }
    char c = source[++at];
    static constexpr std::pair<char, char> escapes[] = {
        {'n', '\n'},  {'t', '\t'}, {'r', '\r'}, {'\\', '\\'},
        {'\'', '\''}, {'"', '"'},  {'b', '\b'}, {'f', '\f'}};
    bool isKnown = false;
    for (auto [letter, meaning] : escapes)
      if (c == letter) {
        value += meaning;
        isKnown = true;
      }
    unsigned code = 0, digits = c == 'u' ? 4 : c == 'x' ? 2 : 0;
    if (digits && !source.substr(at + 1, digits).getAsInteger(16, code) &&
        source.size() > at + digits) {
      char buffer[4], *end = buffer;
      if (ConvertCodePointToUTF8(code, end))
        value.append(buffer, end);
      at += digits;
    } else if (!isKnown) {
      value += {'\\', c};
    }
  }
  if (at == source.size()) {
    at = begin;
    return fail("a string does not end");
  }
  ++at;
  tokens.push_back({Kind::String, std::move(value), begin});
}

void Lexer::token() {
  StringRef text = rest();
  char c = text.front();
  if (c == '\'' || c == '"')
    return string();
  size_t size = 0;
  Kind kind = Kind::Operator;
  if (isAlpha(c) || c == '_') {
    kind = Kind::Name;
    while (size < text.size() && (isAlnum(text[size]) || text[size] == '_'))
      ++size;
  } else if (isDigit(c)) {
    kind = Kind::Integer;
    auto digits = [&](size_t from) {
      while (from < text.size() && isDigit(text[from]))
        ++from;
      return from;
    };
    auto isDigitAt = [&](size_t at) {
      return at < text.size() && isDigit(text[at]);
    };
    size = digits(0);
    if (text.substr(size, 1) == "." && isDigitAt(size + 1)) {
      kind = Kind::Number;
      size = digits(size + 1);
    }
    if (StringRef sign = text.substr(size, 2);
        sign.starts_with_insensitive("e")) {
      size_t first =
          size + (sign.ends_with("-") || sign.ends_with("+") ? 2 : 1);
      if (isDigitAt(first)) {
        kind = Kind::Number;
        size = digits(first);
      }
    }
  } else {
    for (StringRef two : {"==", "!=", "<=", ">=", "//", "**"})
      if (text.starts_with(two))
        size = 2;
    if (!size && StringRef("+-*/%~<>=.,:|()[]{}").contains(c))
      size = 1;
    if (!size)
      return fail("`" + Twine(c) + "` is not known");
    if (StringRef("([{").contains(c))
      ++depth;
    if (StringRef(")]}").contains(c))
      --depth;
  }
  add(kind, text.take_front(size));
  at += size;
}

void Lexer::tag(Kind begin, Kind end, StringRef close) {
  add(begin, source.substr(at, 2));
  at += 2;
  if (rest().starts_with("-") || rest().starts_with("+"))
    ++at;
  depth = 0;
  while (!error) {
    at = source.size() - rest().ltrim(spaces).size();
    if (at == source.size())
      return fail("a tag does not end");
    size_t offset = at;
    if (depth <= 0 && closes(close)) {
      tokens.push_back({end, close.str(), offset});
      return;
    }
    token();
  }
}

std::vector<Token> Lexer::run() {
  source.consume_back("\n"); // the last line end is not printed
  while (at < source.size() && !error) {
    size_t next = source.find('{', at);
    while (next != StringRef::npos &&
           (next + 1 == source.size() ||
            !StringRef("{%#").contains(source[next + 1])))
      next = source.find('{', next + 1);
    text(std::min(next, source.size()));
    if (at == source.size())
      break;
    switch (source[at + 1]) {
    case '#':
      comment();
      break;
    case '%':
      tag(Kind::BlockBegin, Kind::BlockEnd, "%}");
      break;
    default:
      tag(Kind::Begin, Kind::End, "}}");
    }
  }
  add(Kind::Finish, "the end");
  return std::move(tokens);
}

std::vector<Token> anec::jinja::tokenize(StringRef program,
                                         TemplateError &error) {
  return Lexer(program, error).run();
}
