//===- RegexSyntax.cpp - from Oniguruma's syntax to PCRE2's ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Most of both syntaxes is the same. What differs is written out, so that it
/// does not depend on options: the sets of `\s`, `\w` and `\h` as ranges, and
/// `{1,3}+` as a repeated repetition, which PCRE2 would take for a possessive
/// one. PCRE2 has neither intersections of classes nor classes without some of
/// another: a class is then several, of which lookaheads and alternatives
/// choose. The rest is refused.
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
#define ANEC_WORD                                                              \
  "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24B6}-\\x{24E9}"                       \
  "\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}"
static constexpr StringLiteral posixWord = ANEC_WORD;
/// Oniguruma takes the numbers of Latin-1 for word characters, but only here.
static constexpr StringLiteral wordCharacters =
    ANEC_WORD "\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}";
#undef ANEC_WORD
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
  bool reference(char letter);
  bool referenceByName();
  bool codePoint(char letter);
  bool group();
  bool options();
  bool characterClass();
  bool posixClass();
  std::optional<std::string> classBody();
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
  struct Group {
    size_t begin;
    unsigned inner; ///< groups of options, which end with this one
  };
  SmallVector<Group> groups;
  unsigned optionGroups = 0; ///< of no group
  bool hasReferences = false, hasNames = false;
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

/// `\1`, whose digit has been taken.
bool Translator::reference(char letter) {
  std::string digits(1, letter);
  while (!rest.empty() && llvm::isDigit(rest.front())) {
    digits += rest.front();
    rest = rest.drop_front();
  }
  if (digits.size() > 3 || hasNames)
    return fail("`\\" + digits + "`");
  out += "\\g{" + digits + "}";
  return true;
}

