//===- Norms.cpp - normalizations -----------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Reduce.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;

namespace {
/// The factors and summands after a normalization; either can be missing.
struct Affine {
  Val weight, bias;
};

struct Statistics {
  Val mean, variance;
};
} // namespace

/// The shape of a vector along the channels.
static Shape channelShape(Val x) {
  Shape shape(size_t(x.rank()), 1);
  if (x.rank() > 1)
    shape[1] = x.dim(1);
  return shape;
}

static Val meanOf(Emitter &e, Val x, llvm::ArrayRef<int64_t> axes) {
  return e.reduce(ops::ReduceMean, x, axes, true);
}

static Val varianceOf(Emitter &e, Val x, Val mean,
                      llvm::ArrayRef<int64_t> axes) {
  Val centred = e.sub(x, mean);
  return meanOf(e, e.mul(centred, centred), axes);
}

static Statistics statisticsOf(Emitter &e, Val x,
                               llvm::ArrayRef<int64_t> axes) {
  Val mean = meanOf(e, x, axes);
  return {mean, varianceOf(e, x, mean, axes)};
}

static Val inverseDeviation(Emitter &e, Val variance, double epsilon) {
  Val root = e.unary(ops::Sqrt, e.add(variance, epsilon));
  return e.div(e.scalar(root.dtype(), 1), root);
}

/// x * weight + bias, where they are given, in `shape`.
static Val scaledAndShifted(Emitter &e, Val x, Val weight, Val bias,
                            Shape shape) {
  if (weight)
    x = e.mul(x, e.reshape(weight, shape));
  return bias ? e.add(x, e.reshape(bias, shape)) : x;
}

static Shape axesFrom(int64_t first, int64_t rank) {
  Shape axes;
  for (int64_t axis = first; axis < rank; ++axis)
    axes.push_back(axis);
  return axes;
}

static Shape allButChannels(int64_t rank) {
  Shape axes = {0};
  llvm::append_range(axes, axesFrom(2, rank));
  return axes;
}

//===----------------------------------------------------------------------===//
// Of batches
//===----------------------------------------------------------------------===//

/// By statistics that are known, or were updated before.
static Val byRunning(Node &n, Val x, Affine affine, const Statistics &running,
                     double epsilon) {
  Emitter &e = n.e;
  auto [weight, bias] = affine;
  auto [mean, variance] = running;
  if (!weight)
    weight = e.filled(x.dtype(), {x.dim(1)}, 1);
  if (!bias)
    bias = e.filled(x.dtype(), {x.dim(1)}, 0);
  Vals stored = {mean, variance, weight, bias};
  if (x.rank() >= 3 && x.rank() <= 5 &&
      llvm::all_of(stored, [](Val value) { return value.isKnown(); }))
    return e.make(ops::BatchNorm,
                  {x, e.cast(mean, x.dtype()), e.cast(variance, x.dtype()),
                   e.cast(weight, x.dtype()), e.cast(bias, x.dtype())},
                  {{param::epsilon, Constant::scalar(x.dtype(), epsilon)}});
  Shape shape = channelShape(x);
  Val centred = e.sub(x, e.reshape(mean, shape));
  Val unit =
      e.mul(centred, inverseDeviation(e, e.reshape(variance, shape), epsilon));
  return scaledAndShifted(e, unit, weight, bias, shape);
}

/// By those of \p x itself.
static Val byOwn(Emitter &e, Val x, const Affine &affine, const Statistics &own,
                 double epsilon) {
  Val unit =
      e.mul(e.sub(x, own.mean), inverseDeviation(e, own.variance, epsilon));
  return scaledAndShifted(e, unit, affine.weight, affine.bias, channelShape(x));
}

static void batchNorm(Node &n) {
  Val x = n.in("input");
  Affine affine = {n.maybe("weight"), n.maybe("bias")};
  Statistics running = {n.maybe("running_mean"), n.maybe("running_var")};
  double epsilon = n.number("eps");
  n.ignore("momentum");
  n.ignore("cudnn_enabled");
  if (n.failed() || !x)
    return;
  if (!n.flag("training") && running.mean && running.variance)
    return n.out(0, byRunning(n, x, affine, running, epsilon));
  Statistics own = statisticsOf(n.e, x, allButChannels(x.rank()));
  n.out(0, byOwn(n.e, x, affine, own, epsilon));
}

/// The decomposed form, which also gives statistics.
static void legitNorm(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("input");
  Affine affine = {n.maybe("weight"), n.maybe("bias")};
  Statistics running = {n.maybe("running_mean"), n.maybe("running_var")};
  double epsilon = n.number("eps"), momentum = n.number("momentum");
  n.ignore("training");
  if (n.failed() || !x)
    return;
  bool training = n.op().contains("no_training") ? false
                  : n.op().ends_with("no_stats") ? true
                                                 : n.flag("training");
  if (!training) {
    n.out(0, byRunning(n, x, affine, running, epsilon));
    return; // in evaluation, there are no statistics of the batch
  }
  Statistics own = statisticsOf(e, x, allButChannels(x.rank()));
  n.out(0, byOwn(e, x, affine, own, epsilon));
  Shape channels = {x.dim(1)};
  n.out(1, e.reshape(own.mean, channels));
  n.out(2, e.reshape(inverseDeviation(e, own.variance, epsilon), channels));
  if (!running.mean || !running.variance)
    return;
  int64_t count = x.size() / std::max<int64_t>(x.dim(1), 1);
  Val unbiased = e.mul(e.reshape(own.variance, channels),
                       double(count) / double(std::max<int64_t>(count - 1, 1)));
  auto moved = [&](Val before, Val now) {
    Val kept = e.mul(before, 1 - momentum);
    return e.add(kept, e.mul(now, momentum));
  };
  n.out(3, moved(running.mean, e.reshape(own.mean, channels)));
  n.out(4, moved(running.variance, unbiased));
}

