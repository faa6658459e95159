//===- Indices.h - indices of axes ------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_OPS_INDICES_H
#define ANEC_LIB_TORCH_OPS_INDICES_H

#include "../Node.h"

namespace anec::torch {

/// Indices from 0 on: those below 0 count from the end of `extent`.
Val fromStart(Emitter &e, Val indices, int64_t extent);

/// What `x[i, :, j]` reads: the indexed axes together as one axis in front.
struct Indexed {
  Shape axes;         ///< that are indexed
  Shape perm;         ///< with the indexed axes in front
  Shape rest;         ///< the extents of the other axes
  Shape shape;        ///< of the indices, broadcast
  int64_t extent = 1; ///< of the indexed axes together
  int64_t place = 0;  ///< where the axes of the indices are in the result
  Val index;          ///< in the indexed axes together, from 0 on
};

/// Reads `self` and `indices`; false after an error.
bool readIndexed(Node &n, Indexed &indexed);

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_OPS_INDICES_H
