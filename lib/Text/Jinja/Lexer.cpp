//===- Lexer.cpp - the tokens of template programs ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Characters.h"
#include "Syntax.h"
#include "llvm/ADT/StringExtras.h"

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
      error = {text.str(), lineAt(at)};
  }
  unsigned lineAt(size_t offset) {
    line += unsigned(source.slice(counted, offset).count('\n'));
    counted = std::max(counted, offset);
    return line;
  }
  void add(Kind kind, std::string text) {
    tokens.push_back({kind, std::move(text), lineAt(at)});
  }
  StringRef rest() const { return source.drop_front(at); }
  void data(size_t end, char kind, char sign);
  bool raw();
  void comment();
  void tag(Kind begin, Kind end, StringRef close);
  bool closes(StringRef close);
  void string();
  size_t number(Kind &kind) const;
  void token();

  StringRef source;
  TemplateError &error;
  std::vector<Token> tokens;
  size_t at = 0, counted = 0;
  unsigned line = 1;
  /// What is here begins a line.
  bool isLineBegin = true;
  std::string brackets; ///< those that are open, as what closes them
};

bool isNameStart(char c) {
  return isAlpha(c) || c == '_' || uint8_t(c) >= 0x80;
}
bool isNamePart(char c) { return isNameStart(c) || isDigit(c); }

char trimSignOf(StringRef text) {
  return text.starts_with("-") || text.starts_with("+") ? text.front() : '\0';
}

} // namespace

/// The text before a tag of a kind, without what the tag takes away.
void Lexer::data(size_t end, char kind, char sign) {
  StringRef text = source.slice(at, end);
  if (sign == '-') {
    text = stripped(text, false, true);
  } else if (sign != '+' && kind != '{') {
    size_t from = text.rfind('\n') + 1; // npos + 1 is 0
    if ((from > 0 || isLineBegin) &&
        stripped(text.drop_front(from), true, false).empty())
      text = text.take_front(from);
  }
  if (!text.empty())
    add(Kind::Data, text.str());
  at = end;
}

/// Passes the end of a tag, if it is here.
bool Lexer::closes(StringRef close) {
  StringRef text = rest();
  bool strips = text.consume_front("-"),
       keeps = !strips && close != "}}" && text.consume_front("+");
  if (!text.consume_front(close))
    return false;
  StringRef before = text;
  if (strips)
    text = stripped(text, true, false);
  else if (close != "}}" && !keeps)
    text.consume_front("\n");
  isLineBegin = before.drop_back(text.size()).ends_with("\n");
  at = source.size() - text.size();
  return true;
}

void Lexer::comment() {
  size_t begin = at;
  at += 2;
  if (trimSignOf(rest()))
    ++at;
  size_t end = source.find("#}", at);
  if (end == StringRef::npos) {
    at = begin;
    return fail("a comment does not end");
  }
  bool isSigned = end > at && trimSignOf(source.drop_front(end - 1));
  at = isSigned ? end - 1 : end;
  closes("#}");
}

/// `name` in a tag without more: passes it, up to its end.
static bool takeWord(StringRef &text, StringRef name) {
  text = stripped(text, true, false);
  if (!text.consume_front(name))
    return false;
  text = stripped(text, true, false);
  return true;
}

/// Reads `raw` and what it has, if it is here.
bool Lexer::raw() {
  StringRef text = source.drop_front(at + 2);
  if (trimSignOf(text))
    text = text.drop_front();
  if (!takeWord(text, "raw"))
    return false;
  bool strips = text.consume_front("-");
  if (!text.consume_front("%}"))
    return false;
  size_t begin = at;
  if (strips)
    text = stripped(text, true, false);
  at = source.size() - text.size();
  isLineBegin = source.take_front(at).ends_with("\n");
  for (size_t end = source.find("{%", at); end != StringRef::npos;
       end = source.find("{%", end + 2)) {
    StringRef tail = source.drop_front(end + 2);
    char sign = trimSignOf(tail);
    if (sign)
      tail = tail.drop_front();
    if (!takeWord(tail, "endraw"))
      continue;
    size_t close = source.size() - tail.size();
    if (!tail.starts_with("%}") && !tail.starts_with("-%}") &&
        !tail.starts_with("+%}"))
      continue;
    data(end, '%', sign);
    at = close;
    closes("%}");
    return true;
  }
  at = begin;
  fail("`raw` does not end");
  return true;
}

