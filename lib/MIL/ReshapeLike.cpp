//===- ReshapeLike.cpp - shapes made of other shapes ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/FunctionBinder.h"
#include "lib/Ops/Rows/Shape.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// The extents [begin, end) of a shape, or those from `begin` on with `mask`;
/// negative positions count from the end. Returns false when they are out of
/// range.
static bool appendExtents(ArrayRef<int64_t> shape, int64_t begin, int64_t end,
                          bool mask, SmallVectorImpl<int64_t> &extents) {
  int64_t rank = int64_t(shape.size());
  begin += begin < 0 ? rank : 0;
  end = mask ? rank : end + (end < 0 ? rank : 0);
  if (begin < 0 || end > rank || begin > end)
    return false;
  append_range(extents, shape.slice(size_t(begin), size_t(end - begin)));
  return true;
}

/// `reshape_like(x, ref_tensors, begins, ends, end_masks)`: the new shape of
/// `x` has extents of each reference, which are known.
bool FunctionBinder::bindReshapeLike(const Statement &statement) {
  if (!hasResults(statement, 1) || !areValues(statement))
    return false;
  Value *x = operand(statement, "x");
  const Argument *references = statement.argument("ref_tensors");
  auto begins = knownNumbers(statement, "begins"),
       ends = knownNumbers(statement, "ends"),
       masks = knownNumbers(statement, "end_masks");
  if (!x)
    return false;
  size_t count = references ? references->values.size() : 0;
  auto fits = [count](const auto &list) {
    return list && list->size() == count;
  };
  if (count == 0 || !fits(begins) || !fits(ends) || !fits(masks))
    return refuse(statement, "it takes a position in `begins`, `ends` and "
                             "`end_masks` for each of `ref_tensors`");
  Shape extents;
  for (auto [index, reference] : enumerate(references->values)) {
    Value *like = bindValue(reference, "ref_tensors");
    if (!like)
      return false;
    if (!appendExtents(like->type.shape, (*begins)[index], (*ends)[index],
                       (*masks)[index] != 0, extents))
      return refuse(statement, "a position is out of range");
  }
  Op *op = builder->create(ops::Reshape, {x}, {Attr(param::shape, extents)},
                           statement.results[0].name);
  return op && defineResult(statement, 0, op->result());
}
