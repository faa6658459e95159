//===- Poolings.cpp - pooling ---------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Scatter.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;

/// An input without an axis of batches gets one.
static Val asBatch(Emitter &e, Val x, size_t count) {
  if (x.rank() != int64_t(count) + 1)
    return x;
  Shape shape = {1};
  llvm::append_range(shape, x.shape());
  return e.reshape(x, shape);
}

static Val withoutBatch(Emitter &e, Val x) {
  return e.reshape(x, Shape(x.shape().begin() + 1, x.shape().end()));
}

static OnnxNode windowNode(Node &n, llvm::StringLiteral op, size_t count,
                           bool hasDilation) {
  Shape kernel = n.spatial("kernel_size", count);
  Shape strides =
      n.ints("stride").empty() ? kernel : n.spatial("stride", count);
  Shape padding = n.spatial("padding", count), pads = padding;
  llvm::append_range(pads, padding);
  OnnxNode node(n, op);
  node.attr("kernel_shape", kernel)
      .attr("strides", strides)
      .attr("pads", pads)
      .attr("ceil_mode", int64_t(n.flag("ceil_mode")));
  if (hasDilation)
    node.attr("dilations", n.spatial("dilation", count));
  return node;
}

/// The greatest element of each window, and where it is in its plane.
template <size_t Count>
static void maxPool(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self"), batch = asBatch(e, x, Count);
  OnnxNode node = windowNode(n, "MaxPool", Count, true);
  bool wantsIndices = n.numOutputs() > 1;
  if (n.failed() || !x)
    return;
  Vals results = node.in(batch).run(wantsIndices ? 2 : 1);
  if (!results[0])
    return;
  // ONNX counts elements of all planes.
  if (wantsIndices && results[1]) {
    int64_t planes = std::max<int64_t>(batch.dim(0) * batch.dim(1), 1);
    int64_t plane = batch.size() / planes;
    results[1] =
        e.binary(ops::Mod, results[1], e.scalar(DType::Int32, double(plane)));
  }
  for (size_t i = 0; i != results.size(); ++i)
    n.out(i,
          batch.rank() == x.rank() ? results[i] : withoutBatch(e, results[i]));
}

template <size_t Count>
static void averagePool(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self"), batch = asBatch(e, x, Count);
  OnnxNode node = windowNode(n, "AveragePool", Count, false);
  bool counts = n.flag("count_include_pad");
  double factor = 1;
  if (n.has("divisor_override")) {
    // The sum is what the average with all padding has, times the window.
    for (int64_t extent : n.spatial("kernel_size", Count))
      factor *= double(extent);
    factor /= n.number("divisor_override");
    counts = true;
    if (n.flag("ceil_mode"))
      return n.fail("`divisor_override` with `ceil_mode`");
  }
  if (n.failed() || !x)
    return;
  Val result = node.attr("count_include_pad", int64_t(counts)).in(batch).run();
  if (factor != 1)
    result = e.mul(result, factor);
  n.out(batch.rank() == x.rank() || !result ? result : withoutBatch(e, result));
}

//===----------------------------------------------------------------------===//
// Adaptive
//===----------------------------------------------------------------------===//

/// Windows that reach from floor(i n / count) to ceil((i + 1) n / count).
static Val adaptedAlong(Emitter &e, Val x, int64_t axis, int64_t count,
                        const OpDef &reduction) {
  int64_t extent = x.dim(axis);
  if (count == extent)
    return x;
  if (count == 1)
    return e.reduce(reduction, x, {axis}, true);
  Vals parts;
  if (count > 0 && extent % count == 0) {
    Shape shape = x.shape(), kept = x.shape();
    shape[size_t(axis)] = count;
    kept[size_t(axis)] = count;
    shape.insert(shape.begin() + axis + 1, extent / count);
    return e.reshape(
        e.reduce(reduction, e.reshape(x, shape), {axis + 1}, false), kept);
  }
  for (int64_t i = 0; i != count; ++i) {
    int64_t begin = i * extent / count;
    int64_t end = ((i + 1) * extent + count - 1) / count;
    parts.push_back(
        e.reduce(reduction, e.slice(x, axis, begin, end), {axis}, true));
    if (!parts.back())
      return {};
  }
  return parts.empty() ? Val() : e.concat(parts, axis);
}

template <const OpDef &Reduction>
static void adaptivePool(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  Shape counts = n.ints("output_size");
  auto first = x.rank() - int64_t(counts.size());
  if (n.failed() || first < 1)
    return n.fail("its input has too few axes");
  constexpr int64_t most = 1024;
  for (auto [i, count] : llvm::enumerate(counts)) {
    int64_t axis = first + int64_t(i);
    if (count == -1)
      count = x.dim(axis);
    if (count < 1 || (count > most && x.dim(axis) % count != 0))
      return n.fail("its result is too large");
    x = adaptedAlong(e, x, axis, count, Reduction);
  }
  n.out(0, x);
}

static void maxUnpool(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self"), indices = n.in("indices");
  Shape size = n.ints("output_size");
  if (n.failed() || x.rank() != 4 || size.size() != 2)
    return n.fail("its input must have rank 4");
  int64_t planes = x.dim(0) * x.dim(1), from = x.dim(2) * x.dim(3);
  Val target = e.filled(x.dtype(), {planes, size[0] * size[1]}, 0);
  Val scattered =
      e.make(ops::ScatterAlongAxis,
             {target, e.reshape(indices, {planes, from}),
              e.reshape(x, {planes, from})},
             {{param::axis, 1}, {param::scatterMode, ScatterMode::Update}});
  n.out(e.reshape(scattered, {x.dim(0), x.dim(1), size[0], size[1]}));
}

static constexpr OpRow poolingTable[] = {
    {"aten._adaptive_avg_pool2d.default", adaptivePool<ops::ReduceMean>},
    {"aten._adaptive_avg_pool3d.default", adaptivePool<ops::ReduceMean>},
    {"aten.adaptive_avg_pool1d.default", adaptivePool<ops::ReduceMean>},
    {"aten.adaptive_avg_pool2d.default", adaptivePool<ops::ReduceMean>},
    {"aten.adaptive_avg_pool3d.default", adaptivePool<ops::ReduceMean>},
    {"aten.adaptive_max_pool1d.default", adaptivePool<ops::ReduceMax>,
     "not the indices"},
    {"aten.adaptive_max_pool2d.default", adaptivePool<ops::ReduceMax>,
     "not the indices"},
    {"aten.avg_pool1d.default", averagePool<1>},
    {"aten.avg_pool2d.default", averagePool<2>},
    {"aten.avg_pool3d.default", averagePool<3>},
    {"aten.max_pool1d.default", maxPool<1>},
    {"aten.max_pool2d.default", maxPool<2>},
    {"aten.max_pool2d_with_indices.default", maxPool<2>},
    {"aten.max_pool3d.default", maxPool<3>},
    {"aten.max_pool3d_with_indices.default", maxPool<3>},
    {"aten.max_unpool2d.default", maxUnpool},
};

llvm::ArrayRef<OpRow> torch::poolingRows() { return poolingTable; }
