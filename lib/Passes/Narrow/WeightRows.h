//===- WeightRows.h - weights in fp16 by the sums of their rows -*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A product adds up a row of weights times values. Where no value is negative,
/// as behind a relu, the errors of the rounded weights shift the result for all
/// inputs alike: by their sum times the mean of the values. So that sum is to
/// be nearly 0.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_NARROW_WEIGHTROWS_H
#define ANEC_LIB_PASSES_NARROW_WEIGHTROWS_H

#include "ProvenRanges.h"

namespace anec {

/// The rows of an array: of its extents [outer, length, inner], with axes
/// merged, a row goes over the second.
struct WeightRows {
  int64_t outer = 1, length = 1, inner = 1;
  bool operator==(const WeightRows &) const = default;
};
/// The rows of the constant `weight`, where each op that reads it adds them up
/// times values that are proven not to be negative; nothing where one does
/// something else with it, two have other rows, or rows are so short that the
/// errors of their elements matter more than the sum of these.
std::optional<WeightRows> rowsOf(const Value &weight,
                                 const ProvenRanges &proven);

/// `elements` as numbers of fp16, of which it holds the largest. Each becomes
/// the nearest, apart from those that are nearly halfway between two: as many
/// of these become the other one as the sum of their row needs. None is off by
/// more than 3/4 of the distance between the two.
void roundByRows(llvm::MutableArrayRef<double> elements,
                 const WeightRows &rows);

} // namespace anec

#endif // ANEC_LIB_PASSES_NARROW_WEIGHTROWS_H
