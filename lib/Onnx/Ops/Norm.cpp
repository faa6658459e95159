//===- Norm.cpp - normalizations and softmax ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Norm.h"
#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Pad.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Softmax.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

/// The shape of a vector along the channels.
static Shape channelShape(Val x, int64_t channels) {
  Shape shape(size_t(x.rank()), 1);
  if (x.rank() > 1)
    shape[1] = channels;
  return shape;
}

/// x * scale + bias, of vectors along the channels.
static Val scaled(Emitter &e, Val x, Val scale, Val bias) {
  Shape shape = channelShape(x, x.dim(1));
  Val product = e.mul(x, e.reshape(scale, shape));
  return e.add(product, e.reshape(bias, shape));
}

static Val normalized(Emitter &e, Val x, Val mean, Val variance,
                      double epsilon) {
  Val deviation = e.unary(ops::Sqrt, e.add(variance, epsilon));
  return e.div(e.sub(x, mean), deviation);
}

static Val meanOf(Emitter &e, Val x, llvm::ArrayRef<int64_t> axes) {
  return e.reduce(ops::ReduceMean, x, axes, true);
}

static Val varianceOf(Emitter &e, Val x, Val mean,
                      llvm::ArrayRef<int64_t> axes) {
  Val centred = e.sub(x, mean);
  return meanOf(e, e.mul(centred, centred), axes);
}

static void batchNorm(Node &node) {
  node.ignore("momentum");
  Emitter &e = node.e;
  Val x = node.in(0), scale = node.in(1), bias = node.in(2), mean = node.in(3),
      variance = node.in(4);
  if (node.failed())
    return;
  double epsilon = node.attrNumber("epsilon", 1e-5);
  if (node.opset() < 7 && node.attr("is_test", 0) == 0)
    return node.refuse("the training form before version 14");
  if (node.opset() < 9 && node.attr("spatial", 1) == 0)
    return node.refuse("statistics of each position, `spatial` 0");
  Shape shape = channelShape(x, x.rank() > 1 ? x.dim(1) : x.dim(0));
  if (node.opset() >= 14 && node.attr("training_mode", 0) != 0) {
    double momentum = node.attrNumber("momentum", 0.9);
    Shape axes;
    for (int64_t axis = 0; axis != x.rank(); ++axis)
      if (axis != 1)
        axes.push_back(axis);
    Val own = meanOf(e, x, axes), ownVariance = varianceOf(e, x, own, axes);
    auto running = [&](Val before, Val now) {
      Val flat = e.reshape(now, {now.size()});
      Val kept = e.mul(before, momentum);
      return e.add(kept, e.mul(flat, 1 - momentum));
    };
    node.out(1, running(mean, own));
    node.out(2, running(variance, ownVariance));
    return node.out(
        scaled(e, normalized(e, x, own, ownVariance, epsilon), scale, bias));
  }
  node.keepConstant(mean);
  node.keepConstant(variance);
  bool stored = mean.isKnown() && variance.isKnown() && scale.isKnown() &&
                bias.isKnown() && x.rank() >= 3 && x.rank() <= 5;
  if (stored)
    return node.out(
        e.make(ops::BatchNorm, {x, mean, variance, scale, bias},
               {{param::epsilon, Constant::scalar(x.dtype(), epsilon)}}));
  mean = e.reshape(mean, shape);
  variance = e.reshape(variance, shape);
  Val unit = normalized(e, x, mean, variance, epsilon);
  Val product = e.mul(unit, e.reshape(scale, shape));
  node.out(e.add(product, e.reshape(bias, shape)));
}

/// All axes from `first` on.
static Shape axesFrom(int64_t first, int64_t rank) {
  Shape axes;
  for (int64_t axis = first; axis < rank; ++axis)
    axes.push_back(axis);
  return axes;
}

