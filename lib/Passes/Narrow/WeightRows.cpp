//===- WeightRows.cpp - weights in fp16 by the sums of their rows ---------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "WeightRows.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Support/Half.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace anec;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static int64_t elementCount(llvm::ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

/// Rows along `axis`.
static WeightRows along(llvm::ArrayRef<int64_t> shape, size_t axis) {
  return {elementCount(shape.take_front(axis)), shape[axis],
          elementCount(shape.drop_front(axis + 1))};
}

/// The rows of an operand that `op` adds up.
static std::optional<WeightRows> rowsOf(const Op &op, unsigned slot) {
  llvm::ArrayRef<int64_t> shape = op.operand(slot)->type.shape;
  auto isSlot = [&](const ValueParam &param) {
    return op.def().valueSlot(param) == int(slot);
  };
  if (op.is(ops::Linear) && isSlot(param::weight))
    return along(shape, 1);
  if (op.is(ops::Conv) && isSlot(param::weight))
    return WeightRows{shape[0], elementCount(shape.drop_front()), 1};
  if (op.is(ops::ConvTranspose) && isSlot(param::weight)) {
    int64_t groups = op.get(param::groups);
    return WeightRows{groups, shape[0] / groups,
                      elementCount(shape.drop_front())};
  }
  if (op.is(ops::Matmul)) {
    if (shape.size() < 2)
      return WeightRows{1, elementCount(shape), 1};
    // [..., rows, inner] times [..., inner, columns]
    bool isLast = slot == 0 ? !op.get(param::transposeX)
                            : bool(op.get(param::transposeY));
    return along(shape, shape.size() - (isLast ? 1 : 2));
  }
  return std::nullopt;
}

/// Where more than a few of the elements of a row would have to be rounded
/// the other way.
static constexpr int64_t shortRow = 32;

std::optional<WeightRows> anec::rowsOf(const Value &weight,
                                       const ProvenRanges &proven) {
  std::optional<WeightRows> rows;
  for (Operand *use = weight.firstUse(); use; use = use->nextUse()) {
    const Op *op = use->owner();
    if (!op)
      return std::nullopt;
    for (unsigned slot = 0; slot < op->numOperands(); ++slot) {
      if (op->operand(slot) != &weight)
        continue;
      std::optional<WeightRows> own = ::rowsOf(*op, slot);
      if (!own || own->length < shortRow || (rows && *rows != *own))
        return std::nullopt;
      Range values = proven.of(op->operand(slot == 0 ? 1u : 0u));
      if (!(values.least >= 0 && values.most > 0))
        return std::nullopt;
      rows = own;
    }
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

namespace {
/// An element that can become its other neighbor in fp16.
struct Choice {
  double cost;  ///< by how much its own error grows
  double other; ///< that neighbor
  double step;  ///< by how much the sum changes
  int64_t index;
  /// Of the top of a heap, the cheapest; of several, the first.
  bool operator<(const Choice &rhs) const {
    return cost != rhs.cost ? cost > rhs.cost : index > rhs.index;
  }
};
} // namespace

/// The number of fp16 beside `half`, towards `number`.
static double neighbor(double half, double number) {
  uint16_t bits = doubleToHalf(half);
  bool isAway = std::abs(number) > std::abs(half);
  return halfToFloat(uint16_t(isAway ? bits + 1 : bits - 1));
}

/// Elements whose errors are part of `excess`, and that are at least a quarter
/// of the distance between their neighbors away from the nearest.
static std::vector<Choice> choicesOf(llvm::ArrayRef<double> row,
                                     double excess) {
  std::vector<Choice> choices;
  for (auto [index, number] : llvm::enumerate(row)) {
    double half = roundToHalf(number), error = half - number;
    if (error == 0 || (error > 0) != (excess > 0) || half == 0)
      continue;
    double other = neighbor(half, number), step = other - half;
    double distance = std::abs(step);
    if (std::abs(error) * 4 >= distance && std::abs(other) <= halfMax)
      choices.push_back(
          {distance - 2 * std::abs(error), other, step, int64_t(index)});
  }
  return choices;
}

/// Rounds a row to `halves`.
static void roundRow(llvm::ArrayRef<double> row,
                     llvm::MutableArrayRef<double> halves) {
  double excess = 0;
  for (auto [half, number] : llvm::zip_equal(halves, row)) {
    half = roundToHalf(number);
    excess += half - number;
  }
  if (excess == 0 || !std::isfinite(excess))
    return;
  std::vector<Choice> choices = choicesOf(row, excess);
  std::make_heap(choices.begin(), choices.end());
  while (!choices.empty() && excess != 0) {
    std::pop_heap(choices.begin(), choices.end());
    Choice choice = choices.back();
    choices.pop_back();
    // Only what brings the sum nearer.
    if (std::abs(excess + choice.step) >= std::abs(excess))
      continue;
    halves[size_t(choice.index)] = choice.other;
    excess += choice.step;
  }
}

void anec::roundByRows(llvm::MutableArrayRef<double> elements,
                       const WeightRows &rows) {
  auto length = size_t(rows.length), inner = size_t(rows.inner);
  std::vector<double> row(length), halves(length);
  for (size_t outer = 0; outer < size_t(rows.outer); ++outer)
    for (size_t column = 0; column < inner; ++column) {
      double *first = elements.data() + outer * length * inner + column;
      for (size_t i = 0; i < length; ++i)
        row[i] = first[i * inner];
      roundRow(row, halves);
      for (size_t i = 0; i < length; ++i)
        first[i * inner] = halves[i];
    }
}
