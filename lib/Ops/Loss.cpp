//===- Loss.cpp - losses ----------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Infer.h"
#include "Reference.h"
#include "anec/Ops/Ops.h"
#include <cmath>

using namespace anec;

static bool inferCrossEntropy(InferContext &ctx) {
  return checkRank(ctx, 0, 2, 2) &&                  // C1
         checkShape(ctx, 1, ctx.type(0).shape[1]) && // C2
         ctx.result({DType::FP32});
}

/// -log softmax(x)[target] = log(sum exp(x - top)) - (x[target] - top). A
/// target that is no class is left out of the mean.
static void evalCrossEntropy(EvalContext &ctx) {
  const RefTensor &logits = *ctx.in[0], &targets = *ctx.in[1];
  int64_t classes = logits.type.shape[0], count = logits.type.shape[1];
  double total = 0, used = 0;
  for (int64_t i = 0; i < count; ++i) {
    double target = targets.data[i];
    if (target < 0 || target >= double(classes))
      continue;
    auto logit = [&](int64_t c) { return logits.data[c * count + i]; };
    double top = -INFINITY, sum = 0;
    for (int64_t c = 0; c < classes; ++c)
      top = std::fmax(top, logit(c));
    for (int64_t c = 0; c < classes; ++c)
      sum += std::exp(logit(c) - top);
    total += std::log(sum) - (logit(int64_t(target)) - top);
    ++used;
  }
  ctx.out[0].data[0] = used ? total / used : 0;
}

static int64_t flopsCrossEntropy(const Op &op) {
  return saturatingProduct({4, op.operand(0u)->type.numElements()});
}

constinit const OpDef ops::CrossEntropy = {
    .name = "cross_entropy",
    .summary = "The mean over columns of -log softmax(`logits`) at `targets`; "
               "a target that is no class does not count.",
    .family = "loss",
    .params = {value("logits", floats, 'T', "[classes, count]"),
               value("targets", {DType::Int32}, 'I', "[count]")},
    .constraints = {"`logits` have rank 2",
                    "`targets` have an element for each column"},
    .infer = inferCrossEntropy,
    .eval = evalCrossEntropy,
    .flops = flopsCrossEntropy,
};
