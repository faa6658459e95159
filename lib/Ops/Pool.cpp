//===- Pool.cpp - pooling ---------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A window slides over the spatial axes of each channel of x [images,
/// channels, spatial...].
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Pool.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Pooling.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include <cmath>

using namespace anec;

static bool checkPoolParameters(InferContext &ctx, unsigned spatial) {
  return checkLength(ctx, param::kernelSizes, spatial) && // C2
         checkLength(ctx, param::strides, spatial) &&     // C2
         checkLength(ctx, param::pad, 2 * spatial) &&     // C2
         checkRange(ctx, param::kernelSizes, 1) &&        // C3
         checkRange(ctx, param::strides, 1) &&            // C3
         checkRange(ctx, param::pad, 0) &&                // C3
         checkMode(ctx, param::padType);                  // C4
}

static bool inferPool(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, 5)) // C1
    return false;
  TensorType type = ctx.type(0);
  if (!checkPoolParameters(ctx, type.rank() - 2))
    return false;
  bool same = isSame(ctx.get(param::padType));
  for (auto [i, axis] : llvm::enumerate(poolAxes(ctx, type.shape))) {
    if (ctx.get(param::ceilMode) && (same || axis.before != axis.after)) // C5
      return ctx.fail(diag::PoolCeil(ctx.opName()), {0});
    if (axis.before >= axis.kernel || axis.after >= axis.kernel) // C6
      return ctx.fail(diag::ParameterRange(
          ctx.opName(), "pad",
          std::to_string(std::max(axis.before, axis.after)),
          "less than the kernel's " + std::to_string(axis.kernel)));
    if (axis.output < 1) // C7
      return ctx.fail(diag::ConvKernel(ctx.opName(), axis.kernel, i,
                                       axis.input + axis.before + axis.after),
                      {0});
    type.shape[i + 2] = axis.output;
  }
  return ctx.result(type);
}

/// Calls `fn(values, padding)` for every window in order, with the elements of
/// x in the window and the number of padding elements in it.
template <typename Fn>
static void forEachWindow(EvalContext &ctx, Fn fn) {
  const RefTensor &x = *ctx.in[0];
  PoolAxes axes = poolAxes(ctx, x.type.shape);
  Shape outputs, inputs, index(axes.size(), 0);
  int64_t channelSize = 1, windows = 1;
  for (const PoolAxis &axis : axes) {
    outputs.push_back(axis.output);
    inputs.push_back(axis.input);
    channelSize *= axis.input;
    windows *= axis.output;
  }
  Shape strides = rowMajorStrides(inputs),
        outputStrides = rowMajorStrides(outputs);
  std::vector<double> values;
  for (size_t channel = 0; channel < x.data.size(); channel += channelSize)
    for (int64_t window = 0; window < windows; ++window) {
      // Clip the window to the input, and count its elements including padding;
      // elements that ceil_mode adds after the padding do not count.
      Shape extents;
      int64_t first = int64_t(channel), size = 1;
      for (size_t i = 0; i < axes.size(); ++i) {
        const PoolAxis &axis = axes[i];
        int64_t begin =
            window / outputStrides[i] % axis.output * axis.stride - axis.before;
        int64_t end = std::min(begin + axis.kernel, axis.input + axis.after);
        size *= end - begin;
        begin = std::max<int64_t>(begin, 0);
        extents.push_back(
            std::max<int64_t>(std::min(end, axis.input) - begin, 0));
        first += begin * strides[i];
      }
      values.clear();
      forEachElement<1>(extents, {strides}, [&](const auto &at) {
        values.push_back(x.data[first + at[0]]);
      });
      fn(values, size - int64_t(values.size()));
    }
}

static void evalMaxPool(EvalContext &ctx) {
  auto to = ctx.out[0].data.begin();
  forEachWindow(ctx, [&](const std::vector<double> &values, int64_t) {
    double top = -INFINITY;
    for (double value : values)
      top = larger(top, value);
    *to++ = values.empty() ? 0 : top;
  });
}

static void evalAvgPool(EvalContext &ctx) {
  auto to = ctx.out[0].data.begin();
  bool exclude = ctx.get(param::excludePaddingFromAverage);
  forEachWindow(ctx, [&](const std::vector<double> &values, int64_t padding) {
    double sum = 0, count = double(values.size());
    for (double value : values)
      sum += value;
    *to++ =
        values.empty() ? 0 : sum / (exclude ? count : count + double(padding));
  });
}

