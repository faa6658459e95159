//===- StateWeight.cpp - the weight of a recurrent layer's state ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StateWeight.h"
#include "lib/Runtime/CPU/VectorKernels.h"
#include <algorithm>
#include <array>

using namespace anec;
using namespace anec::cpu;

/// With more rows, products are faster.
static constexpr size_t mostRows = 4;
static constexpr size_t mostColumns = 128;
/// Elements that weightedSums may read past the end.
static constexpr size_t readPast = 16;

size_t StateWeight::panelColumns() {
  return instructionSet() == InstructionSet::AVX512 ? mostColumns
                                                    : mostColumns / 4;
}

StateWeight::StateWeight(const ProductKernels &kernels, size_t rows, size_t n,
                         size_t k, const float *weight)
    : kernels(kernels), rows(rows), n(n), k(k), columns(panelColumns()) {
  if (rows > mostRows) {
    packed = kernels.packRight(k, n, weight, k, Transpose::Yes);
    return;
  }
  for (size_t term = 0; term < k; ++term)
    offsets.push_back(uint32_t(term * columns));
  size_t count = (n + columns - 1) / columns * columns * k;
  panels = makeAlignedArray(count + readPast);
  std::fill_n(panels.get(), count + readPast, 0.0f);
  for (size_t column = 0; column < n; ++column)
    for (size_t term = 0; term < k; ++term)
      panels[(column / columns * k + term) * columns + column % columns] =
          weight[column * k + term];
}

void StateWeight::multiplyPanel(size_t panel, const float *from,
                                const float *bias, float *to,
                                bool accumulate) const {
  size_t first = panel * columns, count = std::min(columns, n - first);
  std::array<float, mostRows * mostColumns> sums;
  weightedSums(count, {k, offsets.data(), panels.get() + first * k},
               {rows, from, nullptr}, {sums.data(), columns}, Rounding::None);
  for (size_t row = 0; row < rows; ++row) {
    float *place = to + row * n + first;
    for (size_t i = 0; i < count; ++i)
      place[i] = sums[row * columns + i] + (bias ? bias[first + i] : 0.0f) +
                 (accumulate ? place[i] : 0.0f);
  }
}

void StateWeight::multiply(Executor &pool, const float *from, const float *bias,
                           float *to, bool accumulate, Finish finish) const {
  size_t count = (n + columns - 1) / columns;
  auto finishPanel = [&](size_t panel) {
    finish(panel * columns, std::min(columns, n - panel * columns));
  };
  if (!panels) {
    GemmShape shape;
    shape.m = rows;
    shape.k = shape.lda = k;
    shape.n = shape.ldc = n;
    GemmOperands product;
    product.a = from;
    product.c = to;
    product.columnBias = bias;
    kernels.multiplyRight(pool, packed, shape, product,
                          {Rounding::None, accumulate});
    for (size_t panel = 0; panel < count; ++panel)
      finishPanel(panel);
    return;
  }
  auto run = [&](size_t begin, size_t end) {
    for (size_t panel = begin; panel < end; ++panel) {
      multiplyPanel(panel, from, bias, to, accumulate);
      finishPanel(panel);
    }
  };
  // Sharing a smaller one takes longer than reading it.
  constexpr size_t sharedElements = size_t(1) << 17;
  if (n * k < sharedElements)
    return run(0, count);
  // As few tasks as workers: they mostly take the same panels at every step,
  // which are in their caches.
  size_t tasks = std::min<size_t>(count, pool.size());
  pool.parallelFor(tasks, [&](size_t task, unsigned) {
    run(count * task / tasks, count * (task + 1) / tasks);
  });
}
