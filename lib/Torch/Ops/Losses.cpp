//===- Losses.cpp - losses and distances ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;

/// 0 keeps the losses of elements, 1 is their mean, and 2 their sum.
static void giveReduced(Node &n, Val losses) {
  Emitter &e = n.e;
  int64_t reduction = n.integer("reduction");
  if (n.failed() || !losses)
    return;
  if (reduction == 0)
    return n.out(0, losses);
  Val flat = e.reshape(losses, {losses.size()});
  n.out(0, e.reduce(reduction == 1 ? ops::ReduceMean : ops::ReduceSum, flat,
                    {0}, false));
}

static void squared(Node &n) {
  Val x = n.in("self"), difference = n.e.sub(x, n.in("target"));
  giveReduced(n, n.e.mul(difference, difference));
}

static void absoluteLoss(Node &n) {
  Val x = n.in("self");
  giveReduced(n, n.e.unary(ops::Abs, n.e.sub(x, n.in("target"))));
}

/// Squares of small differences, and lines from `limit` on.
static void giveHuber(Node &n, double limit, double factor) {
  Emitter &e = n.e;
  Val x = n.in("self");
  Val size = e.unary(ops::Abs, e.sub(x, n.in("target")));
  if (!size)
    return;
  Val square = e.mul(e.mul(size, size), 0.5);
  Val line = e.mul(e.add(size, -limit / 2), limit);
  Val isSmall = e.make(ops::Less, {size, e.scalar(size.dtype(), limit)});
  giveReduced(n, e.mul(e.select(isSmall, square, line), factor));
}

static void huber(Node &n) { giveHuber(n, n.number("delta"), 1); }
static void smooth(Node &n) {
  double beta = n.number("beta");
  if (beta == 0)
    return absoluteLoss(n);
  giveHuber(n, beta, 1 / beta);
}

/// max(x, 0) - x * target + log(1 + exp(-|x|)).
static void binaryWithLogits(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self"), target = n.in("target");
  if (n.has("pos_weight"))
    return n.fail("`pos_weight` has no counterpart");
  Val size = e.unary(ops::Abs, x);
  Val soft = e.unary(ops::Softplus, e.mul(size, -1));
  Val losses = e.add(e.sub(e.unary(ops::Relu, x), e.mul(x, target)), soft);
  if (n.has("weight"))
    losses = e.mul(losses, n.in("weight"));
  giveReduced(n, losses);
}

static void divergence(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self"), target = n.in("target");
  bool isLog = n.flag("log_target");
  if (n.failed() || !x || !target)
    return;
  if (isLog)
    return giveReduced(n, e.mul(e.unary(ops::Exp, target), e.sub(target, x)));
  Val isZero = e.make(ops::Equal, {target, e.scalar(target.dtype(), 0)});
  Val safe = e.select(isZero, e.scalar(target.dtype(), 1), target);
  Val log = e.unary(ops::Log, safe,
                    {{param::epsilon, Constant::scalar(target.dtype(), 0)}});
  giveReduced(n, e.mul(target, e.sub(log, x)));
}

/// The negative logarithms at the targets, [batch, classes, ...].
static void giveLikelihood(Node &n, Val logs, Val target) {
  Emitter &e = n.e;
  int64_t ignored = n.integer("ignore_index"),
          reduction = n.integer("reduction");
  if (n.failed() || !logs || !target)
    return;
  if (n.has("weight"))
    return n.fail("`weight` has no counterpart");
  int64_t axis = logs.rank() > 1 ? 1 : 0;
  target = e.cast(target, DType::Int32);
  Shape shape = target.shape(), wide = shape;
  wide.insert(wide.begin() + axis, 1);
  Val isThere =
      e.make(ops::NotEqual, {target, e.scalar(DType::Int32, double(ignored))});
  Val place = e.select(isThere, target, e.scalar(DType::Int32, 0));
  Val taken = OnnxNode(n, "GatherElements")
                  .in(logs)
                  .in(e.reshape(place, wide))
                  .attr("axis", axis)
                  .run();
  if (!taken)
    return;
  Val counts = e.cast(isThere, logs.dtype());
  Val losses = e.mul(e.mul(e.reshape(taken, shape), -1), counts);
  if (reduction == 0)
    return n.out(0, losses);
  Val sum =
      e.reduce(ops::ReduceSum, e.reshape(losses, {losses.size()}), {0}, false);
  Val number =
      e.reduce(ops::ReduceSum, e.reshape(counts, {counts.size()}), {0}, false);
  n.out(0, reduction == 1 ? e.div(sum, number) : sum);
  n.out(1, number);
}