static bool isName(StringRef name) {
  return !name.empty() && name.size() <= 32 && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// `\k<name>`, whose `\k` has been taken.
bool Translator::referenceByName() {
  StringRef name = rest.slice(1, rest.find('>'));
  if (!rest.starts_with("<") || !isName(name))
    return fail("`\\k" + rest.take_front(10) + "`");
  rest = rest.drop_front(std::min(rest.size(), name.size() + 2));
  out += ("\\k{" + name + "}").str();
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
  case 'R':
    if (inClass)
      break;
    out += "(?>\\r\\n|[\\n-\\r\\x{85}\\x{2028}\\x{2029}])";
    return true;
  case 'k':
    return inClass ? fail("`\\k` in a character class") : referenceByName();
  case '1':
  case '2':
  case '3':
  case '4':
  case '5':
  case '6':
  case '7':
  case '8':
  case '9':
    if (inClass)
      break;
    return reference(letter);
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

/// `[:alpha:]` or `[:^alpha:]` in a class, as members of it.
bool Translator::posixClass() {
  static constexpr struct {
    StringLiteral name, members;
  } classes[] = {
      {"alnum", "\\p{Alphabetic}\\p{Nd}"},
      {"alpha", "\\p{Alphabetic}"},
      {"ascii", "\\x{0}-\\x{7F}"},
      {"blank", "\\t\\p{Zs}"},
      {"cntrl", "\\p{Cc}"},
      {"digit", "\\p{Nd}"},
      {"lower", "\\p{Lowercase}"},
      {"punct", "\\p{P}\\p{S}"},
      {"space", spaces},
      {"upper", "\\p{Uppercase}"},
      {"word", posixWord},
      {"xdigit", hexDigits},
  };
  size_t end = rest.find(":]");
  StringRef name = rest.slice(2, end);
  for (const auto &known : classes)
    if (end != StringRef::npos && name == known.name) {
      out += known.members;
      rest = rest.drop_front(end + 2);
      return true;
    }
  return fail("`" + rest.take_front(10) + "` in a character class");
}

/// What is between the brackets of a class, as a pattern of one character.
/// Classes inside of it are unions.
std::optional<std::string> Translator::classBody() {
  bool isNegated = rest.consume_front("^");
  if (rest.starts_with("]")) {
    fail("a `]` at the beginning of a character class");
    return std::nullopt;
  }
  // The operands of `&&`, the last of which is being read.
  std::vector<std::string> operands;
  std::string members;
  std::vector<std::string> others; // classes that are no list of members
  auto finishOperand = [&] {
    std::string operand = members.empty() ? "" : "[" + members + "]";
    if (!others.empty()) {
      for (const std::string &other : others)
        operand += (operand.empty() ? "" : "|") + other;
      operand = "(?:" + operand + ")";
    }
    bool isEmpty = operand.empty();
    operands.push_back(std::move(operand));
    members.clear();
    others.clear();
    return !isEmpty || fail("an empty side of `&&`");
  };
  while (true) {
    if (rest.empty()) {
      fail("a character class without an end");
      return std::nullopt;
    }
    if (rest.consume_front("]"))
      break;
    if (rest.consume_front("&&")) {
      if (!finishOperand())
        return std::nullopt;
      continue;
    }
    std::string before = std::move(out);
    out.clear();
    bool isRead = true;
    if (rest.starts_with("[:")) {
      isRead = posixClass();
    } else if (rest.consume_front("[")) {
      // A `-` on either side of an inner class is not that of a range.
      if (StringRef(members).ends_with("-"))
        isRead = fail("`-` beside a character class in another");
      std::optional<std::string> inner = isRead ? classBody() : std::nullopt;
      if (!inner || rest.starts_with("-"))
        isRead =
            inner ? fail("`-` beside a character class in another") : false;
      else if (StringRef(*inner).starts_with("[") &&
               !StringRef(*inner).starts_with("[^"))
        out = inner->substr(1, inner->size() - 2);
      else
        others.push_back(std::move(*inner));
    } else if (rest.consume_front("\\")) {
      isRead = escape(/*inClass=*/true);
    } else {
      size_t size = characterSize(rest);
      out += rest.take_front(size);
      rest = rest.drop_front(size);
    }
    members += out;
    out = std::move(before);
    if (!isRead)
      return std::nullopt;
  }
  if (!finishOperand())
    return std::nullopt;
  if (operands.size() == 1 && StringRef(operands[0]).starts_with("["))
    return isNegated ? "[^" + operands[0].substr(1) : operands[0];
  std::string all = "(?:";
  for (size_t i = 0; i + 1 < operands.size(); ++i)
    all += "(?=" + operands[i] + ")";
  all += operands.back() + ")";
  return isNegated ? "(?:(?!" + all + ")(?s:.))" : all;
}

/// A class, whose `[` has been taken.
bool Translator::characterClass() {
  std::optional<std::string> body = classBody();
  if (body)
    out += *body;
  return body.has_value();
}

/// `(?i)` and so on, whose `(?` has been taken: a group up to the end of the
/// one that it stands in, with all of the alternatives that follow.
bool Translator::options() {
  static constexpr struct {
    StringLiteral theirs, ours;
  } kinds[] = {{"i)", "i:"}, {"-i)", "-i:"}, {"m)", "s:"}, {"-m)", "-s:"}};
  for (const auto &[theirs, ours] : kinds)
    if (rest.consume_front(theirs)) {
      ++(groups.empty() ? optionGroups : groups.back().inner);
      out += "(?";
      out += ours;
      return true;
    }
  return false;
}

/// A group, whose `(` has been taken.
bool Translator::group() {
  size_t begin = out.size();
  if (rest.consume_front("?") && options())
    return true;
  groups.push_back({begin, 0});
  if (rest.data()[-1] == '(') {
    // With names, groups without one cannot be referred to.
    out += hasReferences && !hasNames ? "(" : "(?:";
    return true;
  }
  StringRef name = rest.slice(1, rest.find('>'));
  if (rest.starts_with("<") && isName(name)) {
    out += ("(?<" + name + ">").str();
    rest = rest.drop_front(std::min(rest.size(), name.size() + 2));
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
    if (groups.empty())
      return fail("a `)` without a `(`");
    elementBegin = groups.back().begin;
    out.append(groups.pop_back_val().inner + 1, ')');
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
  for (size_t at = 0; at + 1 < rest.size(); ++at)
    if (rest[at] == '\\') {
      char next = rest[++at];
      hasReferences |= (next >= '1' && next <= '9') || next == 'k';
    } else if (rest.substr(at).starts_with("(?<") &&
               !rest.substr(at).starts_with("(?<=") &&
               !rest.substr(at).starts_with("(?<!")) {
      hasNames = true;
    }
  while (!rest.empty())
    if (!element())
      return std::nullopt;
  if (!groups.empty()) {
    fail("a `(` without a `)`");
    return std::nullopt;
  }
  out.append(optionGroups, ')');
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
