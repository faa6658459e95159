//===- Indices.cpp - indices of layers ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The index of a layer is a sum of variables of repeats with constant factors:
/// `f[2 * i + 1]`. Equal indices of a body are one value, so that passes see
/// which weights are the same:
///
///   host @m.repeat0(%i, ...) {
///     %mul = mul(%i, 2)
///     %index = add(%mul, 1)
///     call @f[%index](...)
///
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "lib/Frontend/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "llvm/Support/MathExtras.h"

using namespace anec;
using namespace anec::frontend;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// `lhs` + `factor` * `rhs`; nothing on overflow.
static std::optional<IndexForm> addScaled(IndexForm lhs, const IndexForm &rhs,
                                          int64_t factor) {
  auto addTo = [&](int64_t &sum, int64_t value) {
    int64_t product = 0;
    return !llvm::MulOverflow(value, factor, product) &&
           !llvm::AddOverflow(sum, product, sum);
  };
  if (!addTo(lhs.offset, rhs.offset))
    return std::nullopt;
  for (const auto &[variable, count] : rhs.terms)
    if (!addTo(lhs.terms[variable], count))
      return std::nullopt;
  lhs.terms.remove_if([](const auto &term) { return term.second == 0; });
  lhs.value = nullptr;
  return lhs;
}

