//===- RegexSyntax.cpp - from Oniguruma's syntax to PCRE2's ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Most of both syntaxes is the same. What differs is written out, so that it
/// does not depend on options: the sets of `\s`, `\w` and `\h` as ranges, and
/// `{1,3}+` as a repeated repetition, which PCRE2 would take for a possessive
/// one. The rest is refused.
///
//===----------------------------------------------------------------------===//

#include "Regex.h"
#include "Unicode.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace anec::hf;
using namespace llvm;

// The insides of classes.
static constexpr StringLiteral spaces =
    "\\t-\\r \\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}"
    "\\x{202F}\\x{205F}\\x{3000}";
static constexpr StringLiteral notSpaces =
    "\\x{0}-\\x{8}\\x{E}-\\x{1F}!-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}"
    "\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}"
    "\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{10FFFF}";
static constexpr StringLiteral wordCharacters =
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24B6}-\\x{24E9}"
    "\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}";
static constexpr StringLiteral hexDigits = "0-9a-fA-F";

namespace {
class Translator {
public:
  Translator(StringRef pattern, std::string &error)
      : rest(pattern), error(error) {}
  std::optional<std::string> translate();

private:
  bool fail(const Twine &what) {
    if (error.empty())
      error = what.str();
    return false;
  }
  bool element();
  bool escape(bool inClass);
  bool property(char letter);
  bool codePoint(char letter);
  bool group();
  bool characterClass();
  bool interval();
  void set(StringRef members, bool isNegated) {
    out += isNegated ? "[^" : "[";
    out += members;
    out += ']';
  }

  StringRef rest;
  std::string &error;
  std::string out;
  /// Where the last element begins in `out`, to which a quantifier applies.
  size_t elementBegin = 0;
  SmallVector<size_t> groupBegins;
};
} // namespace

/// `\p{L}`, whose `\p` has been taken.
bool Translator::property(char letter) {
  size_t end = rest.find('}');
  if (!rest.starts_with("{") || end == StringRef::npos)
    return fail(Twine("`\\") + Twine(letter) + "` without `{..}`");
  StringRef property = rest.slice(1, end);
  rest = rest.drop_front(end + 1);
  bool isNegated = property.consume_front("^") != (letter == 'P');
  out += isNegated ? "\\P{" : "\\p{";
  // Since 10.40, the name of a script alone is that of its extensions.
  if (property.size() > 2 && property != "Any")
    out += "sc:";
  out += property;
  out += '}';
  return true;
}

/// `\x41`, `\x{41}` or `\u0041`, whose first two characters have been taken.
bool Translator::codePoint(char letter) {
  StringRef digits;
  if (letter == 'x' && rest.starts_with("{")) {
    digits = rest.slice(1, rest.find('}'));
    rest = rest.drop_front(std::min(rest.size(), digits.size() + 2));
  } else {
    digits = rest.take_front(letter == 'x' ? 2 : 4);
    rest = rest.drop_front(digits.size());
  }
  uint32_t value = 0;
  if (digits.getAsInteger(16, value) || value > 0x10FFFF)
    return fail(Twine("`\\") + Twine(letter) + digits + "`");
  // Two digits are a byte, which is no character above ASCII.
  if (letter == 'x' && digits.size() <= 2 && value > 0x7F)
    return fail("the byte `\\x" + digits + "`");
  out += "\\x{" + utohexstr(value) + "}";
  return true;
}

bool Translator::escape(bool inClass) {
  if (rest.empty())
    return fail("a `\\` at the end");
  StringRef letterText = rest.take_front(characterSize(rest));
  char letter = rest.front();
  rest = rest.drop_front(letterText.size());
  auto either = [&](StringRef members) {
    if (inClass)
      out += members;
    else
      set(members, /*isNegated=*/false);
    return true;
  };
  switch (letter) {
  case 's':
    return either(spaces);
  case 'S':
    return either(notSpaces);
  case 'w':
    return either(wordCharacters);
  case 'h':
    return either(hexDigits);
  case 'd':
    return either("\\p{Nd}");
  case 'D':
    return either("\\P{Nd}");
  case 'W':
  case 'H':
    if (inClass)
      break;
    set(letter == 'W' ? wordCharacters : hexDigits, /*isNegated=*/true);
    return true;
  case 'p':
  case 'P':
    return property(letter);
  case 'x':
  case 'u':
    return codePoint(letter);
  case 'v':
    out += "\\x{B}";
    return true;
  case 'n':
  case 'r':
  case 't':
  case 'f':
  case 'a':
  case 'e':
    out += '\\';
    out += letter;
    return true;
  case 'b':
  case 'B': {
    if (inClass) {
      if (letter == 'B')
        break;
      out += "\\x{8}";
      return true;
    }
    std::string word = ("[" + wordCharacters + "]").str();
    out += letter == 'b' ? "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word +
                               ")(?=" + word + "))"
                         : "(?:(?<=" + word + ")(?=" + word + ")|(?<!" + word +
                               ")(?!" + word + "))";
    return true;
  }
  case 'A':
  case 'z':
  case 'Z':
    if (inClass)
      break;
    out += '\\';
    out += letter;
    return true;
  default:
    if (llvm::isAlnum(letter))
      break;
    if (uint8_t(letter) < 0x80)
      out += '\\';
    out += letterText;
    return true;
  }
  return fail(Twine("`\\") + letterText + "`" +
              (inClass ? " in a character class" : ""));
}

