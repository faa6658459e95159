//===- Syntax.h - what parsing's steps share -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The three steps of parsing, which alone see ANTLR and its exceptions: the
/// tokens are checked (Parse.cpp), for what the parser must not meet: stray
/// characters, and nesting that would exhaust the stack; the parser runs with a
/// recovery of our own, by statement (Recovery.cpp); its contexts become the
/// nodes of Ast.h (TreeBuilder.cpp).
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_SYNTAX_H
#define ANEC_LIB_FRONTEND_SYNTAX_H

#include "TDSLLexer.h"
#include "TDSLParser.h"
#include "anec/Frontend/Ast.h"

namespace anec::tdsl {

using Tokens = std::vector<antlr4::Token *>;

/// Where tokens stand in the text.
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

/// Whether the token is none of the language's; it is hidden from the parser.
bool isBad(const antlr4::Token *token);

/// Thrown when enough errors have been reported.
struct TooManyErrors {};

/// Reports errors in the user's words, at most one for each statement, and
/// goes on after the statement.
[[nodiscard]] std::shared_ptr<antlr4::ANTLRErrorStrategy>
makeRecovery(const Source &source, const Tokens &tokens, Diagnostics &diags);

/// Makes our tree from that of a text without syntax errors.
[[nodiscard]] std::unique_ptr<ast::File>
buildTree(TDSLParser::FileContext *context, const Source &source,
          Diagnostics &diags);

} // namespace anec::tdsl

#endif // ANEC_LIB_FRONTEND_SYNTAX_H
