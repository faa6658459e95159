//===- StoredMatrix.h - a matrix of weights as it is stored -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Weights of products in the form that their file has, and the kernels that
/// read them: each unpacks elements in registers, so that a product reads the
/// stored bytes once and nothing else.
///
/// Files that are compiled for one instruction set include this; Lanes.h says
/// why it has no inline functions.
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PRODUCTS_STOREDMATRIX_H
#define ANEC_LIB_RUNTIME_CPU_PRODUCTS_STOREDMATRIX_H

#include <cstddef>
#include <cstdint>

namespace anec::cpu {

/// How an element is stored. Indices of fewer than 8 bits are packed from the
/// low bit.
enum class StoredForm : uint8_t {
  Float32,
  Float16,
  BFloat16,
  Int8,
  UInt8,
  Index1, ///< into a table of 2
  Index2,
  Index3,
  Index4, ///< into a table of 16
  Index6,
  Index8, ///< into a table of 256
};

/// What the numbers of 4 bits of an `Index4` are, where they are integers and
/// not indices of a palette: the table then has the values 0 to 15, or those of
/// two's complement.
enum class FourBits : uint8_t { Palette, Unsigned, Signed };

/// A number for each block of a matrix, as it is stored.
struct BlockNumbers {
  const uint8_t *data = nullptr; ///< at any address; null when there are none
  bool isHalf = false;           ///< fp16, not fp32
};

/// Row-major [rows, columns]; each row is whole bytes. Element (row, column) is
/// `scale * (value - offset)`, where the value is what is stored or, for an
/// index, its entry of the table. The matrix is divided into blocks of
/// `blockRows` by `blockColumns` elements, which have a scale, an offset and a
/// table each; blocks are numbered row by row.
struct StoredMatrix {
  StoredForm form = StoredForm::Float32;
  FourBits fourBits = FourBits::Palette; ///< of `Index4`
  size_t rows = 0, columns = 0;
  const uint8_t *data = nullptr; ///< at any address
  size_t rowBytes = 0;
  /// At least 1. Both are the whole matrix for forms without blocks.
  size_t blockRows = 1, blockColumns = 1;
  BlockNumbers scales;  ///< none for 1
  BlockNumbers offsets; ///< none for 0
  /// Null for forms without indices. Tables of fewer than 16 entries are padded
  /// to 16.
  const float *tables = nullptr;
  size_t tableSize = 0; ///< entries from one table to the next
};

/// The most columns that `multiplyRows` computes in one pass over the weights.
constexpr size_t fewColumns = 16;

/// A factor [columns of the weight, n], and the result [rows, n].
struct StoredProduct {
  size_t n = 0;             ///< 1 to `fewColumns`
  const float *x = nullptr; ///< element (k, j) is x[j * strideX + k]
  /// At least the columns of the weight, rounded up to `storedPadding`; the
  /// elements after the last are zeros.
  size_t strideX = 0;
  float *out = nullptr; ///< element (row, j): out[row * rowOut + j * columnOut]
  size_t rowOut = 0, columnOut = 0;
};
constexpr size_t storedPadding = 16;

/// The columns of a factor in fixed point, for products with integers. Groups
/// of `fixedGroup` elements share a scale, by which the largest of them becomes
/// 32767: an element is off by at most 2^-16 of the largest magnitude in its
/// group. Column j has its groups from `j * groups` on; `groups` is a multiple
/// of 16, and those after the last element are zeros.
struct FixedFactor {
  size_t groups = 0;
  int16_t *values = nullptr; ///< [n, groups, fixedGroup], in the kernels' order
  float *scales = nullptr;   ///< [n, groups]
  float *sums = nullptr;     ///< [n, groups], of the elements as they are now
};
constexpr size_t fixedGroup = 32;

/// Whether products with a matrix can be computed in fixed point: its elements
/// are integers, and scales and offsets change only between groups of columns.
bool hasFixedProducts(const StoredMatrix &weight);

/// The kernels of one instruction set.
struct StoredKernels {
  /// Computes rows [row, row + count) of the product. The bits of an element
  /// depend on nothing but the weight, `n` and the factor.
  void (*multiplyRows)(const StoredMatrix &weight, size_t row, size_t count,
                       const StoredProduct &product);
  /// Converts the columns of a factor. Returns false if one of its elements is
  /// infinite or NaN.
  bool (*toFixed)(const StoredMatrix &weight, const StoredProduct &product,
                  const FixedFactor &factor);
  /// `multiplyRows` with a factor in fixed point, for matrices that have fixed
  /// products. Products of a group are added without rounding, so the bits of
  /// an element depend on the weight and its column of the factor only.
  void (*multiplyRowsFixed)(const StoredMatrix &weight, size_t row,
                            size_t count, const FixedFactor &factor,
                            const StoredProduct &product);
  /// Writes elements [column, column + count) of a row.
  void (*unpack)(const StoredMatrix &weight, size_t row, size_t column,
                 size_t count, float *out);
};

extern const StoredKernels baselineStoredKernels;
#if defined(__x86_64__)
extern const StoredKernels avx2StoredKernels;
extern const StoredKernels avx512StoredKernels;
#endif

/// Those of the instruction set in use.
const StoredKernels &storedKernels();

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PRODUCTS_STOREDMATRIX_H
