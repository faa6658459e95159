//===- StoredWeight.h - constants that stay as stored -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Finds constants that an op can read in the form of their file, such as fp16
/// or int8 with scales, instead of as fp32: weights of products, and tables
/// whose rows are gathered.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_STOREDWEIGHT_H
#define ANEC_LIB_RUNTIME_CPU_STOREDWEIGHT_H

#include "Products/StoredMatrix.h"
#include "Schedule.h"

namespace anec::cpu {

/// A matrix, and what it points to.
struct StoredWeight {
  StoredMatrix matrix;
  unsigned slot = 0;     ///< of the op's operands
  ConstantRef data;      ///< keeps the mapped file open
  ConstantRef scaleData; ///< of scales that are read in place
  std::vector<float> scales, offsets, tables;
  /// A copy of the elements, for a matrix that is stored transposed.
  std::vector<uint8_t> turned;

  /// The memory that it has besides the file.
  uint64_t bytes() const {
    return turned.size() +
           (scales.size() + offsets.size() + tables.size()) * sizeof(float);
  }
};

/// The weight of `op`, which is a product with one constant operand, as
/// [outputs, inputs], or a gather of rows of a constant; null when it has none,
/// or has to read it as fp32. Products of many columns with fp32 weights read
/// those.
std::shared_ptr<const StoredWeight> storedWeightOf(const Op &op,
                                                   const Schedule &schedule);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_STOREDWEIGHT_H