/// `lhs op rhs`; nothing on overflow, and when the result is no sum of
/// variables with constant factors.
static std::optional<IndexForm> combineForms(char op, const IndexForm &lhs,
                                             const IndexForm &rhs) {
  switch (op) {
  case '+':
    return addScaled(lhs, rhs, 1);
  case '-':
    return addScaled(lhs, rhs, -1);
  case '*':
    if (rhs.terms.empty())
      return addScaled({}, lhs, rhs.offset);
    if (lhs.terms.empty())
      return addScaled({}, rhs, lhs.offset);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// The form of a computed value.
std::optional<IndexForm> FileLowering::indexFormOf(Value *value,
                                                   unsigned depth) const {
  constexpr unsigned mostDepth = 100;
  IndexForm form;
  form.value = value;
  if (loopVariables.contains(value)) {
    form.terms[value] = 1;
    return form;
  }
  const Op *op = value->definingOp();
  if (!op || value->type != TensorType(DType::Int32) || depth > mostDepth)
    return std::nullopt;
  if (op->is(ops::Const)) {
    form.offset = op->constant(param::val)->asInt();
    return form;
  }
  char sign = op->is(ops::Add)   ? '+'
              : op->is(ops::Sub) ? '-'
              : op->is(ops::Mul) ? '*'
                                 : 0;
  if (!sign)
    return std::nullopt;
  std::optional<IndexForm> lhs = indexFormOf(op->operand(0u), depth + 1);
  std::optional<IndexForm> rhs = indexFormOf(op->operand(1u), depth + 1);
  if (!lhs || !rhs)
    return std::nullopt;
  std::optional<IndexForm> combined = combineForms(sign, *lhs, *rhs);
  if (combined)
    combined->value = value;
  return combined;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// Nothing after an error. Builds no ops for `+`, `-` and `*`.
std::optional<IndexForm> BodyLowering::lowerIndexForm(const ast::Expr *expr) {
  if (llvm::isa<ast::BinaryExpr>(expr))
    return lowerIndexChain(llvm::cast<ast::BinaryExpr>(expr));
  if (auto *negation = llvm::dyn_cast<ast::NegationExpr>(expr)) {
    std::optional<IndexForm> operand = lowerIndexForm(negation->operand);
    return operand ? addScaled({}, *operand, -1) : std::nullopt;
  }
  Term term = lower(expr);
  std::optional<IndexForm> form;
  if (term.kind == Term::Tensor)
    form = file.indexFormOf(term.tensor);
  if (term.kind == Term::Number && term.number.isInteger) {
    form.emplace();
    form->offset = term.number.integer;
  }
  if (!form && !term.isPoison())
    diags.report(expr->range, diag::IndexType, inWords(term, file.dimensions));
  return form;
}

/// Descends the left side in a loop: `i + 1 + ...` can be long.
std::optional<IndexForm>
BodyLowering::lowerIndexChain(const ast::BinaryExpr *expr) {
  llvm::SmallVector<const ast::BinaryExpr *, 4> chain;
  const ast::Expr *leftmost = expr;
  while (auto *binary = llvm::dyn_cast<ast::BinaryExpr>(leftmost)) {
    chain.push_back(binary);
    leftmost = binary->lhs;
  }
  std::optional<IndexForm> result = lowerIndexForm(leftmost);
  for (const ast::BinaryExpr *link : llvm::reverse(chain)) {
    std::optional<IndexForm> rhs = lowerIndexForm(link->rhs);
    if (!result || !rhs)
      return std::nullopt;
    llvm::StringRef op = link->op.text;
    bool isNumber = result->terms.empty() && rhs->terms.empty();
    if (op == "+" || op == "-" || op == "*") {
      result = combineForms(op[0], *result, *rhs);
    } else if (isNumber) {
      Term number = lower(link);
      if (number.isPoison())
        return std::nullopt;
      result.reset();
      if (number.kind == Term::Number && number.number.isInteger) {
        result.emplace();
        result->offset = number.number.integer;
      }
    } else {
      result.reset();
    }
    if (result)
      continue;
    diags.report(link->range, diag::IndexType,
                 isNumber ? "another number"
                          : "`" + op.str() + "` of a variable");
    return std::nullopt;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The first value that a form takes outside of the indices of instances, in
/// the order least, largest; nothing when all are inside.
static std::optional<int64_t>
findOutside(const IndexForm &form,
            const llvm::DenseMap<const Value *, LoopRange> &variables) {
  int64_t least = form.offset, largest = form.offset;
  bool overflows = false;
  for (const auto &[variable, factor] : form.terms) {
    LoopRange range = variables.lookup(variable);
    int64_t atFirst = 0, atLast = 0;
    overflows |= llvm::MulOverflow(factor, range.first, atFirst);
    overflows |= llvm::MulOverflow(factor, range.last, atLast);
    overflows |= llvm::AddOverflow(least, std::min(atFirst, atLast), least);
    overflows |= llvm::AddOverflow(largest, std::max(atFirst, atLast), largest);
  }
  // Ops that compute it have int32 values.
  bool large = llvm::any_of(form.terms, [](const auto &term) {
    const auto &[variable, factor] = term;
    return factor < -INT32_MAX || factor > INT32_MAX;
  });
  if (overflows || large || form.offset < -INT32_MAX)
    return INT64_MAX;
  if (least < 0)
    return least;
  return largest > INT32_MAX ? std::optional(largest) : std::nullopt;
}

/// The value of a form, which has variables: an existing one, or new ops.
Value *BodyLowering::buildIndex(const IndexForm &form) {
  std::vector<std::pair<Value *, int64_t>> key(form.terms.begin(),
                                               form.terms.end());
  llvm::sort(key);
  key.emplace_back(nullptr, form.offset);
  Value *&index = file.indices[{function, std::move(key)}];
  if (index)
    return index;
  if (form.value)
    return index = form.value;
  auto constant = [&](int64_t number) {
    return builder->build(ops::Const, {},
                          {{param::val, Constant::int32(number)}});
  };
  Value *sum = nullptr;
  for (const auto &[variable, factor] : form.terms) {
    Value *part = variable;
    if (factor != 1)
      part =
          builder->build(ops::Mul, {variable, constant(factor)}, {}, "index");
    sum = sum ? builder->build(ops::Add, {sum, part}, {}, "index") : part;
  }
  if (form.offset != 0)
    sum = builder->build(ops::Add, {sum, constant(form.offset)}, {}, "index");
  return index = sum;
}

Term BodyLowering::lowerIndex(const ast::Expr *expr) {
  std::optional<IndexForm> form = lowerIndexForm(expr);
  if (!form)
    return {};
  if (std::optional<int64_t> outside = findOutside(*form, file.loopVariables)) {
    diags.report(expr->range, diag::IndexRange, *outside);
    return {};
  }
  if (form->terms.empty())
    return Term::ofNumber(Number::ofInteger(form->offset), expr->range);
  builder->setRange(expr->range);
  return Term::ofTensor(buildIndex(*form), expr->range);
}
