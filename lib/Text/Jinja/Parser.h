//===- Parser.h - template programs from their tokens -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_PARSER_H
#define ANEC_LIB_TEXT_JINJA_PARSER_H

#include "Syntax.h"
#include "llvm/ADT/Twine.h"

namespace anec::jinja {

class Parser {
public:
  Parser(std::vector<Token> tokens, TemplateError &error)
      : tokens(std::move(tokens)), error(error) {}

  std::vector<Statement> program();

private:
  using E = Expression::Kind;
  using S = Statement::Kind;
  using T = Token::Kind;

  const Token &token(size_t ahead = 0) const {
    return tokens[std::min(next + ahead, tokens.size() - 1)];
  }
  bool is(T kind, llvm::StringRef text, size_t ahead = 0) const {
    return token(ahead).kind == kind && token(ahead).text == text;
  }
  bool isName(llvm::StringRef text) const { return is(T::Name, text); }
  bool accept(T kind, llvm::StringRef text) {
    bool found = is(kind, text);
    next += found;
    return found;
  }
  bool operation(llvm::StringRef text) { return accept(T::Operator, text); }
  bool word(llvm::StringRef text) { return accept(T::Name, text); }
  void fail(const llvm::Twine &text) {
    if (!error)
      error = {text.str(), token().offset};
    next = tokens.size() - 1;
  }
  void expect(T kind, llvm::StringRef text) {
    if (!accept(kind, text))
      fail("`" + text + "` is expected, and there is `" + token().text + "`");
  }
  std::string name();
  ExpressionPtr make(E kind, llvm::StringRef text = "");
  template <typename... Items>
  ExpressionPtr make(E kind, llvm::StringRef text, Items... items) {
    ExpressionPtr made = make(kind, text);
    (made->items.push_back(std::move(items)), ...);
    for (const ExpressionPtr &item : made->items)
      made->height = std::max(made->height, item ? item->height + 1 : 0);
    if (made->height > longestChain)
      fail("an expression has too many parts");
    return made;
  }

  static constexpr unsigned longestChain = 100;

  // Expressions, from the weakest operator to the strongest.
  ExpressionPtr expression(bool hasChoice = true);
  ExpressionPtr disjunction();
  ExpressionPtr conjunction();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr chain(unsigned level);
  ExpressionPtr power();
  ExpressionPtr unary(bool filters = true);
  ExpressionPtr primary();
  ExpressionPtr postfix(ExpressionPtr value);
  ExpressionPtr filters(ExpressionPtr value);
  ExpressionPtr list(llvm::StringRef close);
  ExpressionPtr object();
  ExpressionPtr subscript(ExpressionPtr value);
  ExpressionPtr test(ExpressionPtr value);
  void arguments(Expression &call);

  // Statements.
  std::vector<Statement> body(std::initializer_list<llvm::StringRef> ends);
  void block(std::vector<Statement> &out);
  void endBlock(llvm::StringRef name);
  Statement conditional();
  Statement loop();
  Statement assignment();
  Statement macro();

  std::vector<Token> tokens;
  TemplateError &error;
  size_t next = 0;
  unsigned depth = 0;
};

/// Counts how deep a program is nested.
struct Nesting {
  explicit Nesting(unsigned &depth) : depth(++depth) {}
  ~Nesting() { --depth; }
  static constexpr unsigned most = 200;
  unsigned &depth;
};

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_PARSER_H
