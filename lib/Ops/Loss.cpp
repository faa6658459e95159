//===- Loss.cpp - losses ----------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Params/Loss.h"
#include "Decompose.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Loss.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Softmax.h"
#include <cmath>

using namespace anec;

/// The shape of the targets of logits [batch, classes, count]: without the
/// classes.
static Shape targetShape(llvm::ArrayRef<int64_t> logits) {
  Shape shape(logits);
  shape.erase(shape.end() - 2);
  return shape;
}

/// Logits as images [classes, count], one for each of the batch; the loss is
/// the mean over the columns of all.
struct Images {
  int64_t batch, classes, count;

  explicit Images(llvm::ArrayRef<int64_t> logits)
      : batch(logits.size() == 3 ? logits[0] : 1),
        classes(logits[logits.size() - 2]), count(logits.back()) {}
  /// Where the first class of column `i` of all lies.
  int64_t first(int64_t i) const {
    return i / count * classes * count + i % count;
  }
};

static bool inferCrossEntropy(InferContext &ctx) {
  return checkRank(ctx, 0, 2, 3) &&                            // C1
         checkShape(ctx, 1, targetShape(ctx.type(0).shape)) && // C2
         ctx.result({DType::FP32});
}

/// -log softmax(x)[target] = log(sum exp(x - top)) - (x[target] - top). Columns
/// whose target is not a class are excluded from the mean.
static void evalCrossEntropy(EvalContext &ctx) {
  const RefTensor &logits = *ctx.in[0], &targets = *ctx.in[1];
  Images images(logits.type.shape);
  double total = 0, used = 0;
  for (int64_t i = 0; i < images.batch * images.count; ++i) {
    double target = targets.data[i];
    if (target < 0 || target >= double(images.classes))
      continue;
    auto logit = [&](int64_t c) {
      return logits.data[images.first(i) + c * images.count];
    };
    double top = -INFINITY, sum = 0;
    for (int64_t c = 0; c < images.classes; ++c)
      top = std::fmax(top, logit(c));
    for (int64_t c = 0; c < images.classes; ++c)
      sum += std::exp(logit(c) - top);
    total += std::log(sum) - (logit(int64_t(target)) - top);
    ++used;
  }
  ctx.out[0].data[0] = used ? total / used : 0;
}

static int64_t flopsCrossEntropy(const Op &op) {
  return saturatingProduct({4, op.operand(0u)->type.numElements()});
}

/// dy is an operand of the op, so that its result is scaled to fit fp16.
static void gradientCrossEntropy(Gradient &g) {
  g.give(0, [&] {
    return g.make(ops::CrossEntropyGradient,
                  {g.dyAsIs(), g.in(0), g.op.operand(1u)});
  });
}

constinit const OpDef ops::CrossEntropy = {
    .name = "cross_entropy",
    .summary = "The mean over columns of -log softmax(`logits`) at `targets`. "
               "Columns whose target is not a class are ignored. Both may have "
               "a leading batch axis.",
    .family = "loss",
    .params = {as(ValueRole::Logits,
                  value(param::logits, floats, 'T', "[classes, count]")),
               as(ValueRole::Target,
                  value(param::targets, {DType::Int32}, 'I', "[count]"))},
    .constraints = {"`logits` have rank 2, or 3 with a batch",
                    "`targets` have an element for each column"},
    .infer = inferCrossEntropy,
    .eval = evalCrossEntropy,
    .flops = flopsCrossEntropy,
    .gradient = gradientCrossEntropy,
    .positions = {positions::combined},
};

//===----------------------------------------------------------------------===//
// cross_entropy_gradient
//===----------------------------------------------------------------------===//

static bool inferCrossEntropyGradient(InferContext &ctx) {
  return checkShape(ctx, 0, {}) &&                             // C1
         checkRank(ctx, 1, 2, 3) &&                            // C2
         checkShape(ctx, 2, targetShape(ctx.type(1).shape)) && // C3
         ctx.result(ctx.type(1));
}

