//===- CpuStoredTest.cpp - The kernels of stored weights ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What results are is compared with numpy by random-integers.test and others.
///
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CPU/Products/StoredMatrix.h"
#include "test/Unit/Runtime/CpuReference.h"
#include <algorithm>
#include <cstring>

namespace anec::cpu {
namespace {

using Bytes = std::vector<uint8_t>;

class CpuStored : public testing::TestWithParam<InstructionSet> {
protected:
  void SetUp() override {
    if (!hasInstructionSet(GetParam()))
      GTEST_SKIP() << "this processor has none";
  }
  const StoredKernels &kernels() const {
#if defined(__x86_64__)
    if (GetParam() == InstructionSet::AVX512)
      return avx512StoredKernels;
    if (GetParam() == InstructionSet::AVX2)
      return avx2StoredKernels;
#endif
    return baselineStoredKernels;
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, CpuStored, testing::ValuesIn(instructionSets),
                         nameOfSet);

/// What the numbers of blocks are.
enum class Numbers { None, Halves, Floats };

/// Random weights with blocks of a row and `block` columns.
struct RandomMatrix {
  RandomMatrix(StoredForm form, size_t rows, size_t columns, size_t block,
               Numbers scales, Numbers offsets) {
    matrix.form = form;
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.rowBytes = columns * bitsOf(form) / 8;
    matrix.blockColumns = block;
    data = random(rows * matrix.rowBytes);
    if (bitsOf(form) > 8)
      for (size_t i = 1; i < data.size(); i += 2)
        data[i] &= 0xbf; // No exponent of all ones.
    matrix.data = data.data();
    matrix.fourBits = FourBits::Signed;
    for (size_t i = 0; i < 16; ++i)
      table.push_back(i < 8 ? float(i) : float(i) - 16);
    table.resize(256 * (rows * ((columns + block - 1) / block) + 1));
    matrix.tables = table.data();
    matrix.scales = numbers(scales, 0x2400, scaleData);
    matrix.offsets = numbers(offsets, 0x4400, offsetData);
  }
  RandomMatrix(const RandomMatrix &) = delete;

  StoredMatrix matrix;

private:
  static unsigned bitsOf(StoredForm form) {
    switch (form) {
    case StoredForm::Float32:
      return 32;
    case StoredForm::Float16:
    case StoredForm::BFloat16:
      return 16;
    case StoredForm::Index4:
      return 4;
    default:
      return 8;
    }
  }
  Bytes random(size_t count) {
    Bytes bytes(count);
    for (uint8_t &byte : bytes)
      byte = uint8_t(generator() >> 8);
    return bytes;
  }
  BlockNumbers numbers(Numbers kind, uint16_t near, Bytes &bytes) {
    size_t count = matrix.rows * ((matrix.columns + matrix.blockColumns - 1) /
                                  matrix.blockColumns);
    if (kind == Numbers::None)
      return {};
    bool isHalf = kind == Numbers::Halves;
    bytes.resize(count * (isHalf ? 2 : 4));
    for (size_t i = 0; i < count; ++i) {
      uint16_t half = near + (generator() >> 8 & 0x3ff);
      float wide = float(valueOfHalf(half));
      std::memcpy(&bytes[i * (isHalf ? 2 : 4)],
                  isHalf ? static_cast<const void *>(&half) : &wide,
                  isHalf ? 2 : 4);
    }
    return {bytes.data(), isHalf};
  }

