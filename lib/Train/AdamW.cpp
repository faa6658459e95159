//===- AdamW.cpp - the optimizer ------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/AdamW.h"
#include "AdamWKernels.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace anec;

/// Elements per block: its four arrays fit into a core's cache, and it is large
/// enough to be worth scheduling as a task.
static constexpr size_t blockSize = 65536;

AdamW::AdamW(llvm::ArrayRef<NamedFloats> weights,
             llvm::ArrayRef<NamedFloats> gradients, Executor &pool)
    : pool(pool) {
  // One allocation for all: separate huge pages would be half empty.
  constexpr size_t line = 16;
  size_t total = 0;
  for (const NamedFloats &gradient : gradients)
    total += 2 * llvm::alignTo(gradient.elements.size(), line);
  memory = makeAlignedArray(total);
  float *next = memory.get();
  auto weight = weights.begin();
  for (const NamedFloats &gradient : gradients) {
    while (weight->name != gradient.name)
      ++weight;
    size_t size = gradient.elements.size();
    auto moment = [&](llvm::StringRef suffix) {
      float *elements = next;
      next += llvm::alignTo(size, line);
      arrays.push_back(
          {gradient.name + suffix.str(), gradient.type, {elements, size}});
      return elements;
    };
    float *m = moment(".m"), *v = moment(".v");
    // Vectors are scales and biases, which should not decay towards zero.
    bool decays = gradient.type.shape.size() > 1;
    for (size_t at = 0; at < size; at += blockSize)
      blocks.push_back({weight->elements.data() + at, m + at, v + at,
                        gradient.elements.data() + at,
                        std::min(blockSize, size - at), decays,
                        gradient.isChange});
    if (!gradient.isChange)
      count += size;
  }
  sums.resize(blocks.size());
  pool.parallelFor(blocks.size(), [&](size_t task, unsigned) {
    const Block &block = blocks[task];
    std::memset(block.m, 0, block.count * sizeof(float));
    std::memset(block.v, 0, block.count * sizeof(float));
  });
}

double AdamW::gradientNorm() {
  pool.parallelFor(blocks.size(), [&](size_t task, unsigned) {
    const Block &block = blocks[task];
    sums[task] =
        block.isChange ? 0 : adamw::sumOfSquares(block.count, block.gradient);
  });
  double sum = 0;
  for (double part : sums)
    sum += part;
  return std::sqrt(sum);
}

/// Takes the mean change of the runs off the weight.
static void takeChange(size_t count, float *weight, const float *change,
                       float factor) {
  for (size_t i = 0; i != count; ++i)
    weight[i] -= factor * change[i];
}

void AdamW::step(const Hyperparameters &hyper, double learningRate,
                 double unscale, double clip, uint64_t update) {
  adamw::Scalars scalars;
  scalars.gradientFactor = float(unscale * clip);
  scalars.beta1 = float(hyper.beta1);
  scalars.beta2 = float(hyper.beta2);
  scalars.epsilon = float(hyper.epsilon);
  // Corrects the bias of the moments, which start at zero.
  scalars.rate =
      float(learningRate / (1 - std::pow(hyper.beta1, double(update))));
  scalars.rootFactor =
      float(1 / std::sqrt(1 - std::pow(hyper.beta2, double(update))));
  float keptWithDecay = float(1 - learningRate * hyper.weightDecay);
  pool.parallelFor(blocks.size(), [&](size_t task, unsigned) {
    const Block &block = blocks[task];
    if (block.isChange)
      return takeChange(block.count, block.weight, block.gradient,
                        float(unscale));
    adamw::Scalars mine = scalars;
    mine.kept = block.decays ? keptWithDecay : 1;
    adamw::update(block.count, block.weight, block.m, block.v, block.gradient,
                  mine);
  });
}