/// A class, whose `[` has been taken. Classes inside of it are unions.
bool Translator::characterClass() {
  out += '[';
  if (rest.consume_front("^"))
    out += '^';
  if (rest.starts_with("]"))
    return fail("a `]` at the beginning of a character class");
  unsigned depth = 1;
  while (depth > 0) {
    if (rest.empty())
      return fail("a character class without an end");
    if (rest.starts_with("&&"))
      return fail("`&&` in a character class");
    if (rest.starts_with("[:"))
      return fail("`" + rest.take_front(10) + "` in a character class");
    if (rest.starts_with("[^"))
      return fail("`[^` in a character class");
    if (rest.consume_front("[")) {
      if (rest.starts_with("]"))
        return fail("a `]` at the beginning of a character class");
      ++depth;
      continue;
    }
    if (rest.consume_front("]")) {
      --depth;
      // A `-` on either side of an inner class is not that of a range.
      if (depth > 0 && (rest.starts_with("-") || StringRef(out).ends_with("-")))
        return fail("`-` beside a character class in another");
      continue;
    }
    if (rest.consume_front("\\")) {
      if (!escape(/*inClass=*/true))
        return false;
      continue;
    }
    size_t size = characterSize(rest);
    out += rest.take_front(size);
    rest = rest.drop_front(size);
  }
  out += ']';
  return true;
}

/// A group, whose `(` has been taken.
bool Translator::group() {
  groupBegins.push_back(out.size());
  if (!rest.consume_front("?")) {
    // Nothing refers to groups.
    out += "(?:";
    return true;
  }
  // With `m`, a dot matches line ends too, which PCRE2 calls `s`.
  static constexpr struct {
    StringLiteral theirs, ours;
  } kinds[] = {{":", ":"},   {"=", "="},     {"!", "!"},     {">", ">"},
               {"<=", "<="}, {"<!", "<!"},   {"i:", "i:"},   {"-i:", "-i:"},
               {"m:", "s:"}, {"-m:", "-s:"}, {"im:", "is:"}, {"mi:", "is:"}};
  for (const auto &[theirs, ours] : kinds)
    if (rest.consume_front(theirs)) {
      out += "(?";
      out += ours;
      return true;
    }
  // Elsewhere than at the beginning, it would group alternatives otherwise.
  if (out.empty() && rest.consume_front("i)")) {
    groupBegins.pop_back();
    out += "(?i)";
    return true;
  }
  return fail("the group `(?" + rest.take_front(3) + "`");
}

/// What follows a `{`, which has been taken.
bool Translator::interval() {
  size_t end = rest.find('}');
  auto [least, most] = rest.take_front(end).split(',');
  bool isRange = rest.take_front(end).contains(',');
  auto isNumber = [](StringRef text) {
    return text.size() <= 5 && llvm::all_of(text, llvm::isDigit);
  };
  if (end == StringRef::npos || !isNumber(least) || !isNumber(most) ||
      (least.empty() && most.empty())) {
    out += "\\{"; // a brace like any character
    return true;
  }
  rest = rest.drop_front(end + 1);
  std::string text = "{" + (least.empty() ? "0" : least.str()) +
                     (isRange ? "," + most.str() : "") + "}";
  if (!isRange && rest.starts_with("?"))
    return fail("`" + text + "?`");
  out += text;
  if (rest.starts_with("+")) {
    out.insert(elementBegin, "(?:");
    out += ')';
  }
  return true;
}

/// An element or a quantifier.
bool Translator::element() {
  size_t begin = out.size();
  char first = rest.front();
  size_t size = characterSize(rest);
  StringRef character = rest.take_front(size);
  rest = rest.drop_front(size);
  switch (first) {
  case '*':
  case '+':
  case '?':
    out += first;
    return true;
  case '{':
    return interval();
  case '(':
    return group();
  case ')':
    if (groupBegins.empty())
      return fail("a `)` without a `(`");
    elementBegin = groupBegins.pop_back_val();
    out += ')';
    return true;
  case '[':
    elementBegin = begin;
    return characterClass();
  case '\\':
    elementBegin = begin;
    return escape(/*inClass=*/false);
  default:
    elementBegin = begin;
    out += character;
    return true;
  }
}

std::optional<std::string> Translator::translate() {
  error.clear();
  while (!rest.empty())
    if (!element())
      return std::nullopt;
  if (!groupBegins.empty()) {
    fail("a `(` without a `)`");
    return std::nullopt;
  }
  return out;
}

std::optional<std::string> anec::hf::translatePattern(StringRef pattern,
                                                      std::string &error) {
  return Translator(pattern, error).translate();
}

std::string anec::hf::quotePattern(StringRef text) {
  std::string quoted;
  for (char byte : text) {
    if (uint8_t(byte) < 0x80 && !llvm::isAlnum(byte))
      quoted += '\\';
    quoted += byte;
  }
  return quoted;
}
