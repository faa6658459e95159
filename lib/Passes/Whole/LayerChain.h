//===- LayerChain.h - layers that pass values on ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_WHOLE_LAYERCHAIN_H
#define ANEC_LIB_PASSES_WHOLE_LAYERCHAIN_H

#include "RepeatedOps.h"

namespace anec {

/// How a `repeat` passes the arguments of its layer.
struct LayerChain {
  /// By argument: the result of the part before; nothing for one value, which
  /// all parts take.
  std::vector<std::optional<size_t>> carried;

  /// Nothing when a part takes something else, or something else takes what a
  /// part before the last one computes.
  static std::optional<LayerChain> of(const RepeatedOps &repeated);
};

} // namespace anec

#endif // ANEC_LIB_PASSES_WHOLE_LAYERCHAIN_H
