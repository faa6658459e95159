//===- CpuColumnsTest.cpp - Kernels of columns and windows ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Norms with factors, kernels along the outer axis, pooling and sorting, as in
/// CpuKernelsTest.cpp.
//===----------------------------------------------------------------------===//

#include "test/Unit/Runtime/CpuReference.h"

namespace anec::cpu {
namespace {

//===-- Normalization -----------------------------------------------------===//

TEST_P(CpuKernels, NormalizedElements) {
  for (Rounding rounding : roundings)
    for (size_t n : {0, 1, 7, 16, 31, 131})
      for (unsigned given = 0; given < 4; ++given) {
        Floats x = randomFloats(n, 99, 101), out(n + 1, 7);
        Floats scales = randomFloats(n, -1, 1, 2);
        Floats shifts = randomFloats(n, -1, 1, 3);
        normalizeElements(n, x.data(), {100.0, 3.0},
                          {given & 1 ? scales.data() : nullptr,
                           given & 2 ? shifts.data() : nullptr},
                          out.data(), rounding);
        for (size_t i = 0; i < n; ++i) {
          double expected = (double(x[i]) - 100) * 3;
          expected *= given & 1 ? double(scales[i]) : 1;
          expected += given & 2 ? double(shifts[i]) : 0;
          EXPECT_TRUE(isNear(out[i], expected, rounding, 6e-8));
        }
        EXPECT_EQ(out[n], 7) << "wrote past the end";
      }
}

TEST_P(CpuKernels, NormalizedColumns) {
  for (Rounding rounding : roundings)
    for (size_t rows : {1, 5, 301})
      for (size_t columns : {1, 15, 16, 67})
        for (unsigned given = 0; given < 4; ++given) {
          size_t stride = columns + 3;
          Floats x = randomFloats(rows * stride, -10, 30), out(x.size(), 7);
          Floats scales = randomFloats(rows, -1, 1, 2);
          Floats shifts = randomFloats(rows, -1, 1, 3);
          normalizeColumns({rows, columns, stride, x.data()}, 1e-5,
                           {given & 1 ? scales.data() : nullptr,
                            given & 2 ? shifts.data() : nullptr},
                           out.data(), rounding);
          for (size_t column = 0; column < columns; ++column) {
            double mean = 0, variance = 0;
            for (size_t row = 0; row < rows; ++row)
              mean += double(x[row * stride + column]) / double(rows);
            for (size_t row = 0; row < rows; ++row) {
              double far = double(x[row * stride + column]) - mean;
              variance += far * far / double(rows);
            }
            for (size_t row = 0; row < rows; ++row) {
              double value = double(x[row * stride + column]) - mean;
              value /= std::sqrt(variance + 1e-5);
              value *= given & 1 ? double(scales[row]) : 1;
              value += given & 2 ? double(shifts[row]) : 0;
              EXPECT_TRUE(isNear(out[row * stride + column], value, rounding,
                                 1e-7, 1e-12));
            }
          }
          for (size_t row = 0; row < rows; ++row)
            EXPECT_EQ(out[row * stride + columns], 7) << "wrote past a row";
        }
}

//===-- Along the outer axis ----------------------------------------------===//

TEST_P(CpuKernels, PlacesOfExtremes) {
  for (bool isMax : {false, true})
    for (size_t rows : {1, 2, 41})
      for (size_t columns : {1, 15, 16, 67, 130}) {
        size_t stride = columns + 2;
        Floats x = randomFloats(rows * stride, -9, 9);
        for (float &value : x) // several are equal
          value = std::round(value);
        for (size_t i = 3; i < x.size(); i += 37)
          x[i] = nan;
        std::vector<int32_t> places(columns + 1, 7);
        extremePlaces(isMax, {rows, columns, stride, x.data()}, places.data());
        for (size_t column = 0; column < columns; ++column) {
          size_t expected = 0;
          for (size_t row = 1; row < rows; ++row) {
            float best = x[expected * stride + column];
            float next = x[row * stride + column];
            if (!std::isnan(best) &&
                (std::isnan(next) || (isMax ? next > best : next < best)))
              expected = row;
          }
          EXPECT_EQ(places[column], int32_t(expected));
        }
        EXPECT_EQ(places[columns], 7) << "wrote past the end";
      }
}

TEST_P(CpuKernels, SumsSoFar) {
  for (Rounding rounding : roundings)
    for (size_t rows : {1, 2, 41})
      for (size_t columns : {1, 15, 16, 67, 130})
        for (bool isExclusive : {false, true})
          for (bool isReverse : {false, true}) {
            size_t stride = columns + 2;
            Floats x = randomFloats(rows * stride, -1, 2), out(x.size(), 7);
            Floats inPlace = x;
            sumsSoFar({rows, columns, stride, x.data()}, isExclusive, isReverse,
                      out.data(), rounding);
            sumsSoFar({rows, columns, stride, inPlace.data()}, isExclusive,
                      isReverse, inPlace.data(), rounding);
            for (size_t column = 0; column < columns; ++column) {
              double sum = 0;
              for (size_t row = 0; row < rows; ++row) {
                size_t at = isReverse ? rows - 1 - row : row;
                at = at * stride + column;
                double before = sum;
                sum += double(x[at]);
                EXPECT_TRUE(isNear(out[at], isExclusive ? before : sum,
                                   rounding, 6e-8));
                EXPECT_TRUE(isSame(out[at], inPlace[at]));
              }
            }
            for (size_t row = 0; row < rows; ++row)
              EXPECT_EQ(out[row * stride + columns], 7) << "wrote past a row";
          }
}

TEST_P(CpuKernels, Transposition) {
  for (size_t rows : {1, 7, 8, 16, 33, 64})
    for (size_t columns : {1, 5, 8, 16, 31, 48, 67}) {
      size_t stride = rows + 3, outStride = columns + 2;
      std::vector<uint32_t> x(columns * stride - 3), out(rows * outStride, 7);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = uint32_t(i * 0x9e3779b9); // NaNs and subnormals, too
      transpose(rows, columns, reinterpret_cast<const float *>(x.data()),
                stride, reinterpret_cast<float *>(out.data()), outStride);
      for (size_t row = 0; row < rows; ++row) {
        for (size_t column = 0; column < columns; ++column)
          EXPECT_EQ(out[row * outStride + column], x[column * stride + row]);
        EXPECT_EQ(out[row * outStride + columns], 7u) << "wrote past a row";
      }
    }
}

//===-- Sorting -----------------------------------------------------------===//

TEST_P(CpuKernels, FirstBefore) {
  for (bool ascending : {false, true})
    for (size_t n : {0, 1, 15, 32, 67, 200})
      for (float last : {0.9f, -0.9f, 0.0f, nan})
        for (bool hasNaN : {false, true}) {
          Floats x = randomFloats(n);
          if (hasNaN && n > 2)
            x[n - 2] = nan;
          size_t expected = 0;
          while (expected < n &&
                 (ascending ? x[expected] >= last : x[expected] <= last))
            ++expected;
          EXPECT_EQ(firstBefore(n, x.data(), last, ascending), expected);
        }
}

} // namespace
} // namespace anec::cpu
