//===- Convolution.h - the geometry of a convolution ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_CONVOLUTION_H
#define ANEC_LIB_OPS_CONVOLUTION_H

#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Padding.h"

namespace anec {

/// One spatial axis of a convolution.
struct ConvAxis {
  int64_t input, kernel, stride, dilation, before, after;

  int64_t span() const { return (kernel - 1) * dilation + 1; }
  int64_t padded() const { return input + before + after; }
  int64_t output() const {
    return padded() < span() ? 0 : (padded() - span()) / stride + 1;
  }
};

/// The axis with its padding computed. `same` pads to ceil(input / stride)
/// outputs; an odd padding element goes after the input, with `same_lower`
/// before it. `Context` is an InferContext, an EvalContext or an Op of a row
/// with a convolution's parameters.
template <typename Context>
ConvAxis convAxis(const Context &ctx, unsigned axis, int64_t input,
                  int64_t kernel) {
  ConvAxis result = {input,
                     kernel,
                     ctx.get(param::strides)[axis],
                     ctx.get(param::dilations)[axis],
                     0,
                     0};
  int64_t outputs = (input - 1) / result.stride + 1;
  Padding padding(ctx.get(param::padType),
                  llvm::ArrayRef(ctx.get(param::pad)).slice(2 * axis, 2),
                  (outputs - 1) * result.stride + result.span() - input);
  result.before = padding.before;
  result.after = padding.after;
  return result;
}

/// One spatial axis of a transposed convolution, described as the axis of the
/// convolution that it transposes: from the result (`output`) to the operand
/// (`input`). `pad` is the (before, after) pair of the axis.
inline ConvAxis transposedAxis(int64_t input, int64_t output, int64_t kernel,
                               int64_t stride, int64_t dilation,
                               PadType padType, llvm::ArrayRef<int64_t> pad) {
  ConvAxis axis = {output, kernel, stride, dilation, 0, 0};
  Padding padding(padType, pad, (input - 1) * stride + axis.span() - output);
  axis.before = padding.before;
  axis.after = padding.after;
  return axis;
}

template <typename Context>
ConvAxis transposedAxis(const Context &ctx, unsigned axis, int64_t input,
                        int64_t output, int64_t kernel) {
  return transposedAxis(input, output, kernel, ctx.get(param::strides)[axis],
                        ctx.get(param::dilations)[axis],
                        ctx.get(param::padType),
                        llvm::ArrayRef(ctx.get(param::pad)).slice(2 * axis, 2));
}

} // namespace anec

#endif // ANEC_LIB_OPS_CONVOLUTION_H
