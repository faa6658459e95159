//===- Parser.h - template programs from their tokens -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_PARSER_H
#define ANEC_LIB_TEXT_JINJA_PARSER_H

#include "Syntax.h"
#include "llvm/ADT/Twine.h"

namespace anec::jinja {

/// The grammar is jinja2's. After an error, everything returns at once.
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
  bool isOperator(llvm::StringRef text) const { return is(T::Operator, text); }
  bool isWord(llvm::StringRef text) const { return is(T::Name, text); }
  bool accept(T kind, llvm::StringRef text) {
    bool found = is(kind, text);
    next += found;
    return found;
  }
  bool operation(llvm::StringRef text) { return accept(T::Operator, text); }
  bool word(llvm::StringRef text) { return accept(T::Name, text); }
  void failAt(unsigned line, const llvm::Twine &text) {
    if (!error)
      error = {text.str(), line};
    next = tokens.size() - 1;
  }
  void fail(const llvm::Twine &text) { failAt(token().line, text); }
  void expect(T kind, llvm::StringRef text) {
    if (!accept(kind, text))
      fail("`" + text + "` is expected, and there is `" + token().text + "`");
  }
  std::string name();
  ExpressionPtr make(E kind, unsigned line, std::string text = "");
  void add(Expression &to, ExpressionPtr item);
  template <typename... Items>
  ExpressionPtr of(E kind, unsigned line, Items... items) {
    ExpressionPtr made = make(kind, line);
    (add(*made, std::move(items)), ...);
    return made;
  }
  ExpressionPtr binary(Operator op, unsigned line, ExpressionPtr lhs,
                       ExpressionPtr rhs) {
    ExpressionPtr made = of(E::Binary, line, std::move(lhs), std::move(rhs));
    made->op = op;
    return made;
  }

  static constexpr unsigned highestTree = 200;

  // Expressions, from the weakest operator to the strongest.
  ExpressionPtr expression(bool hasChoice = true);
  ExpressionPtr choice();
  ExpressionPtr disjunction();
  ExpressionPtr conjunction();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool filters = true);
  ExpressionPtr primary(bool isTarget = false);
  ExpressionPtr postfix(ExpressionPtr value);
  ExpressionPtr filters(ExpressionPtr value);
  ExpressionPtr number();
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr subscript(ExpressionPtr value);
  ExpressionPtr subscribed();
  ExpressionPtr test(ExpressionPtr value);
  ExpressionPtr filterChain(ExpressionPtr value, bool begins);
  ExpressionPtr called(ExpressionPtr value);
  ExpressionPtr tuple(bool isTarget, bool hasChoice, bool isInParentheses,
                      llvm::StringRef end = "");
  void arguments(Expression &call);
  void checkRow(const Expression &use);
  ExpressionPtr target(llvm::StringRef end = "", bool isName = false);
  bool checkTarget(const Expression &target);

  // Statements.
  std::vector<Statement> body(std::initializer_list<llvm::StringRef> ends);
  std::vector<Statement> blockBody(std::initializer_list<llvm::StringRef> ends);
  std::vector<Statement> closedBody(llvm::StringRef end);
  Statement block();
  void conditional(Statement &made);
  void loop(Statement &made);
  void assignment(Statement &made);
  void with(Statement &made);
  void signature(Statement &made);
  void functionBody(Statement &made, llvm::StringRef end);
  void macro(Statement &made);
  void callBlock(Statement &made);
  void namedBlock(Statement &made);
  void load(Statement &made, llvm::StringRef kind);
  void note(const Expression &name);

  std::vector<Token> tokens;
  TemplateError &error;
  size_t next = 0;
  unsigned depth = 0, loops = 0;
  /// Names of filters and tests are looked up when they are used, and not at
  /// once: in conditions and what they guard.
  bool isGuarded = false;
  /// Those that are not known, and not guarded so far.
  std::vector<TemplateError> unknown;
  std::vector<std::string> blocks;
  /// The macros around, to note what they use.
  std::vector<Statement *> macros;

  friend struct Unguarded;
};

/// Counts how deep a program is nested.
struct Nesting {
  explicit Nesting(unsigned &depth) : depth(++depth) {}
  ~Nesting() { --depth; }
  static constexpr unsigned most = 100;
  unsigned &depth;
};

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_PARSER_H
