//===- Budget.h - how much may be made of a model ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A few bytes can ask for a table of any size, for an op per step of a window,
/// or for functions that call each other any number of times. What is made
/// while a model is read is limited by a multiple of its bytes.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_BUDGET_H
#define ANEC_LIB_ONNX_BUDGET_H

#include <cstddef>
#include <cstdint>

namespace anec::onnx {

/// What is left for a model, beyond what each op and tensor of it takes.
class Budget {
public:
  /// For a model of so many bytes.
  explicit Budget(size_t bytes)
      : numOps((1 << 17) + int64_t(bytes / 2)),
        numElements((1 << 26) + int64_t(bytes)),
        numSteps((1 << 25) + 64 * int64_t(bytes)) {}

  /// One more op or node, whose names take so many bytes. Returns false when
  /// there are too many.
  bool takeOp(size_t names) {
    return take(numOps, 1) && take(numElements, int64_t(names));
  }
  /// Elements of constants that the model does not have itself.
  bool takeElements(int64_t count) { return take(numElements, count); }
  /// Steps of computing constants.
  bool takeSteps(int64_t count) { return take(numSteps, count); }

private:
  static bool take(int64_t &left, int64_t count) {
    if (count < 0 || count > left)
      return false;
    left -= count;
    return true;
  }

  int64_t numOps, numElements, numSteps;
};

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_BUDGET_H