static void instanceNorm(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), scale = node.in(1), bias = node.in(2);
  if (node.failed())
    return;
  Shape axes = axesFrom(2, x.rank());
  Val mean = meanOf(e, x, axes), variance = varianceOf(e, x, mean, axes);
  double epsilon = node.attrNumber("epsilon", 1e-5);
  node.out(scaled(e, normalized(e, x, mean, variance, epsilon), scale, bias));
}

static void layerNorm(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), scale = node.in(1), bias = node.maybe(2);
  int64_t axis = node.axis(-1, x.rank());
  if (node.failed())
    return;
  Shape axes = axesFrom(axis, x.rank());
  double epsilon = node.attrNumber("epsilon", 1e-5);
  Val mean = meanOf(e, x, axes), variance = varianceOf(e, x, mean, axes);
  Val result;
  if (node.wants(1) || node.wants(2)) {
    Val deviation = e.unary(ops::Sqrt, e.add(variance, epsilon));
    node.out(1, mean);
    node.out(2, e.div(e.scalar(x.dtype(), 1), deviation));
    result = e.div(e.sub(x, mean), deviation);
  } else {
    result = e.make(ops::LayerNorm, {x},
                    {{param::axes, axes},
                     {param::epsilon, Constant::scalar(x.dtype(), epsilon)}});
  }
  result = e.mul(result, scale);
  node.out(bias ? e.add(result, bias) : result);
}

/// x / sqrt(mean of squares + epsilon) * scale, in fp32.
static void rmsNorm(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), scale = node.in(1);
  int64_t axis = node.axis(-1, x.rank());
  if (node.failed())
    return;
  Val wide = e.cast(x, DType::FP32);
  Val mean = meanOf(e, e.mul(wide, wide), axesFrom(axis, x.rank()));
  Val root = e.unary(ops::Sqrt, e.add(mean, node.attrNumber("epsilon", 1e-5)));
  node.out(e.mul(e.cast(e.div(wide, root), x.dtype()), scale));
}

static void groupNorm(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), scale = node.in(1), bias = node.in(2);
  int64_t groups = node.attr("num_groups", 1), channels = x.dim(1);
  if (node.failed())
    return;
  if (groups < 1 || channels % groups != 0 || x.size() == 0)
    return node.fail("the channels are not a multiple of the groups");
  Val parts = e.reshape(x, {x.dim(0), groups, x.size() / (x.dim(0) * groups)});
  Val mean = meanOf(e, parts, {2}), variance = varianceOf(e, parts, mean, {2});
  Val result =
      normalized(e, parts, mean, variance, node.attrNumber("epsilon", 1e-5));
  auto perChannel = [&](Val vector) {
    if (vector.size() == channels)
      return vector;
    return e.reshape(e.broadcast(e.reshape(vector, {groups, 1}),
                                 {groups, channels / groups}),
                     {channels});
  };
  result = e.reshape(result, x.shape());
  scale = perChannel(scale);
  node.out(scaled(e, result, scale, perChannel(bias)));
}

static void localResponseNorm(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  int64_t size = node.attr("size", 1), before = (size - 1) / 2,
          after = size - 1 - before;
  double alpha = node.attrNumber("alpha", 1e-4),
         beta = node.attrNumber("beta", 0.75), k = node.attrNumber("bias", 1);
  if (x.rank() < 3 || size < 1)
    return node.fail("the input must have a rank of at least 3");
  Shape pads(size_t(2 * x.rank()), 0);
  pads[2] = before;
  pads[3] = after;
  Val squares = e.make(ops::Pad, {e.mul(x, x)},
                       {{param::pad, pads},
                        {param::padMode, PadMode::Constant},
                        {param::constantVal, Constant::scalar(x.dtype(), 0)}});
  Val sum;
  for (int64_t i = 0; i != size; ++i) {
    Val part = e.slice(squares, 1, i, i + x.dim(1));
    if (!part)
      return;
    sum = i == 0 ? part : e.add(sum, part);
  }
  Val base = e.add(e.mul(sum, alpha / double(size)), k);
  node.out(e.div(x, e.binary(ops::Pow, base, e.scalar(x.dtype(), beta))));
}

