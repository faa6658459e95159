//===- Ast.h - the syntax tree of a .tdsl file -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The syntax tree, which parsing creates and lowering reads: the source as
/// written, before semantic analysis. Nodes live in the tree's arena and have
/// no destructors; names and ranges point into the source text, which must
/// outlive the tree.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_AST_H
#define ANEC_LIB_FRONTEND_AST_H

#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include <vector>

namespace anec::ast {

/// An identifier or other text, with its location.
struct Name {
  llvm::StringRef text;

  SourceRange range() const {
    return {llvm::SMLoc::getFromPointer(text.begin()),
            llvm::SMLoc::getFromPointer(text.end())};
  }
  /// The text of a range.
  static llvm::StringRef textOf(SourceRange range) {
    return {range.Start.getPointer(),
            size_t(range.End.getPointer() - range.Start.getPointer())};
  }
};

struct Expr {
  enum Kind {
    Integer,
    Decimal,
    String,
    Boolean,
    List,
    Reference,
    Part,
    Typed,
    Negation,
    Not,
    Binary
  };
  Kind kind;
  SourceRange range; ///< without the parentheses around it
};

struct IntegerExpr : Expr {
  int64_t value;
  static bool classof(const Expr *expr) { return expr->kind == Integer; }
};

struct DecimalExpr : Expr {
  double value;
  static bool classof(const Expr *expr) { return expr->kind == Decimal; }
};

struct StringExpr : Expr {
  llvm::StringRef value; ///< without the quotes
  static bool classof(const Expr *expr) { return expr->kind == String; }
};

struct BooleanExpr : Expr {
  bool value;
  static bool classof(const Expr *expr) { return expr->kind == Boolean; }
};

struct ListExpr : Expr {
  llvm::ArrayRef<Expr *> elements;
  static bool classof(const Expr *expr) { return expr->kind == List; }
};

struct Argument {
  Name parameter; ///< empty when the argument is positional
  Expr *value;
};

/// `x`, `f(x, axis = 0)` or `attention[i](x)`.
struct ReferenceExpr : Expr {
  Name name;
  Expr *index; ///< null when there is none
  bool isCall;
  llvm::ArrayRef<Argument> arguments;
  static bool classof(const Expr *expr) { return expr->kind == Reference; }
};

/// One axis of `x[2, 1:, :]`.
struct Position {
  SourceRange range;
  Expr *begin, *end; ///< null when omitted
  bool isRange;      ///< otherwise `begin` is an index, whose axis is dropped
};

/// `x[0:4]`: a part of a tensor or of a list.
struct PartExpr : Expr {
  Expr *value;
  llvm::ArrayRef<Position> positions;
  static bool classof(const Expr *expr) { return expr->kind == Part; }
};

/// `0.5: fp16`.
struct TypedExpr : Expr {
  Expr *value;
  Name dtype;
  static bool classof(const Expr *expr) { return expr->kind == Typed; }
};

struct NegationExpr : Expr {
  Expr *operand;
  static bool classof(const Expr *expr) { return expr->kind == Negation; }
};

struct NotExpr : Expr {
  Expr *operand;
  static bool classof(const Expr *expr) { return expr->kind == Not; }
};

/// Chains associate to the left, and can be long: walk `lhs` in a loop.
struct BinaryExpr : Expr {
  Name op; ///< `+`, `-`, `*`, `/`, `@`, `**`, a comparison, `and` or `or`
  Expr *lhs, *rhs;
  static bool classof(const Expr *expr) { return expr->kind == Binary; }
};

/// `fp16[dim, seq]`.
struct Type {
  SourceRange range;
  Name dtype;
  llvm::ArrayRef<Expr *> extents; ///< empty for a scalar
};

struct Statement {
  enum Kind { Weight, Let, Repeat, Return };
  Kind kind;
  SourceRange range;
};

/// The weights of one type; a statement can have several.
struct WeightStatement : Statement {
  llvm::ArrayRef<Name> names;
  Type type;
  bool frozen;
  static bool classof(const Statement *s) { return s->kind == Weight; }
};

struct LetStatement : Statement {
  llvm::ArrayRef<Name> names;
  Expr *value;
  bool isConst;
  static bool classof(const Statement *s) { return s->kind == Let; }
};

struct RepeatStatement : Statement {
  Name variable;
  Expr *from, *to;
  llvm::ArrayRef<Statement *> body;
  static bool classof(const Statement *s) { return s->kind == Repeat; }
};

struct ReturnStatement : Statement {
  llvm::ArrayRef<Expr *> values;
  static bool classof(const Statement *s) { return s->kind == Return; }
};

struct Parameter {
  Name name;
  Type type; ///< of a `fn`, empty
};

struct Result {
  Name name; ///< empty when it has none
  Type type;
};

/// A block. A `fn` declares no types and any number of results.
struct FunctionDecl {
  enum Kind { Kernel, Layer, Model, Fn };
  Kind kind;
  Name name;
  llvm::ArrayRef<Parameter> parameters;
  llvm::ArrayRef<Result> results;
  llvm::ArrayRef<Statement *> body;
  SourceRange header; ///< up to the body
  SourceRange closeBrace;
};

struct ConfigEntry {
  Name name;
  Expr *value;
};

struct Import {
  Name path; ///< without the quotes
};

/// `const NAME = value;` outside of blocks.
struct ConstantDecl {
  Name name;
  Expr *value;
};

/// A file: its blocks in source order.
struct File {
  std::vector<Import> imports;
  std::vector<ConfigEntry> config;
  std::vector<ConstantDecl> constants;
  std::vector<FunctionDecl> functions;

  template <typename T>
  T *make(T node) {
    return new (arena.Allocate<T>()) T(std::move(node));
  }
  template <typename T>
  llvm::ArrayRef<T> copy(const std::vector<T> &nodes) {
    return llvm::ArrayRef<T>(nodes).copy(arena);
  }

private:
  llvm::BumpPtrAllocator arena;
};

} // namespace anec::ast

#endif // ANEC_LIB_FRONTEND_AST_H