static void evalL2Pool(EvalContext &ctx) {
  auto to = ctx.out[0].data.begin();
  forEachWindow(ctx, [&](const std::vector<double> &values, int64_t) {
    double sum = 0;
    for (double value : values)
      sum += value * value;
    *to++ = std::sqrt(sum);
  });
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {

/// Pooling windows as convolutions of each channel.
class PoolGradient {
public:
  explicit PoolGradient(Gradient &g)
      : g(g), axes(poolAxes(g.op, g.shape(0))), channels(g.shape(0)[1]) {
    for (const PoolAxis &axis : axes) {
      kernel.push_back(axis.kernel);
      strides.push_back(axis.stride);
      kernelSize = saturatingProduct({kernelSize, axis.kernel});
    }
  }

  /// Whether the constants of the rules are small enough for the program.
  bool canBake() const {
    return g.canBake({kernelSize, kernelSize, channels}) &&
           g.canBake(llvm::ArrayRef(g.op.result()->type.shape).drop_front(2));
  }

  bool hasOutside() const {
    return llvm::any_of(axes,
                        [](const PoolAxis &axis) { return axis.hasOutside(); });
  }

  /// Sums, for each element of x, the values of the windows that contain it.
  /// `values` has `weight.size() / kernelSize` channels per channel of x;
  /// `weight` is the factor of each at each position of the window.
  Value *spreadWindows(Value *values, llvm::ArrayRef<double> weight) {
    Shape pad, shape = g.shape(0), behind(shape.size(), 0);
    for (auto [i, axis] : llvm::enumerate(axes)) {
      int64_t reached =
          (axis.output - 1) * axis.stride + axis.kernel - axis.before;
      pad.append({axis.before, std::max<int64_t>(0, reached - axis.input)});
      behind[i + 2] = std::max<int64_t>(0, axis.input - reached);
      shape[i + 2] -= behind[i + 2];
    }
    Value *spread =
        g.make(ops::ConvTranspose, {values, kernelPerChannel(weight)},
               {{param::padType, PadType::Custom},
                {param::pad, llvm::ArrayRef<int64_t>(pad)},
                {param::strides, llvm::ArrayRef<int64_t>(strides)},
                {param::groups, channels},
                {param::outputShape, llvm::ArrayRef<int64_t>(shape)}});
    return g.pad(spread, Shape(shape.size(), 0), behind);
  }
  Value *spreadWindows(Value *values) {
    return spreadWindows(values, std::vector<double>(kernelSize, 1));
  }

  /// The elements of each window: [images, channels, kernel, windows]. Padding
  /// is the lowest number of the element type.
  Value *windowElements() {
    Shape amounts;
    for (const PoolAxis &axis : axes) {
      int64_t reached =
          (axis.output - 1) * axis.stride + axis.kernel - axis.before;
      amounts.append({axis.before, std::max<int64_t>(0, reached - axis.input)});
    }
    Value *x = g.make(
        ops::Pad, {g.in(0)},
        {{param::pad, llvm::ArrayRef<int64_t>(amounts)},
         {param::constantVal, Constant::scalar(g.dtype(), lowest(g.dtype()))}});
    Value *elements =
        g.make(ops::Conv, {x, kernelPerChannel(onePerElement())},
               {{param::strides, llvm::ArrayRef<int64_t>(strides)},
                {param::groups, channels}});
    int64_t windows =
        saturatingProduct(llvm::ArrayRef(elements->type.shape).drop_front(2));
    return g.reshape(elements, {g.shape(0)[0], channels, kernelSize, windows});
  }
  /// The weight that copies each element of the window to a channel of its own.
  std::vector<double> onePerElement() const {
    std::vector<double> weight(kernelSize * kernelSize);
    for (int64_t i = 0; i < kernelSize; ++i)
      weight[i * kernelSize + i] = 1;
    return weight;
  }

  /// 1 / count for each window, where count is the number of elements that the
  /// mean is computed of: without padding if `exclude`, otherwise with it.
  std::vector<double> inverseCounts(bool exclude) const {
    Shape outputs;
    for (const PoolAxis &axis : axes)
      outputs.push_back(axis.output);
    std::vector<double> counts;
    Shape strides = rowMajorStrides(outputs);
    forEachElement<1>(outputs, {strides}, [&](const auto &at) {
      double count = 1;
      for (auto [i, axis] : llvm::enumerate(axes)) {
        int64_t number = at[0] / strides[i] % axis.output;
        int64_t begin = number * axis.stride - axis.before;
        int64_t end = std::min(begin + axis.kernel, axis.input + axis.after);
        count *= begin >= axis.input ? 0
                 : exclude           ? double(std::min(end, axis.input) -
                                    std::max<int64_t>(begin, 0))
                                     : double(end - begin);
      }
      counts.push_back(count > 0 ? 1 / count : 0);
    });
    return counts;
  }
  Shape outputShape() const {
    Shape shape = {1, 1};
    for (const PoolAxis &axis : axes)
      shape.push_back(axis.output);
    return shape;
  }

private:
  Value *kernelPerChannel(llvm::ArrayRef<double> weight) {
    Shape shape = {channels * int64_t(weight.size()) / kernelSize, 1};
    shape.append(kernel);
    std::vector<double> all;
    for (int64_t c = 0; c < channels; ++c)
      llvm::append_range(all, weight);
    return g.array(shape, all);
  }

  Gradient &g;
  PoolAxes axes;
  Shape kernel, strides;
  int64_t channels, kernelSize = 1;
};

} // namespace

static void gradientAvgPool(Gradient &g) {
  PoolGradient p(g);
  if (!p.canBake())
    return;
  g.give(0, [&] {
    bool exclude = g.op.get(param::excludePaddingFromAverage);
    Value *inverse = g.array(p.outputShape(), p.inverseCounts(exclude));
    return p.spreadWindows(g.mul(g.dy(), inverse));
  });
}

/// y = sqrt(sum(x^2)): dx = x dy / y, summed over the windows.
static void gradientL2Pool(Gradient &g) {
  PoolGradient p(g);
  if (!p.canBake())
    return;
  g.give(0, [&] {
    Value *share = g.where(g.above(g.out(), 0), g.div(g.dy(), g.out()));
    return g.mul(g.in(0), p.spreadWindows(share));
  });
}

/// The gradient goes to the largest element; equal ones share it.
static void gradientMaxPool(Gradient &g) {
  PoolGradient p(g);
  if (!p.canBake())
    return;
  g.give(0, [&] {
    Shape windows = g.op.result()->type.shape;
    Shape flat = {windows[0], windows[1], 1,
                  saturatingProduct(llvm::ArrayRef(windows).drop_front(2))};
    Value *elements = p.windowElements();
    Value *isLargest = g.make(ops::Equal, {elements, g.reshape(g.out(), flat)});
    Value *taken = g.indicator(isLargest);
    Value *count = g.sum(taken, 2);
    if (p.hasOutside()) // of whose windows no element is taken
      count = g.make(ops::Maximum, {count, g.scalar(1)});
    Value *share = g.div(g.reshape(g.dy(), flat), count);
    windows[1] *= elements->type.shape[2];
    return p.spreadWindows(g.reshape(g.mul(taken, share), windows),
                           p.onePerElement());
  });
}

static int64_t flopsPool(const Op &op) {
  Shape factors = op.get(param::kernelSizes);
  factors.push_back(op.result()->type.numElements());
  return saturatingProduct(factors);
}

static constexpr OpDef pool(llvm::StringLiteral name,
                            llvm::StringLiteral summary,
                            void (*eval)(EvalContext &),
                            void (*gradient)(Gradient &)) {
  return {
      .name = name,
      .summary = summary,
      .family = "pool",
      .params = {value(param::x, floats, 'T', "[images, channels, spatial...]"),
                 integers(param::kernelSizes),
                 integers(param::strides, "ones(spatial)"),
                 mode(param::padType),
                 integers(param::pad, "zeros(2*spatial)",
                          "(before, after) per spatial axis; used when "
                          "`pad_type` is custom"),
                 boolean(param::ceilMode, "false",
                         "whether the last window can extend past the end. "
                         "Without padding and with a stride above the kernel, "
                         "it can lie outside: its value, which Core ML does "
                         "not document, is 0 here, with a warning")},
      .traits = trait::Mil,
      .constraints = {"`x` has a rank of 3 to 5",
                      "`kernel_sizes`, `strides` (and `pad`) have an "
                      "element (a pair) for each spatial axis",
                      "`kernel_sizes` and `strides` are at least 1, `pad` "
                      "at least 0",
                      oneOf<"`pad_type` is ", PadType>,
                      "with `ceil_mode`, padding is equal on both sides, and "
                      "`pad_type` is not same or same_lower",
                      "`pad` is smaller than the kernel",
                      "the kernel fits the padded input"},
      .infer = inferPool,
      .eval = eval,
      .flops = flopsPool,
      .gradient = gradient,
      .positions = {positions::neighbors}};
}

void anec::warnOfWindowsOutside(const Module &module, Diagnostics &diags) {
  for (const auto &function : module.functions)
    for (const Op &op : function->body()) {
      if (!op.is(ops::MaxPool) && !op.is(ops::AvgPool) && !op.is(ops::L2Pool))
        continue;
      PoolAxes axes = poolAxes(op, op.operand(0u)->type.shape);
      for (auto [index, axis] : llvm::enumerate(axes))
        if (axis.hasOutside())
          diags.report(op.range(), diag::PoolOutside, op.def().name, index);
    }
}

constinit const OpDef ops::MaxPool =
    pool("max_pool", "The largest element in each window of `x`.", evalMaxPool,
         gradientMaxPool);
constinit const OpDef ops::L2Pool = pool(
    "l2_pool",
    "The square root of the sum of squares of the elements in each window.",
    evalL2Pool, gradientL2Pool);

static constexpr OpDef averagePool() {
  OpDef def = pool("avg_pool", "The mean of the elements in each window.",
                   evalAvgPool, gradientAvgPool);
  def.params[6] = boolean(param::excludePaddingFromAverage, "false",
                          "whether the mean excludes the zeros of the padding");
  return def;
}
constinit const OpDef ops::AvgPool = averagePool();