static void lpNorm(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  int64_t axis = node.axis(-1, x.rank());
  if (node.failed())
    return;
  int64_t p = node.attr("p", 2);
  if (p != 1 && p != 2)
    return node.fail("`p` of `LpNormalization` must be 1 or 2");
  const OpDef &reduction = p == 1 ? ops::ReduceL1Norm : ops::ReduceL2Norm;
  Val norm = e.reduce(reduction, x, {axis}, true);
  // What is 0 has no direction, and stays 0.
  Val isZero = e.make(ops::Equal, {norm, e.scalar(x.dtype(), 0)});
  node.out(e.div(x, e.select(isZero, e.scalar(x.dtype(), 1), norm)));
}

static void meanVarianceNorm(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  Shape axes = node.attrInts("axes");
  if (axes.empty())
    axes = {0, 2, 3};
  for (int64_t &axis : axes)
    axis = node.normalized(axis, x.rank());
  if (node.failed())
    return;
  Val mean = meanOf(e, x, axes), variance = varianceOf(e, x, mean, axes);
  // As ONNX defines it, with the epsilon outside of the root.
  Val deviation = e.add(e.unary(ops::Sqrt, variance), 1e-9);
  node.out(e.div(e.sub(x, mean), deviation));
}

/// Before version 13, all axes from `axis` on are one.
template <typename Apply>
static void alongAxis(Node &node, Apply apply) {
  Emitter &e = node.e;
  Val x = node.in(0);
  bool isFlat = node.opset() < 13;
  int64_t axis = node.axis(isFlat ? 1 : -1, std::max<int64_t>(x.rank(), 1));
  if (node.failed())
    return;
  if (!isFlat)
    return node.out(apply(x, axis));
  int64_t rows = 1;
  for (int64_t i = 0; i != axis; ++i)
    rows *= x.dim(i);
  Val flat = e.reshape(x, {rows, x.size() / std::max<int64_t>(rows, 1)});
  node.out(e.reshape(apply(flat, 1), x.shape()));
}

static void softmax(Node &node) {
  alongAxis(node, [&](Val x, int64_t axis) {
    return node.e.make(ops::Softmax, {x}, {{param::axis, axis}});
  });
}

static void logSoftmax(Node &node) {
  Emitter &e = node.e;
  alongAxis(node, [&](Val x, int64_t axis) {
    return e.sub(x, e.reduce(ops::ReduceLogSumExp, x, {axis}, true));
  });
}

static void hardmax(Node &node) {
  Emitter &e = node.e;
  alongAxis(node, [&](Val x, int64_t axis) {
    Val index = e.make(ops::ReduceArgmax, {x},
                       {{param::axis, axis}, {param::keepDims, false}});
    DType dtype = x.dtype();
    return e.make(ops::OneHot, {index},
                  {{param::oneHotVectorSize, x.dim(axis)},
                   {param::axis, axis},
                   {param::onValue, Constant::scalar(dtype, 1)},
                   {param::offValue, Constant::scalar(dtype, 0)}});
  });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow normTable[] = {
    {"BatchNormalization", batchNorm, 1,
     "not the training form before version 14"},
    {"GroupNormalization", groupNorm, 18},
    {"Hardmax", hardmax},
    {"InstanceNormalization", instanceNorm},
    {"LRN", localResponseNorm},
    {"LayerNormalization", layerNorm, 17},
    {"LogSoftmax", logSoftmax},
    {"LpNormalization", lpNorm},
    {"MeanVarianceNormalization", meanVarianceNorm, 9},
    {"RMSNormalization", rmsNorm, 23},
    {"Softmax", softmax},
};

llvm::ArrayRef<OpRow> onnx::normRows() { return normTable; }
