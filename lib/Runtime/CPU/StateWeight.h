//===- StateWeight.h - the weight of a recurrent layer's state --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_STATEWEIGHT_H
#define ANEC_LIB_RUNTIME_CPU_STATEWEIGHT_H

#include "anec/Support/AlignedArray.h"
#include "anec/Support/Executor.h"
#include "lib/Runtime/CPU/ProductKernels.h"
#include <vector>

namespace anec::cpu {

/// A weight that a small batch of states is multiplied with at every step. With
/// few rows, a step takes as long as reading the weight, so that it is stored
/// in the order in which it is read: panels of columns.
class StateWeight {
public:
  /// For products of `rows` rows with `weight` [n, k], transposed, which must
  /// stay unless `isCopy`.
  StateWeight(const ProductKernels &kernels, size_t rows, size_t n, size_t k,
              const float *weight);

  bool isCopy() const { return panels != nullptr; }
  /// The columns of a panel.
  static size_t panelColumns();

  /// What is done with columns [first, first + count) of a product.
  using Finish = llvm::function_ref<void(size_t first, size_t count)>;

  /// to [rows, n] = from [rows, k] weight^T + `bias`, which may be null, or
  /// added to `to`. The order of sums does not depend on the number of threads.
  /// `finish` is called once for the columns of each panel, on the worker that
  /// has just computed them.
  void multiply(
      Executor &pool, const float *from, const float *bias, float *to,
      bool accumulate, Finish finish = [](size_t, size_t) {}) const;

private:
  void multiplyPanel(size_t panel, const float *from, const float *bias,
                     float *to, bool accumulate) const;

  const ProductKernels &kernels;
  size_t rows, n, k;
  size_t columns; ///< of a panel
  std::vector<uint32_t> offsets;
  AlignedArray panels; ///< null for many rows
  PackedWeight packed; ///< for many rows
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_STATEWEIGHT_H