static void negativeLogLikelihood(Node &n) {
  giveLikelihood(n, n.in("self"), n.in("target"));
}

static void crossEntropy(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  if (n.number("label_smoothing") != 0 || isFloating(n.typeOf("target")))
    return n.fail("smoothed labels and probabilities have no counterpart");
  int64_t axis = x.rank() > 1 ? 1 : 0;
  Val logs = e.sub(x, e.reduce(ops::ReduceLogSumExp, x, {axis}, true));
  giveLikelihood(n, logs, n.in("target"));
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

static void cosineSimilarity(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("x1"), y = n.in("x2");
  std::optional<Shape> shape = broadcastShapes(x.shape(), y.shape());
  if (!shape)
    return n.fail("its operands do not broadcast");
  int64_t axis = n.axis("dim", int64_t(shape->size()));
  x = e.broadcast(x, *shape);
  y = e.broadcast(y, *shape);
  Val floor = e.scalar(x.dtype(), n.number("eps"));
  Val product = e.reduce(ops::ReduceSum, e.mul(x, y), {axis}, false);
  Val sizeX = e.reduce(ops::ReduceL2Norm, x, {axis}, false);
  Val sizeY = e.reduce(ops::ReduceL2Norm, y, {axis}, false);
  sizeX = e.binary(ops::Maximum, sizeX, floor);
  sizeY = e.binary(ops::Maximum, sizeY, floor);
  n.out(e.div(product, e.mul(sizeX, sizeY)));
}

/// The norm of a difference along the last axis.
static Val distance(Node &n, Val difference, double p, bool keep) {
  Emitter &e = n.e;
  int64_t axis = difference.rank() - 1;
  if (p == 2)
    return e.reduce(ops::ReduceL2Norm, difference, {axis}, keep);
  if (p == 1)
    return e.reduce(ops::ReduceL1Norm, difference, {axis}, keep);
  Val size = e.unary(ops::Abs, difference);
  if (std::isinf(p))
    return e.reduce(ops::ReduceMax, size, {axis}, keep);
  Val powers = e.binary(ops::Pow, size, e.scalar(size.dtype(), p));
  Val sum = e.reduce(ops::ReduceSum, powers, {axis}, keep);
  return e.binary(ops::Pow, sum, e.scalar(sum.dtype(), 1 / p));
}

static void pairwise(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("x1"), difference = e.sub(x, n.in("x2"));
  if (difference)
    n.out(distance(n, e.add(difference, n.number("eps")), n.number("p"),
                   n.flag("keepdim")));
}

/// Of each row of one matrix to each of another.
static void allDistances(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("x1"), y = n.in("x2");
  n.ignore("compute_mode");
  if (n.failed() || x.rank() < 2 || y.rank() < 2)
    return n.fail("its operands must be matrices");
  Shape ofX = x.shape(), ofY = y.shape();
  ofX.insert(ofX.end() - 1, 1);
  ofY.insert(ofY.end() - 2, 1);
  Val left = e.reshape(x, ofX);
  n.out(distance(n, e.sub(left, e.reshape(y, ofY)), n.number("p"), false));
}

static constexpr OpRow lossTable[] = {
    {"aten._cdist_forward.default", allDistances},
    {"aten.binary_cross_entropy_with_logits.default", binaryWithLogits,
     "not with `pos_weight`"},
    {"aten.cdist.default", allDistances},
    {"aten.cosine_similarity.default", cosineSimilarity},
    {"aten.cross_entropy_loss.default", crossEntropy,
     "not with weights, smoothed labels or probabilities"},
    {"aten.huber_loss.default", huber},
    {"aten.kl_div.default", divergence},
    {"aten.l1_loss.default", absoluteLoss},
    {"aten.mse_loss.default", squared},
    {"aten.nll_loss_forward.default", negativeLogLikelihood,
     "not with weights"},
    {"aten.nll_loss_nd.default", negativeLogLikelihood, "not with weights"},
    {"aten.pairwise_distance.default", pairwise},
    {"aten.smooth_l1_loss.default", smooth},
};

llvm::ArrayRef<OpRow> torch::lossRows() { return lossTable; }
