//===- Parts.cpp - parts of tensors and lists -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Lowers `x[2, 1:4]`: a slice, then a squeeze of the axes with an index. The
/// positions are known when compiling.
///
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "lib/Frontend/Diags.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"

using namespace anec;
using namespace anec::frontend;

/// What `position` takes of an axis of `whole`; nothing after an error.
std::optional<Interval>
BodyLowering::lowerPosition(const ast::Position &position, unsigned axis,
                            int64_t extent, const Term &whole) {
  auto bound = [&](const ast::Expr *expr, int64_t omitted) {
    std::optional<int64_t> at = expr ? lowerInteger(expr) : omitted;
    return at && *at < 0 && *at >= -extent ? *at + extent : at;
  };
  std::string has = counted(extent, "element");
  if (!position.isRange) {
    std::optional<int64_t> index = bound(position.begin, 0);
    if (!index)
      return std::nullopt;
    if (*index >= 0 && *index < extent)
      return Interval{*index, *index + 1, true};
    diags.report(position.range, diag::PartIndex, *index, axis,
                 inWords(whole, file.dimensions), has);
    return std::nullopt;
  }
  std::optional<int64_t> begin = bound(position.begin, 0);
  std::optional<int64_t> end = bound(position.end, extent);
  if (!begin || !end)
    return std::nullopt;
  if (*begin >= 0 && *begin < *end && *end <= extent)
    return Interval{*begin, *end, false};
  bool outside = *begin < 0 || *begin > extent || *end < 0 || *end > extent;
  diags.report(position.range, outside ? diag::PartEnd : diag::PartRange,
               ast::Name::textOf(position.range), axis,
               inWords(whole, file.dimensions), has);
  return std::nullopt;
}

Term BodyLowering::partOfList(const ast::PartExpr *expr, const Term &list) {
  if (expr->positions.size() != 1) {
    diags.report(expr->range, diag::PartRank, expr->positions.size(), 1,
                 inWords(list, file.dimensions));
    return {};
  }
  std::optional<Interval> part =
      lowerPosition(expr->positions[0], 0, int64_t(list.elements.size()), list);
  if (!part)
    return {};
  if (part->isDropped) {
    Term element = list.elements[part->begin];
    element.range = expr->range;
    return element;
  }
  Term result{Term::List, expr->range};
  result.elements.assign(list.elements.begin() + part->begin,
                         list.elements.begin() + part->end);
  return result;
}

Term BodyLowering::partOfTensor(const ast::PartExpr *expr, Value *value) {
  Shape shape = value->type.shape, begin(shape.size(), 0), size = shape;
  Term whole = Term::ofTensor(value, expr->value->range);
  if (expr->positions.size() > shape.size()) {
    diags.report(expr->range, diag::PartRank, expr->positions.size(),
                 shape.size(), inWords(whole, file.dimensions));
    return {};
  }
  bool ok = true;
  Shape dropped;
  for (auto [axis, position] : llvm::enumerate(expr->positions)) {
    std::optional<Interval> part =
        lowerPosition(position, axis, shape[axis], whole);
    ok &= part.has_value();
    if (!part)
      continue;
    begin[axis] = part->begin;
    size[axis] = part->end - part->begin;
    if (part->isDropped)
      dropped.push_back(int64_t(axis));
  }
  if (!ok)
    return {};
  llvm::StringRef name = "[]";
  if (size != shape) {
    whole = build(ops::SliceBySize, {value},
                  {Constant::int32s(begin), Constant::int32s(size)},
                  expr->range, name);
    if (whole.isPoison())
      return {};
  }
  whole.range = expr->range;
  if (dropped.empty())
    return whole;
  // The sum of one element: a squeeze to a scalar is nothing that engines take.
  DType dtype = value->type.dtype;
  if (dropped.size() == shape.size() &&
      (isFloat(dtype) || dtype == DType::Int32))
    return build(ops::ReduceSum, {whole.tensor}, {}, expr->range, name);
  return build(ops::Squeeze, {whole.tensor}, {Constant::int32s(dropped)},
               expr->range, name);
}

/// Descends in a loop: `x[0][1]...` can be long.
Term BodyLowering::lowerPart(const ast::PartExpr *expr) {
  llvm::SmallVector<const ast::PartExpr *, 2> chain;
  const ast::Expr *innermost = expr;
  while (auto *part = llvm::dyn_cast<ast::PartExpr>(innermost)) {
    chain.push_back(part);
    innermost = part->value;
  }
  Term term = lower(innermost);
  for (const ast::PartExpr *part : llvm::reverse(chain)) {
    if (term.kind == Term::Tensor) {
      term = partOfTensor(part, term.tensor);
    } else if (term.kind == Term::List) {
      term = partOfList(part, term);
    } else {
      if (!term.isPoison())
        diags.report(part->range, diag::PartOf, inWords(term, file.dimensions));
      return {};
    }
  }
  return term;
}