  std::mt19937 generator{7};
  Bytes data, scaleData, offsetData;
  Floats table;
};

/// The product with columns [first, first + n) of `x`, `slice` rows at a time.
Floats multiply(const StoredKernels &kernels, const StoredMatrix &weight,
                const Floats &x, size_t first, size_t n, size_t slice,
                bool isFixed) {
  Floats out(weight.rows * n);
  StoredProduct product;
  product.n = n;
  product.strideX =
      (weight.columns + storedPadding - 1) / storedPadding * storedPadding;
  product.x = x.data() + first * product.strideX;
  product.out = out.data();
  product.rowOut = n;
  product.columnOut = 1;
  FixedFactor factor;
  factor.groups = (weight.columns / fixedGroup + 15) / 16 * 16;
  std::vector<int16_t> values(n * factor.groups * fixedGroup);
  Floats scales(n * factor.groups), sums(n * factor.groups);
  factor.values = values.data();
  factor.scales = scales.data();
  factor.sums = sums.data();
  if (isFixed) {
    EXPECT_TRUE(kernels.toFixed(weight, product, factor));
  }
  for (size_t row = 0; row < weight.rows; row += slice) {
    size_t count = std::min(slice, weight.rows - row);
    if (isFixed)
      kernels.multiplyRowsFixed(weight, row, count, factor, product);
    else
      kernels.multiplyRows(weight, row, count, product);
  }
  return out;
}

constexpr size_t slices[] = {1, 2, 3, 4, 5, 7, 64};

TEST_P(CpuStored, BitsOfFixedProductsDependOnTheColumnAlone) {
  constexpr size_t rows = 13, columns = 9;
  for (StoredForm form :
       {StoredForm::Int8, StoredForm::UInt8, StoredForm::Index4})
    for (Numbers scales : {Numbers::None, Numbers::Halves, Numbers::Floats})
      for (Numbers offsets : {Numbers::None, Numbers::Halves, Numbers::Floats})
        for (size_t groups : {1, 2, 3, 5, 8, 9, 16, 17, 33})
          for (size_t block : {fixedGroup, 2 * fixedGroup, 4096 * fixedGroup}) {
            RandomMatrix random(form, rows, groups * fixedGroup, block, scales,
                                offsets);
            const StoredMatrix &weight = random.matrix;
            ASSERT_TRUE(hasFixedProducts(weight));
            Floats x = randomFloats(columns * weight.columns);
            Floats all = multiply(kernels(), weight, x, 0, columns, rows,
                                  /*isFixed=*/true);
            for (size_t slice : slices)
              for (size_t column = 0; column < columns; ++column) {
                Floats one = multiply(kernels(), weight, x, column, 1, slice,
                                      /*isFixed=*/true);
                for (size_t row = 0; row < rows; ++row)
                  ASSERT_EQ(one[row], all[row * columns + column])
                      << "form " << int(form) << ", scales " << int(scales)
                      << ", offsets " << int(offsets) << ", " << groups
                      << " groups, block " << block << ", slice " << slice
                      << ", row " << row;
              }
          }
}

TEST_P(CpuStored, BitsDoNotDependOnSlices) {
  constexpr size_t rows = 13;
  for (StoredForm form :
       {StoredForm::Float32, StoredForm::Float16, StoredForm::BFloat16,
        StoredForm::Int8, StoredForm::UInt8, StoredForm::Index4,
        StoredForm::Index8})
    for (Numbers scales : {Numbers::None, Numbers::Halves})
      for (Numbers offsets : {Numbers::None, Numbers::Floats})
        for (size_t columns : {32, 96, 1000})
          for (size_t n : {1, 2, 4, 9}) {
            bool hasBlocks = form != StoredForm::Float32 &&
                             form != StoredForm::Float16 &&
                             form != StoredForm::BFloat16;
            if (!hasBlocks &&
                (scales != Numbers::None || offsets != Numbers::None))
              continue;
            RandomMatrix random(form, rows, columns, hasBlocks ? 32 : columns,
                                scales, offsets);
            const size_t stride =
                (columns + storedPadding - 1) / storedPadding * storedPadding;
            Floats x = randomFloats(n * stride);
            for (size_t i = 0; i < x.size(); ++i)
              x[i] = i % stride < columns ? x[i] : 0;
            Floats whole = multiply(kernels(), random.matrix, x, 0, n, rows,
                                    /*isFixed=*/false);
            for (size_t slice : slices)
              EXPECT_EQ(multiply(kernels(), random.matrix, x, 0, n, slice,
                                 /*isFixed=*/false),
                        whole)
                  << "form " << int(form) << ", scales " << int(scales)
                  << ", offsets " << int(offsets) << ", " << columns
                  << " columns, n " << n << ", slice " << slice;
          }
}

} // namespace
} // namespace anec::cpu
