//===- Views.h - axes of views ----------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_OPS_VIEWS_H
#define ANEC_LIB_TORCH_OPS_VIEWS_H

#include "../Node.h"

namespace anec::torch {

/// `shape`, and the axis of real and imaginary parts of complex numbers.
inline Shape whole(Shape shape, ScalarType type) {
  if (isComplex(type))
    shape.push_back(2);
  return shape;
}

/// Whether the operand has an axis at all; an error if not.
inline bool hasAxis(Node &n, const Item &x) {
  if (x.val.rank() - isComplex(x.type) > 0)
    return true;
  n.fail("its input has no axes");
  return false;
}

/// The axes, without that of complex numbers.
inline int64_t rankOf(const Item &x) {
  return x.val.rank() - isComplex(x.type);
}

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_OPS_VIEWS_H
