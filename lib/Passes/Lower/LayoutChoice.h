//===- LayoutChoice.h - the form in which ops compute -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Chooses the form of every op of a function so that as few values as possible
/// are reshaped from one to the other. A choice for all ops at once is a
/// minimum cut.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_LOWER_LAYOUTCHOICE_H
#define ANEC_LIB_PASSES_LOWER_LAYOUTCHOICE_H

#include "lib/Passes/Lower/LayoutForms.h"
#include "llvm/ADT/DenseMap.h"

namespace anec {

/// How an op is rewritten.
enum class LayoutRule : uint8_t {
  KeepShapes, ///< between reshapes to the original shapes and back
  Elementwise,
  Reshape,
  Matmul,
  Reduction,
  Transpose,
  SliceBySize,
  LayerNorm,
  Axis, ///< has a single axis: softmax, concat, split
};

struct OpLayout {
  LayoutRule rule;
  LayoutForm form; ///< of the operands and, unless a reduction drops axes, of
                   ///< the results
};

using LayoutChoice = llvm::DenseMap<const Op *, OpLayout>;

/// `keepsInterface`: inputs and outputs keep their shapes.
LayoutChoice chooseLayout(const Function &function, bool keepsInterface);

} // namespace anec

#endif // ANEC_LIB_PASSES_LOWER_LAYOUTCHOICE_H
