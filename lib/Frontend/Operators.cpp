//===- Operators.cpp - arithmetic, comparisons, logic ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Operators of numbers are evaluated; those with a tensor become ops, and a
/// literal beside a tensor takes its element type.
///
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "lib/Frontend/Diags.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Select.h"

using namespace anec;
using namespace anec::frontend;
using llvm::dyn_cast;

namespace {
struct Operator {
  enum Class : uint8_t { Arithmetic, Product, Power, Comparison, Logic };
  llvm::StringLiteral spelling;
  Class kind;
  const OpDef *op;
};
} // namespace

static constexpr Operator operators[] = {
    {"+", Operator::Arithmetic, &ops::Add},
    {"-", Operator::Arithmetic, &ops::Sub},
    {"*", Operator::Arithmetic, &ops::Mul},
    {"/", Operator::Arithmetic, &ops::RealDiv},
    {"@", Operator::Product, &ops::Matmul},
    {"**", Operator::Power, &ops::Pow},
    {"<", Operator::Comparison, &ops::Less},
    {"<=", Operator::Comparison, &ops::LessEqual},
    {">", Operator::Comparison, &ops::Greater},
    {">=", Operator::Comparison, &ops::GreaterEqual},
    {"==", Operator::Comparison, &ops::Equal},
    {"!=", Operator::Comparison, &ops::NotEqual},
    {"and", Operator::Logic, &ops::LogicalAnd},
    {"or", Operator::Logic, &ops::LogicalOr},
};

static const Operator &findOperator(llvm::StringRef spelling) {
  return *llvm::find_if(
      operators, [&](const Operator &row) { return row.spelling == spelling; });
}

/// Descends the left side in a loop: `a + b + ...` can be long.
Term BodyLowering::lowerChain(const ast::BinaryExpr *expr) {
  llvm::SmallVector<const ast::BinaryExpr *, 8> chain;
  const ast::Expr *leftmost = expr;
  while (auto *binary = dyn_cast<ast::BinaryExpr>(leftmost)) {
    chain.push_back(binary);
    leftmost = binary->lhs;
  }
  Term result = lower(leftmost);
  for (const ast::BinaryExpr *link : llvm::reverse(chain)) {
    Term rhs = lower(link->rhs);
    result = lowerBinary(link, result, rhs);
    result.range = link->range;
  }
  return result;
}

/// Whether `term` can be an operand beside a `partner` that is a tensor or not.
static bool isOperand(const Term &term, const Operator &op, bool tensorBeside) {
  if (term.kind == Term::Tensor)
    return true;
  switch (op.kind) {
  case Operator::Product:
    return false;
  case Operator::Logic:
    return term.kind == Term::Boolean;
  default:
    return term.kind == Term::Number ||
           (tensorBeside && term.kind == Term::List && isLiteral(term));
  }
}

/// Warns of a vector that could be meant along either axis of `whole`: as in
/// NumPy, it goes along the last one.
void BodyLowering::checkAlongAxis(const Term &vector, const Value &other) {
  const TensorType &whole = other.type;
  if (vector.kind != Term::Tensor || vector.tensor->type.rank() != 1 ||
      whole.rank() < 2)
    return;
  int64_t extent = vector.tensor->type.shape[0];
  llvm::ArrayRef<int64_t> others =
      llvm::ArrayRef<int64_t>(whole.shape).drop_back();
  if (extent == 1 || whole.shape.back() != extent ||
      !llvm::is_contained(others, extent))
    return;
  diags.report(vector.range, diag::VectorAlongAxis,
               file.dimensions.describe(*vector.tensor),
               file.dimensions.describe(other), shapeToString({extent, 1}),
               shapeToString({1, extent}));
}

Term BodyLowering::lowerBinary(const ast::BinaryExpr *expr, const Term &lhs,
                               const Term &rhs) {
  const Operator &op = findOperator(expr->op.text);
  bool ok = true;
  for (const Term *term : {&lhs, &rhs}) {
    const Term &partner = term == &lhs ? rhs : lhs;
    if (term->isPoison() ||
        isOperand(*term, op, partner.kind == Term::Tensor)) {
      ok &= !term->isPoison();
      continue;
    }
    if (partner.isPoison())
      return {};
    auto kind = op.kind == Operator::Product ? diag::MatmulOperand
                : op.kind == Operator::Logic ? diag::LogicOperand
                                             : diag::ArithmeticOperand;
    diags.report(term->range, kind, op.spelling,
                 inWords(*term, file.dimensions));
    ok = false;
  }
  if (!ok)
    return {};
  if (lhs.kind == Term::Number && rhs.kind == Term::Number)
    return lowerNumbers(expr, lhs.number, rhs.number);
  if (lhs.kind == Term::Boolean && rhs.kind == Term::Boolean) {
    Term term{Term::Boolean, expr->range};
    term.boolean = op.op == &ops::LogicalAnd ? lhs.boolean && rhs.boolean
                                             : lhs.boolean || rhs.boolean;
    return term;
  }
  if (op.kind == Operator::Power)
    return lowerPower(expr, lhs, rhs);
  // A literal gets the element type of the other operand, a tensor.
  Value *x = lhs.tensor, *y = rhs.tensor;
  if (!x)
    x = literal(lhs, y->type.dtype);
  if (!y)
    y = literal(rhs, x->type.dtype);
  if (!x || !y)
    return {};
  if (op.kind != Operator::Product) {
    checkAlongAxis(lhs, *y);
    checkAlongAxis(rhs, *x);
  }
  return build(*op.op, {x, y}, {}, expr->range, op.spelling);
}

