//===- Syntax.h - template programs as trees --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The language of chat templates: Jinja with the settings of transformers.
/// trim_blocks and lstrip_blocks are on, and loops have `break` and `continue`.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_SYNTAX_H
#define ANEC_LIB_TEXT_JINJA_SYNTAX_H

#include "Value.h"
#include <optional>

namespace anec::jinja {

/// What is wrong with a program, and where.
struct TemplateError {
  std::string text;
  size_t offset = 0;
  /// The program has called raise_exception.
  bool isRaised = false;

  explicit operator bool() const { return !text.empty(); }
};

struct Token {
  enum class Kind : uint8_t {
    Text,       ///< outside of tags
    Begin,      ///< {{
    End,        ///< }}
    BlockBegin, ///< {%
    BlockEnd,   ///< %}
    Name,
    String,
    Integer,
    Number,
    Operator,
    Finish ///< after everything
  };
  Kind kind;
  std::string text;
  size_t offset = 0;
};

std::vector<Token> tokenize(llvm::StringRef program, TemplateError &error);

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Expression {
  enum class Kind : uint8_t {
    Literal,
    Name,      ///< `text`
    List,      ///< of `items`
    Object,    ///< of `items`, keys and values in turns
    Attribute, ///< items[0].text
    Index,     ///< items[0][items[1]]
    Slice,     ///< items[0][items[1]:items[2]:items[3]], which can be null
    Call,      ///< items[0](items[1]...)
    Filter,    ///< items[0] | text(items[1]...)
    Test,      ///< items[0] is text(items[1]...)
    Not,
    Negate,
    And,
    Or,
    Binary, ///< items[0] text items[1], comparisons too
    Choice  ///< items[1] if items[0] else items[2], which can be null
  };
  Kind kind;
  unsigned height = 0; ///< of the tree of operators
  size_t offset = 0;
  std::string text;
  Value literal;
  std::vector<ExpressionPtr> items;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
};

struct Statement {
  enum class Kind : uint8_t {
    Text,   ///< `text`
    Output, ///< `value`
    If,     ///< `value`, `body`, `otherwise`
    For,    ///< `names` in `value` if `condition`
    Set,    ///< `names`, or the member `text` of names[0], to `value` or `body`
    Macro,  ///< `text`, with parameters `names` and `defaults`
    Break,
    Continue
  };
  Kind kind;
  size_t offset = 0;
  std::string text;
  std::vector<std::string> names;
  std::vector<ExpressionPtr> defaults; ///< null for none
  ExpressionPtr value, condition;
  std::vector<Statement> body, otherwise;
};

/// Nothing, with `error` set, if `program` is no program.
std::optional<std::vector<Statement>> parse(llvm::StringRef program,
                                            TemplateError &error);

/// What `program` prints with these variables.
std::optional<std::string> run(const std::vector<Statement> &program,
                               Members variables, TemplateError &error);

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_SYNTAX_H