/// The character of an escape that begins at `at`, behind its backslash;
/// nothing if it is none. Moves `at` to its last character.
static std::optional<uint32_t> escapeAt(StringRef source, size_t &at,
                                        bool &isWrong) {
  char c = source[at];
  static constexpr std::pair<char, char> escapes[] = {
      {'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'\\', '\\'}, {'\'', '\''},
      {'"', '"'},  {'b', '\b'}, {'f', '\f'}, {'a', '\a'},  {'v', '\v'}};
  for (auto [letter, meaning] : escapes)
    if (c == letter)
      return uint8_t(meaning);
  uint32_t code = 0;
  if (c >= '0' && c <= '7') {
    size_t size = 1;
    while (size < 3 && at + size < source.size() && source[at + size] >= '0' &&
           source[at + size] <= '7')
      ++size;
    source.substr(at, size).getAsInteger(8, code);
    at += size - 1;
    return code;
  }
  size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  isWrong = c == 'N';
  if (!digits)
    return std::nullopt;
  StringRef number = source.substr(at + 1, digits);
  isWrong = number.size() != digits || !all_of(number, isHexDigit) ||
            number.getAsInteger(16, code) || code > 0x10FFFF;
  at += digits;
  return code;
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
    ++at;
    bool isWrong = false;
    size_t first = at;
    if (source[at] == '\n')
      continue; // the line goes on
    std::optional<uint32_t> code = escapeAt(source, at, isWrong);
    if (isWrong) {
      at = first;
      return fail("`\\" + Twine(source[first]) +
                  "` is not an escape that is known");
    }
    if (code)
      appendCharacter(value, *code);
    else
      value += {'\\', source[at]};
  }
  if (at >= source.size()) {
    at = begin;
    return fail("a string does not end");
  }
  size_t end = at + 1;
  at = begin;
  add(Kind::String, std::move(value));
  at = end;
}

/// The size of the number that begins here.
size_t Lexer::number(Kind &kind) const {
  StringRef text = rest();
  auto digits = [&](size_t from, function_ref<bool(char)> is) {
    size_t end = from;
    while (end < text.size() &&
           (is(text[end]) || (end > from && text[end] == '_' &&
                              end + 1 < text.size() && is(text[end + 1]))))
      ++end;
    return end;
  };
  auto isDecimal = [](char c) { return isDigit(c); };
  kind = Kind::Float;
  size_t size = digits(0, isDecimal);
  size_t fraction = size < text.size() && text[size] == '.'
                        ? digits(size + 1, isDecimal)
                        : size;
  bool hasFraction = fraction > size + 1;
  size_t exponent = hasFraction ? fraction : size;
  if (exponent < text.size() && toLower(text[exponent]) == 'e') {
    size_t first =
        exponent + 1 + (trimSignOf(text.drop_front(exponent + 1)) != 0);
    if (size_t end = digits(first, isDecimal); end > first)
      return end;
  }
  if (hasFraction)
    return fraction;
  kind = Kind::Integer;
  std::string base = text.take_front(2).lower();
  for (auto [prefix, is] :
       {std::pair<StringRef, bool (*)(char)>(
            "0x", [](char c) { return isHexDigit(c); }),
        {"0o", [](char c) { return c >= '0' && c <= '7'; }},
        {"0b", [](char c) { return c == '0' || c == '1'; }}})
    if (base == prefix)
      if (size_t from = 2 + text.substr(2).starts_with("_"),
          end = digits(from, is);
          end > from)
        return end;
  if (text.front() == '0')
    return digits(0, [](char c) { return c == '0'; });
  return size;
}

void Lexer::token() {
  StringRef text = rest();
  char c = text.front();
  if (c == '\'' || c == '"')
    return string();
  size_t size = 0;
  Kind kind = Kind::Operator;
  if (isDigit(c)) {
    size = number(kind);
  } else if (isNameStart(c)) {
    kind = Kind::Name;
    size = text.take_while(isNamePart).size();
  } else {
    for (StringRef two : {"==", "!=", "<=", ">=", "//", "**"})
      if (text.starts_with(two))
        size = 2;
    if (!size && StringRef("+-*/%~<>=.,:|()[]{};").contains(c))
      size = 1;
    if (!size)
      return fail("`" + Twine(c) + "` is not known");
    size_t open = StringRef("([{").find(c);
    if (open != StringRef::npos)
      brackets += ")]}"[open];
    if (StringRef(")]}").contains(c)) {
      if (brackets.empty() || brackets.back() != c)
        return fail("`" + Twine(c) + "` closes nothing");
      brackets.pop_back();
    }
  }
  add(kind, text.take_front(size).str());
  at += size;
}

void Lexer::tag(Kind begin, Kind end, StringRef close) {
  add(begin, source.substr(at, 2).str());
  at += 2;
  if (trimSignOf(rest()))
    ++at;
  brackets.clear();
  while (!error) {
    at = source.size() - stripped(rest(), true, false).size();
    if (at == source.size())
      return fail("a tag does not end");
    unsigned endLine = lineAt(at);
    if (brackets.empty() && closes(close)) {
      tokens.push_back({end, close.str(), endLine});
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
    if (next == StringRef::npos) {
      add(Kind::Data, rest().str());
      break;
    }
    data(next, source[next + 1], trimSignOf(source.drop_front(next + 2)));
    switch (source[at + 1]) {
    case '#':
      comment();
      break;
    case '%':
      if (!raw())
        tag(Kind::BlockBegin, Kind::BlockEnd, "%}");
      break;
    default:
      tag(Kind::Begin, Kind::End, "}}");
    }
  }
  at = source.size();
  add(Kind::Finish, "the end");
  return std::move(tokens);
}

std::vector<Token> anec::jinja::tokenize(StringRef program,
                                         TemplateError &error) {
  // \r\n and \r are line ends too.
  std::string lines;
  lines.reserve(program.size());
  for (size_t at = 0; at < program.size(); ++at) {
    if (program[at] != '\r')
      lines += program[at];
    else if (at + 1 == program.size() || program[at + 1] != '\n')
      lines += '\n';
  }
  return Lexer(lines, error).run();
}
