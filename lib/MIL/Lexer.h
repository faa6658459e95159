//===- Lexer.h - the tokens of MIL text ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_LEXER_H
#define ANEC_LIB_MIL_LEXER_H

#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

namespace anec::mil {

/// A token is a piece of the text; nothing is copied.
struct Token {
  enum Kind : uint8_t {
    End,
    Identifier, ///< names, and the words `inf`, `nan`, `true`, `false`
    Number,     ///< with its sign
    String,     ///< with its quotes
    Broken,     ///< a string that does not end on its line; already reported
    Arrow,      ///< `->`
    Punctuation ///< any other character, which is `text`
  };
  Kind kind = End;
  llvm::StringRef text;

  bool is(char punctuation) const {
    return kind == Punctuation && text[0] == punctuation;
  }
  bool isWord(llvm::StringRef word) const {
    return kind == Identifier && text == word;
  }
  const char *begin() const { return text.data(); }
  const char *end() const { return text.data() + text.size(); }
  SourceRange range() const {
    return {llvm::SMLoc::getFromPointer(begin()),
            llvm::SMLoc::getFromPointer(end())};
  }
};

/// The characters of a token of kind String.
std::string unescape(llvm::StringRef quoted);

/// Splits text into tokens, with one token of lookahead.
class Lexer {
public:
  Lexer(llvm::StringRef text, Diagnostics &diags)
      : at(text.begin()), end(text.end()), diags(diags) {
    next();
  }

  /// The next token.
  const Token &peek() const { return token; }
  /// The character after `peek()`, skipping spaces and comments; 0 at the end.
  char peekBehind();
  /// Consumes a token.
  Token take() {
    Token taken = token;
    lastEnd = taken.end();
    next();
    return taken;
  }
  bool take(char punctuation) {
    if (!token.is(punctuation))
      return false;
    take();
    return true;
  }
  /// The end of the last consumed token.
  const char *previousEnd() const { return lastEnd; }
  /// The number of bytes after `peek()`.
  size_t bytesLeft() const { return size_t(end - at); }

  /// A place in the text, to which `reset` returns.
  struct Mark {
    const char *at, *lastEnd;
    Token token;
  };
  Mark mark() const { return {at, lastEnd, token}; }
  void reset(const Mark &mark) {
    at = mark.at;
    lastEnd = mark.lastEnd;
    token = mark.token;
  }

private:
  void next();
  void skipSpace();
  void lexNumber();
  void lexString();

  const char *at;
  const char *end;
  const char *lastEnd = nullptr;
  Diagnostics &diags;
  Token token;
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_LEXER_H
