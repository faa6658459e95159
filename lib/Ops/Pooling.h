//===- Pooling.h - the geometry of pooling ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_POOLING_H
#define ANEC_LIB_OPS_POOLING_H

#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Padding.h"

namespace anec {

/// One spatial axis of a pooling.
struct PoolAxis {
  int64_t input, kernel, stride, before, after, output;

  /// Computes padding and output; `output` is below 1 when the window does not
  /// fit.
  template <typename Context>
  PoolAxis(const Context &ctx, unsigned axis, int64_t input)
      : input(input), kernel(ctx.get(param::kernelSizes)[axis]),
        stride(ctx.get(param::strides)[axis]), before(0), after(0) {
    int64_t outputs = (input - 1) / stride + 1;
    Padding padding(ctx.get(param::padType),
                    llvm::ArrayRef(ctx.get(param::pad)).slice(2 * axis, 2),
                    (outputs - 1) * stride + kernel - input);
    before = padding.before;
    after = padding.after;
    int64_t slack = input + before + after - kernel;
    bool ceil = ctx.get(param::ceilMode);
    output = slack < 0 ? 0 : (slack + (ceil ? stride - 1 : 0)) / stride + 1;
    // Rounding up must not add a window that starts after the input.
    if (ceil && before + after > 0 && (output - 1) * stride >= input + before)
      --output;
  }

  /// Whether the last window has no element of the input, which rounding up
  /// leads to where there is no padding.
  bool hasOutside() const {
    return output > 0 && (output - 1) * stride - before >= input;
  }
};

using PoolAxes = llvm::SmallVector<PoolAxis, 3>;

/// The axes of a pooling of `shape`, [images, channels, spatial...]. `Context`
/// is an InferContext, an EvalContext or an Op.
template <typename Context>
PoolAxes poolAxes(const Context &ctx, llvm::ArrayRef<int64_t> shape) {
  PoolAxes axes;
  for (unsigned axis = 2; axis < shape.size(); ++axis)
    axes.emplace_back(ctx, axis - 2, shape[axis]);
  return axes;
}

/// Warns of each pooling of the module that has such windows.
void warnOfWindowsOutside(const Module &module, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_OPS_POOLING_H
