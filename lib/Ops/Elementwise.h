//===- Elementwise.h - kernels per element ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Reference kernels for ops that apply a function of one or two numbers to
/// each element.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_ELEMENTWISE_H
#define ANEC_LIB_OPS_ELEMENTWISE_H

#include "Reference.h"
#include "lib/Ops/Gradient.h"

namespace anec {

/// Result element = fn(element of operand 0).
template <typename Fn>
void forEachUnary(EvalContext &ctx, Fn fn) {
  const std::vector<double> &x = ctx.in[0]->data;
  RefTensor &out = ctx.out[0];
  for (size_t i = 0; i < x.size(); ++i)
    out.data[i] = fn(x[i]);
  settleIntegers(out);
}

template <double (*fn)(double)>
void evalUnary(EvalContext &ctx) {
  forEachUnary(ctx, fn);
}

/// Result element = fn(element of operand 0, element of operand 1), broadcast.
template <double (*fn)(double, double)>
void evalBinary(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &y = *ctx.in[1];
  RefTensor &out = ctx.out[0];
  size_t i = 0;
  forEachElement<2>(out.type.shape,
                    {broadcastStrides(x.type.shape, out.type.shape),
                     broadcastStrides(y.type.shape, out.type.shape)},
                    [&](const auto &at) {
                      out.data[i++] = fn(x.data[at[0]], y.data[at[1]]);
                    });
  settleIntegers(out);
}

/// dx = dy times the derivative.
template <Value *(*derivative)(Gradient &)>
void gradientUnary(Gradient &g) {
  g.give(0, [&] { return g.mul(g.dy(), derivative(g)); });
}

/// dx = dy where the condition is true, 0 elsewhere.
template <Value *(*condition)(Gradient &)>
void gradientWhere(Gradient &g) {
  g.give(0, [&] { return g.where(condition(g), g.dy()); });
}

/// Copies the elements of operand 0 in order, for reshapes and identity.
inline void evalCopy(EvalContext &ctx) { ctx.out[0].data = ctx.in[0]->data; }

} // namespace anec

#endif // ANEC_LIB_OPS_ELEMENTWISE_H
