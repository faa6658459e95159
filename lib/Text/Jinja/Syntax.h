//===- Syntax.h - template programs as trees --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The language of chat templates: jinja2 with the settings of transformers.
/// trim_blocks and lstrip_blocks are on, loops have `break` and `continue`,
/// and `generation` marks what an assistant says.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_SYNTAX_H
#define ANEC_LIB_TEXT_JINJA_SYNTAX_H

#include "Value.h"
#include <memory>
#include <optional>

namespace anec::jinja {

/// What is wrong with a program, and in which line.
struct TemplateError {
  std::string text;
  unsigned line = 0;
  /// The program has called raise_exception.
  bool isRaised = false;

  explicit operator bool() const { return !text.empty(); }
};

struct Token {
  enum class Kind : uint8_t {
    Data,       ///< outside of tags
    Begin,      ///< {{
    End,        ///< }}
    BlockBegin, ///< {%
    BlockEnd,   ///< %}
    Name,
    String,
    Integer,
    Float,
    Operator,
    Finish ///< after everything
  };
  Kind kind;
  std::string text;
  unsigned line = 0;
};

std::vector<Token> tokenize(llvm::StringRef program, TemplateError &error);

enum class Operator : uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Remainder,
  Power,
  Equal,
  Unequal,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  In,
  NotIn
};

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Expression {
  enum class Kind : uint8_t {
    Literal,
    NotFinite, ///< a literal with an inf or a nan, whose use is an error
    Name,      ///< `text`
    List,      ///< of `items`
    Tuple,
    Dict,      ///< of `items`, keys and values in turns
    Attribute, ///< items[0].text
    Index,     ///< items[0][items[1]]
    Slice,     ///< items[0]:items[1]:items[2], each of which can be null
    Call,      ///< items[0](items[1]...)
    Filter,    ///< items[0] | text(items[1]...); null in a `filter` block
    Test,      ///< items[0] is text(items[1]...)
    Not,
    Negative,
    Positive,
    And,
    Or,
    Binary,  ///< items[0] op items[1]
    Concat,  ///< of `items`
    Compare, ///< items[0] ops[0] items[1] ops[1] items[2]...
    Choice,  ///< items[1] if items[0] else items[2], which can be null
    Member   ///< `text`.`member` as a target: of a namespace
  };
  Kind kind;
  Operator op{};
  unsigned height = 0; ///< of the tree
  unsigned line = 0;
  std::string text, member;
  Value literal;
  std::vector<ExpressionPtr> items;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr moreItems, moreNamed; ///< *items and **named
  std::vector<Operator> ops;
};

struct Statement {
  enum class Kind : uint8_t {
    Data,       ///< `text`
    Output,     ///< `value`
    If,         ///< `value`, `body`, `otherwise`
    For,        ///< `targets[0]` in `value` if `condition`
    Set,        ///< `targets[0]` to `value`
    SetBody,    ///< `targets[0]` to `body` through the filters `value`
    With,       ///< `targets` are `values`
    Filter,     ///< `body` through the filters `value`
    Macro,      ///< `text`, with `names` and `defaults`
    Call,       ///< `value`, whose caller is `names`, `defaults` and `body`
    Block,      ///< `text`
    Generation, ///< `body` of the assistant
    Scope,      ///< `body`
    Evaluate,   ///< `value`, which is not printed
    Load,       ///< `text`: include, import, extends
    Break,
    Continue
  };
  Kind kind;
  bool isRecursive = false, isScoped = false;
  /// What a macro uses of what it can be given.
  bool usesVarargs = false, usesKwargs = false, usesCaller = false;
  unsigned line = 0;
  std::string text;
  std::vector<std::string> names;
  std::vector<ExpressionPtr> defaults; ///< of the last names
  std::vector<ExpressionPtr> targets, values;
  ExpressionPtr value, condition;
  std::vector<Statement> body, otherwise;
};

/// Nothing, with `error` set, if `program` is no program.
std::optional<std::vector<Statement>> parse(llvm::StringRef program,
                                            TemplateError &error);

/// Replaces constant expressions with their values. Sets `error` for what no
/// program can have.
void foldConstants(std::vector<Statement> &program, TemplateError &error);

/// What a program is run with.
struct Inputs {
  std::vector<std::pair<std::string, Value>> variables;
  /// Seconds and the rest of them as microseconds, in local time.
  int64_t seconds = 0, microseconds = 0;
};

/// What `program` prints.
std::optional<std::string> run(const std::vector<Statement> &program,
                               const Inputs &inputs, TemplateError &error);

/// The value of a JSON text that is known to be valid.
Value valueOfJson(llvm::StringRef json);

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_SYNTAX_H
