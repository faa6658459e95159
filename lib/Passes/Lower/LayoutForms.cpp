//===- LayoutForms.cpp - where the axes of a value are --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Passes/Lower/LayoutForms.h"

using namespace anec;

int64_t anec::layoutAxis(int64_t axis, unsigned rank, LayoutForm form) {
  if (axis < 0)
    axis += rank;
  if (rank >= engineRank)
    return axis;
  int64_t fromEnd = int64_t(rank) - 1 - axis;
  if (form == LayoutForm::Rows || fromEnd == 0)
    return engineRank - 1 - fromEnd;
  return engineRank - 2 - fromEnd;
}

Shape anec::layoutPerAxis(llvm::ArrayRef<int64_t> values, int64_t fill,
                          LayoutForm form) {
  unsigned rank = values.size();
  if (rank == 0 || rank >= engineRank)
    return Shape(values);
  Shape result(engineRank, fill);
  for (unsigned axis = 0; axis < rank; ++axis)
    result[layoutAxis(axis, rank, form)] = values[axis];
  return result;
}
