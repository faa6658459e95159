//===- PanelSums.h - sums of convolutions for panels of outputs -*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// As in a matrix product, the sums of a few positions and a panel of outputs
/// are in registers; each term loads a row of the panel's weights and
/// broadcasts an element of the image for each position. Lanes.h says why so
/// little is included.
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PANELSUMS_H
#define ANEC_LIB_RUNTIME_CPU_PANELSUMS_H

#include "TransposeBlock.h"

namespace anec::cpu {
namespace {

/// The vectors of a panel of outputs. With the weights and an element, the sums
/// of six positions take as many registers as there are.
constexpr size_t mostPanelVectors = vectorRegisters == 32 ? 4 : 2;
constexpr size_t panelPositions = 6;

/// How many terms ahead weights are asked for.
constexpr size_t prefetchedTerms = 16;
/// How many elements ahead the image is: next positions mostly have the cache
/// line after this one, and terms are too far apart for the processor to see.
constexpr size_t prefetchedPositions = 16;

/// Terms that are added in one go: the elements of the image that neighbouring
/// positions have in common stay in the first-level cache.
constexpr size_t mostPartTerms = 512;

/// \p positions positions, whose elements are at x + at[i] + offsets[t], added
/// to \p out unless it `isFirst`.
template <size_t positions, size_t vectors>
void panelTile(const uint32_t *at, const SumTerms &terms,
               const SumWeights &outputs, float *out, bool isFirst, bool half) {
  const float *from[positions];
  for (size_t i = 0; i < positions; ++i)
    from[i] = terms.x + at[i];
  Floats sums[positions][vectors] = {};
  if (!isFirst)
#pragma GCC unroll 6
    for (size_t i = 0; i < positions; ++i)
#pragma GCC unroll 4
      for (size_t j = 0; j < vectors; ++j)
        sums[i][j] = load(out + (i * vectors + j) * width);
  // Here, what is asked for ahead could change what is behind a reference.
  size_t count = terms.count;
  const uint32_t *offsets = terms.offsets;
  const float *weights = outputs.weights;
  for (size_t t = 0; t < count; ++t, weights += vectors * width) {
    size_t offset = offsets[t];
    __builtin_prefetch(from[0] + offset + prefetchedPositions);
    Floats row[vectors];
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; ++j) {
      row[j] = load(weights + j * width);
      __builtin_prefetch(weights + (prefetchedTerms * vectors + j) * width);
    }
#pragma GCC unroll 6
    for (size_t i = 0; i < positions; ++i) {
      Floats element = splat(from[i][offset]);
#pragma GCC unroll 4
      for (size_t j = 0; j < vectors; ++j)
        sums[i][j] += element * row[j];
    }
  }
  const float *starts = outputs.starts;
#pragma GCC unroll 6
  for (size_t i = 0; i < positions; ++i)
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; ++j) {
      Floats sum = sums[i][j];
      if (starts)
        sum += load(starts + j * width);
      store(out + (i * vectors + j) * width, half ? roundToHalf(sum) : sum);
    }
}

template <size_t vectors>
void panelRun(SumPositions all, const SumTerms &terms,
              const SumWeights &outputs, float *out, bool isFirst, bool half) {
  size_t i = 0, n = all.count;
  auto tile = [&]<size_t positions>() {
    panelTile<positions, vectors>(all.at + i, terms, outputs,
                                  out + i * vectors * width, isFirst, half);
  };
  for (; i + panelPositions <= n; i += panelPositions)
    tile.template operator()<panelPositions>();
  switch (n - i) {
  case 5:
    return tile.template operator()<5>();
  case 4:
    return tile.template operator()<4>();
  case 3:
    return tile.template operator()<3>();
  case 2:
    return tile.template operator()<2>();
  case 1:
    return tile.template operator()<1>();
  }
}

void panelSumsKernel(const SumPositions &positions, const SumTerms &terms,
                     const SumWeights &outputs, float *sums,
                     const SumPlaces &to, Rounding rounding) {
  bool half = rounding == Rounding::FP16;
  size_t vectors = (outputs.count + width - 1) / width;
  size_t parts = (terms.count + mostPartTerms - 1) / mostPartTerms;
  // No terms are one part, too.
  parts = parts == 0 ? 1 : parts;
  auto run = [&]<size_t count>() {
    for (size_t part = 0; part < parts; ++part) {
      size_t begin = terms.count * part / parts;
      size_t end = terms.count * (part + 1) / parts;
      bool isLast = part + 1 == parts;
      panelRun<count>(positions, {end - begin, terms.offsets + begin, terms.x},
                      {outputs.count, outputs.weights + begin * count * width,
                       isLast ? outputs.starts : nullptr},
                      sums, part == 0, isLast && half);
    }
  };
  if constexpr (mostPanelVectors == 4) {
    if (vectors == 4)
      run.template operator()<4>();
    else if (vectors == 3)
      run.template operator()<3>();
  }
  if (vectors == 2)
    run.template operator()<2>();
  else if (vectors == 1)
    run.template operator()<1>();

  size_t n = positions.count, stride = to.stride;
  for (size_t o = 0; o < outputs.count; o += width) {
    size_t left = outputs.count - o, columns = left < width ? left : width;
    for (size_t i = 0; i < n; i += width) {
      const float *block = sums + i * vectors * width + o;
      float *out = to.out + o * stride + i;
      if (columns == width && n - i >= width)
        transposeBlock(block, vectors * width, out, stride);
      else
        transposePart(columns, n - i < width ? n - i : width, block,
                      vectors * width, out, stride);
    }
  }
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PANELSUMS_H