static bool isClass(double target, int64_t classes) {
  return target >= 0 && target < double(classes);
}

static void evalCrossEntropyGradient(EvalContext &ctx) {
  const RefTensor &targets = *ctx.in[2];
  RefTensor &out = ctx.out[0];
  Images images(out.type.shape);
  int64_t classes = images.classes, count = images.count;
  double used = double(llvm::count_if(
      targets.data, [&](double target) { return isClass(target, classes); }));
  out.data = ctx.in[1]->data;
  for (int64_t i = 0; i < images.batch * count; ++i) {
    double target = targets.data[i];
    double factor = isClass(target, classes) ? ctx.in[0]->data[0] / used : 0;
    softmaxInPlace(&out.data[images.first(i)], classes, count);
    for (int64_t c = 0; c < classes; ++c) {
      double &element = out.data[images.first(i) + c * count];
      element = factor * (element - (double(c) == target ? 1 : 0));
    }
  }
}

/// dlogits = (softmax(logits) counts - onehot) dloss / max(sum(counts), 1),
/// where counts is 1 for a column whose target is a class, otherwise 0.
/// Computed in fp32: the probability of one of many classes can be below the
/// range of fp16.
static void
decomposeCrossEntropyGradient(Builder &builder, const Op &op,
                              llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  Value *logits = op.operand(1u);
  bool narrow = logits->type.dtype != DType::FP32;
  if (narrow)
    logits =
        d.make(ops::Cast, {logits}, Attr(param::dtype, DType::FP32), "logits");
  int64_t axis = int64_t(logits->type.rank()) - 2;
  Value *probs =
      d.make(ops::Softmax, {logits}, Attr(param::axis, axis), "probs");
  Value *oneHot = d.make(ops::OneHot, {op.operand(2u)},
                         {{param::oneHotVectorSize, logits->type.shape[axis]},
                          {param::axis, axis},
                          {param::onValue, Constant::scalar(DType::FP32, 1)},
                          {param::offValue, Constant::scalar(DType::FP32, 0)}},
                         "one_hot");
  Value *counts = d.make(
      ops::ReduceSum, {oneHot},
      {{param::axes, llvm::ArrayRef<int64_t>(axis)}, {param::keepDims, true}},
      "counts");
  Value *used = d.make(ops::ReduceSum, {counts}, "used");
  used = d.make(ops::Maximum, {used, d.scalar(1, "one")}, "at_least_one");
  Value *factor = d.make(ops::RealDiv, {op.operand(0u), used}, "factor");
  Value *counted = d.make(ops::Mul, {probs, counts}, "counted");
  Value *difference = d.make(ops::Sub, {counted, oneHot}, "difference");
  Value *out = d.make(ops::Mul, {difference, factor}, narrow ? "wide" : "");
  results.push_back(
      narrow ? d.make(ops::Cast, {out}, Attr(param::dtype, DType::FP16)) : out);
}

static int64_t flopsCrossEntropyGradient(const Op &op) {
  return saturatingProduct({6, op.operand(1u)->type.numElements()});
}

constinit const OpDef ops::CrossEntropyGradient = {
    .name = "cross_entropy_gradient",
    .summary =
        "The gradient of `cross_entropy` for `logits`, given the gradient `dy` "
        "of its result. For each column: (softmax(`logits`) - 1 at the target) "
        "* `dy` / number of columns with a valid target.",
    .family = "loss",
    .params = {value(param::dy, {DType::FP32}, 0, "[]"),
               value(param::logits, floats, 'T', "[classes, count]"),
               as(ValueRole::Target,
                  value(param::targets, {DType::Int32}, 'I', "[count]"))},
    .constraints = {"`dy` is a scalar",
                    "`logits` have rank 2, or 3 with a batch",
                    "`targets` have an element for each column"},
    .infer = inferCrossEntropyGradient,
    .eval = evalCrossEntropyGradient,
    .decompose = decomposeCrossEntropyGradient,
    .flops = flopsCrossEntropyGradient,
    .positions = {positions::combined},
};
