//===- Lexer.cpp - the tokens of MIL text ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Lexer.h"
#include "lib/Support/Diags.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// Apple's tools replace other characters; `@` comes from their own names.
static bool isNameCharacter(char c) {
  return isAlnum(c) || c == '_' || c == '@';
}

void Lexer::skipSpace() {
  while (at != end) {
    if (isSpace(*at)) {
      ++at;
    } else if (*at == '/' && end - at > 1 && at[1] == '/') {
      while (at != end && *at != '\n')
        ++at;
    } else {
      return;
    }
  }
}

char Lexer::peekBehind() {
  skipSpace();
  return at == end ? 0 : *at;
}

void Lexer::next() {
  skipSpace();
  const char *begin = at;
  if (at == end) {
    token = {Token::End, StringRef(at, 0)};
    return;
  }
  char c = *at;
  if (isAlpha(c) || c == '_') {
    while (at != end && isNameCharacter(*at))
      ++at;
    token = {Token::Identifier, StringRef(begin, at - begin)};
    return;
  }
  bool arrow = c == '-' && end - at > 1 && at[1] == '>';
  if (isDigit(c) || (!arrow && (c == '-' || c == '+' || c == '.')))
    return lexNumber();
  if (c == '"')
    return lexString();
  at += arrow ? 2 : 1;
  // A multi-byte character is shown completely.
  while (at != end && (*at & 0xC0) == 0x80)
    ++at;
  token = {arrow ? Token::Arrow : Token::Punctuation,
           StringRef(begin, at - begin)};
}

/// Consumes all characters that can belong to a number. The reader of the
/// value, which knows the expected type, checks whether it is one.
void Lexer::lexNumber() {
  const char *begin = at++;
  auto isExponentSign = [&] {
    if (*at != '+' && *at != '-')
      return false;
    bool hex = StringRef(begin, at - begin).contains_insensitive("0x");
    char before = toLower(at[-1]);
    return hex ? before == 'p' : before == 'e';
  };
  while (at != end && (isAlnum(*at) || *at == '.' || isExponentSign()))
    ++at;
  token = {Token::Number, StringRef(begin, at - begin)};
}

void Lexer::lexString() {
  const char *begin = at++;
  while (at != end && *at != '"' && *at != '\n')
    at += *at == '\\' && end - at > 1 ? 2 : 1;
  if (at == end || *at == '\n') {
    token = {Token::Broken, StringRef(begin, at - begin)};
    SMLoc start = SMLoc::getFromPointer(begin);
    diags.report({start, SMLoc::getFromPointer(begin + 1)},
                 diag::UnterminatedString);
    return;
  }
  ++at;
  token = {Token::String, StringRef(begin, at - begin)};
}

std::string mil::unescape(StringRef quoted) {
  quoted = quoted.drop_front().drop_back();
  std::string text;
  for (size_t at = 0; at < quoted.size(); ++at) {
    if (quoted[at] != '\\' || at + 1 == quoted.size()) {
      text += quoted[at];
      continue;
    }
    char escaped = quoted[++at];
    text += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
  }
  return text;
}
