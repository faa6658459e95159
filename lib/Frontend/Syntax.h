//===- Syntax.h - shared by the steps of parsing ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The three steps of parsing, the only code that uses ANTLR and its
/// exceptions: the tokens are checked for stray characters and for nesting that
/// would exhaust the stack (Parse.cpp); the parser runs with its own error
/// recovery, by statement (Recovery.cpp); its contexts become the nodes of
/// Ast.h (TreeBuilder.cpp).
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_SYNTAX_H
#define ANEC_LIB_FRONTEND_SYNTAX_H

#include "TDSLLexer.h"
#include "TDSLParser.h"
#include "lib/Frontend/Ast.h"

namespace anec::tdsl {

using Tokens = std::vector<antlr4::Token *>;

/// Maps tokens to positions in the text.
struct Source {
  llvm::StringRef text;

  llvm::StringRef spelling(const antlr4::Token *token) const {
    if (token->getType() == antlr4::Token::EOF)
      return text.substr(text.size());
    return text.slice(token->getStartIndex(), token->getStopIndex() + 1);
  }
  ast::Name name(const antlr4::Token *token) const { return {spelling(token)}; }
  SourceRange range(const antlr4::Token *token) const {
    return name(token).range();
  }
  SourceRange range(const antlr4::Token *first,
                    const antlr4::Token *last) const {
    return {range(first).Start, range(last).End};
  }
  SourceRange range(const antlr4::ParserRuleContext *context) const {
    return range(context->start, context->stop);
  }
};

/// Whether the token is not part of the language; it is hidden from the parser.
bool isBad(const antlr4::Token *token);

/// Thrown when enough errors have been reported.
struct TooManyErrors {};

/// Reports errors in terms of the language, at most one for each statement, and
/// continues after the statement.
[[nodiscard]] std::shared_ptr<antlr4::ANTLRErrorStrategy>
makeRecovery(const Source &source, const Tokens &tokens, Diagnostics &diags);

/// Builds the tree of Ast.h from the parse tree of a text without syntax
/// errors.
[[nodiscard]] std::unique_ptr<ast::File>
buildTree(TDSLParser::FileContext *context, const Source &source,
          Diagnostics &diags);

} // namespace anec::tdsl

#endif // ANEC_LIB_FRONTEND_SYNTAX_H