/// -1, 0 or 1.
static int compare(const Number &lhs, const Number &rhs) {
  if (lhs.isInteger && rhs.isInteger)
    return (lhs.integer > rhs.integer) - (lhs.integer < rhs.integer);
  double a = lhs.asDouble(), b = rhs.asDouble();
  return (a > b) - (a < b);
}

namespace {
ANEC_ENUM(Comparison, (Less, "<"), (LessEqual, "<="), (Greater, ">"),
          (GreaterEqual, ">="), (Equal, "=="), (NotEqual, "!="))
} // namespace

static bool holds(Comparison comparison, int order) {
  switch (comparison) {
  case Comparison::Less:
    return order < 0;
  case Comparison::LessEqual:
    return order <= 0;
  case Comparison::Greater:
    return order > 0;
  case Comparison::GreaterEqual:
    return order >= 0;
  case Comparison::Equal:
    return order == 0;
  case Comparison::NotEqual:
    return order != 0;
  }
  llvm_unreachable("an unknown operator");
}

Term BodyLowering::lowerNumbers(const ast::BinaryExpr *expr, const Number &lhs,
                                const Number &rhs) {
  llvm::StringRef op = expr->op.text;
  if (findOperator(op).kind != Operator::Comparison) {
    auto number =
        combine(*parseWord<Arithmetic>(op), lhs, rhs, expr->range, diags);
    return number ? Term::ofNumber(*number, expr->range) : Term();
  }
  int order = compare(lhs, rhs);
  Term term{Term::Boolean, expr->range};
  term.boolean = holds(*parseWord<Comparison>(op), order);
  return term;
}

/// Small powers are products, which are exact for negative numbers too:
/// x ** 2 == x x, x ** 3 == x x x, x ** 4 == (x x) (x x).
Term BodyLowering::lowerPower(const ast::BinaryExpr *expr, const Term &lhs,
                              const Term &rhs) {
  auto multiply = [&](Value *x, Value *y) {
    return build(ops::Mul, {x, y}, {}, expr->range, expr->op.text);
  };
  Value *x = lhs.tensor, *y = rhs.tensor;
  bool small = rhs.kind == Term::Number && rhs.number.isInteger &&
               rhs.number.integer >= 1 && rhs.number.integer <= 4;
  if (small) {
    if (rhs.number.integer == 1)
      return lhs;
    Term square = multiply(x, x);
    if (square.isPoison() || rhs.number.integer == 2)
      return square;
    return multiply(square.tensor, rhs.number.integer == 3 ? x : square.tensor);
  }
  if (!x)
    x = literal(lhs, y->type.dtype);
  if (!y)
    y = literal(rhs, x->type.dtype);
  return x && y ? build(ops::Pow, {x, y}, {}, expr->range, expr->op.text)
                : Term();
}

Term BodyLowering::lowerNegation(const ast::NegationExpr *expr) {
  Term operand = lower(expr->operand);
  ast::Name minus{llvm::StringRef(expr->range.Start.getPointer(), 1)};
  if (operand.kind == Term::Number && !operand.number.isInteger)
    return Term::ofNumber(Number::ofDecimal(-operand.number.decimal),
                          expr->range);
  if (operand.kind == Term::Number) {
    auto number = combine(Arithmetic::Sub, Number::ofInteger(0), operand.number,
                          expr->range, diags);
    return number ? Term::ofNumber(*number, expr->range) : Term();
  }
  if (operand.kind != Term::Tensor) {
    if (!operand.isPoison())
      diags.report(operand.range, diag::ArithmeticOperand, minus.text,
                   inWords(operand, file.dimensions));
    return {};
  }
  Term one = Term::ofNumber(Number::ofInteger(-1), expr->range);
  Value *factor = literal(one, operand.tensor->type.dtype);
  if (!factor)
    return {};
  return build(ops::Mul, {operand.tensor, factor}, {}, expr->range, minus.text);
}

Term BodyLowering::lowerNot(const ast::NotExpr *expr) {
  Term operand = lower(expr->operand);
  if (operand.kind == Term::Tensor)
    return build(ops::LogicalNot, {operand.tensor}, {}, expr->range, "not");
  if (operand.kind == Term::Boolean) {
    operand.boolean = !operand.boolean;
    operand.range = expr->range;
    return operand;
  }
  if (!operand.isPoison())
    diags.report(operand.range, diag::LogicOperand, "not",
                 inWords(operand, file.dimensions));
  return {};
}