static void instanceNorm(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("input");
  Affine affine = {n.maybe("weight"), n.maybe("bias")};
  Statistics running = {n.maybe("running_mean"), n.maybe("running_var")};
  double epsilon = n.number("eps");
  n.ignore("momentum");
  n.ignore("cudnn_enabled");
  bool usesOwn = n.flag("use_input_stats");
  if (n.failed() || !x)
    return;
  if (!usesOwn)
    return n.out(byRunning(n, x, affine, running, epsilon));
  if (running.mean)
    return n.fail("it updates running statistics; export a model in `eval()` "
                  "mode");
  Statistics own = statisticsOf(e, x, axesFrom(2, x.rank()));
  n.out(byOwn(e, x, affine, own, epsilon));
}

//===----------------------------------------------------------------------===//
// Of layers and groups
//===----------------------------------------------------------------------===//

static void layerNorm(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("input"), weight = n.maybe("weight"), bias = n.maybe("bias");
  double epsilon = n.number("eps");
  n.ignore("cudnn_enable");
  Shape axes =
      axesFrom(x.rank() - int64_t(n.ints("normalized_shape").size()), x.rank());
  if (n.failed() || !x)
    return;
  bool wantsStatistics = n.wants(1) || n.wants(2);
  Val result = e.make(ops::LayerNorm, {x},
                      {{param::axes, axes},
                       {param::epsilon, Constant::scalar(x.dtype(), epsilon)}});
  if (weight)
    result = e.mul(result, weight);
  n.out(0, bias ? e.add(result, bias) : result);
  if (!wantsStatistics)
    return;
  Val mean = meanOf(e, x, axes);
  n.out(1, mean);
  n.out(2, inverseDeviation(e, varianceOf(e, x, mean, axes), epsilon));
}

static void rmsNorm(Node &n) {
  Emitter &e = n.e;
  Item input = n.item("input");
  Val x = e.native(input.val), weight = n.maybe("weight");
  Shape axes =
      axesFrom(x.rank() - int64_t(n.ints("normalized_shape").size()), x.rank());
  double epsilon = 1.1920928955078125e-07;
  if (input.type == ScalarType::Float16)
    epsilon = 0.0009765625;
  else if (input.type == ScalarType::BFloat16)
    epsilon = 0.0078125;
  else if (input.type == ScalarType::Float64)
    epsilon = 2.220446049250313e-16;
  if (n.has("eps"))
    epsilon = n.number("eps");
  Val wide = e.cast(x, DType::FP32);
  Val mean = meanOf(e, e.mul(wide, wide), axes);
  Val result = e.mul(wide, inverseDeviation(e, mean, epsilon));
  result = e.cast(result, x.dtype());
  n.out(weight ? e.mul(result, weight) : result);
}

static void groupNorm(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("input"), weight = n.maybe("weight"), bias = n.maybe("bias");
  int64_t groups = n.integer(n.has("num_groups") ? "num_groups" : "group");
  double epsilon = n.number("eps");
  for (StringRef size : {"N", "C", "HxW", "cudnn_enabled"})
    n.ignore(size);
  if (n.failed() || !x || groups < 1 || x.dim(1) % groups != 0 || x.size() == 0)
    return n.fail("the channels are not a multiple of the groups");
  Val parts = e.reshape(x, {x.dim(0), groups, x.size() / (x.dim(0) * groups)});
  Val mean = meanOf(e, parts, {2}), variance = varianceOf(e, parts, mean, {2});
  Val inverse = inverseDeviation(e, variance, epsilon);
  Val unit = e.reshape(e.mul(e.sub(parts, mean), inverse), x.shape());
  n.out(0, scaledAndShifted(e, unit, weight, bias, channelShape(x)));
  n.out(1, e.reshape(mean, {x.dim(0), groups}));
  n.out(2, e.reshape(inverse, {x.dim(0), groups}));
}

static constexpr OpRow normTable[] = {
    {"aten._native_batch_norm_legit.default", legitNorm},
    {"aten._native_batch_norm_legit.no_stats", legitNorm},
    {"aten._native_batch_norm_legit_functional.default", legitNorm},
    {"aten._native_batch_norm_legit_no_training.default", legitNorm},
    {"aten.batch_norm.default", batchNorm},
    {"aten.group_norm.default", groupNorm},
    {"aten.instance_norm.default", instanceNorm},
    {"aten.layer_norm.default", layerNorm},
    {"aten.native_group_norm.default", groupNorm},
    {"aten.native_layer_norm.default", layerNorm},
    {"aten.rms_norm.default", rmsNorm},
};

llvm::ArrayRef<OpRow> torch::normRows() { return normTable; }
