//===- StoredKernelsBody.h - Stored weights, for any width ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Defines the table ANEC_STORED_KERNELS for the instruction set that the
/// including file is compiled for. See Lanes.h for what may be included.
///
/// A product of few columns is bound by reading the weights. A few rows are
/// read at a time, a few kilobytes ahead of the arithmetic: the processor's own
/// prefetching stops at every page.
//===----------------------------------------------------------------------===//

#include "FixedProducts.h"
#include "StoredReader.h"

namespace anec::cpu {
namespace {

//===-- Products ----------------------------------------------------------===//

/// Whether scales, offsets and tables change only between vectors.
ANEC_INLINE bool isAligned(const StoredMatrix &weight) {
  return weight.blockColumns >= weight.columns ||
         weight.blockColumns % width == 0;
}
/// Whether a row has one scale, which can be applied to its sum.
ANEC_INLINE bool scalesSums(const StoredMatrix &weight) {
  return weight.scales.data && !weight.offsets.data &&
         weight.blockColumns >= weight.columns;
}

/// `rows` rows times `n` columns; `adjusted` means that elements have scales or
/// offsets to apply.
template <StoredForm form, bool adjusted, size_t rows, size_t n>
void multiplyBlock(const StoredMatrix &weight, size_t row,
                   const StoredProduct &product, size_t column) {
  // With one column, two sums for each row hide the latency of additions.
  constexpr size_t parts = n == 1 ? 2 : 1;
  constexpr size_t ahead = 8192;
  const float *x = product.x + column * product.strideX;
  const size_t strideX = product.strideX;
  Reader<form> readers[rows];
  size_t blocks[rows];
  for (size_t i = 0; i < rows; ++i) {
    readers[i].start(weight, row + i);
    blocks[i] = firstBlock(weight, row + i);
  }
  Floats scale[rows], offset[rows];
  Floats sums[n][parts][rows] = {};
  const auto add = [&](size_t k, size_t part, const Floats *values)
                       ANEC_INLINE_LAMBDA {
#pragma GCC unroll 8
                         for (size_t j = 0; j < n; ++j) {
                           Floats factor = load(x + j * strideX + k);
#pragma GCC unroll 4
                           for (size_t i = 0; i < rows; ++i) {
                             Floats value = values[i];
                             sums[j][part][i] += value * factor;
                           }
                         }
                       };
  const auto adjust = [&](Floats value, size_t i) ANEC_INLINE_LAMBDA {
    if constexpr (adjusted)
      return (value - offset[i]) * scale[i];
    else
      return value;
  };
  for (size_t begin = 0; begin < weight.columns; begin += weight.blockColumns) {
    size_t end = least(weight.columns - begin, weight.blockColumns) + begin;
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; ++i) {
      size_t block = blocks[i]++;
      if constexpr (adjusted) {
        scale[i] =
            splat(weight.scales.data ? numberAt(weight.scales, block) : 1.0f);
        offset[i] =
            splat(weight.offsets.data ? numberAt(weight.offsets, block) : 0.0f);
      }
      if constexpr (isIndex(form))
        readers[i].enter(weight.tables + block * weight.tableSize);
    }
    size_t k = begin;
    for (; k + parts * width <= end; k += parts * width) {
#pragma GCC unroll 4
      for (size_t i = 0; i < rows; ++i)
        __builtin_prefetch(readers[i].place(k) + ahead);
#pragma GCC unroll 2
      for (size_t part = 0; part < parts; ++part) {
        Floats values[rows];
#pragma GCC unroll 4
        for (size_t i = 0; i < rows; ++i)
          values[i] = adjust(readers[i].at(k + part * width), i);
        add(k + part * width, part, values);
      }
    }
    for (; k < end; k += width) {
      Floats values[rows];
      for (size_t i = 0; i < rows; ++i) {
        size_t count = least(width, end - k);
        values[i] =
            count == width ? readers[i].at(k) : readers[i].first(k, count);
        values[i] = adjust(values[i], i);
      }
      add(k, 0, values);
    }
  }
  for (size_t j = 0; j < n; ++j) {
    Floats whole[rows];
    float results[rows];
    for (size_t i = 0; i < rows; ++i)
      whole[i] =
          parts == 2 ? sums[j][0][i] + sums[j][parts - 1][i] : sums[j][0][i];
    addLanes<rows>(whole, results);
    float *out = product.out + (column + j) * product.columnOut;
    for (size_t i = 0; i < rows; ++i) {
      if (!adjusted && weight.scales.data)
        results[i] *= numberAt(weight.scales, firstBlock(weight, row + i));
      out[(row + i) * product.rowOut] = results[i];
    }
  }
}

/// Rows [row, row + rows) times all columns, a few columns at a time: the rows
/// stay in the cache.
template <StoredForm form, bool adjusted, size_t rows>
void multiplyColumns(const StoredMatrix &weight, size_t row,
                     const StoredProduct &product) {
  // As many sums as there are registers for.
  constexpr size_t most = vectorRegisters == 32 ? 8 : 4;
  size_t column = 0;
  const auto run = [&]<size_t n>() ANEC_INLINE_LAMBDA {
    // Several streams within a page of memory are slower than one.
    constexpr size_t together = n == 1 && bitsOf(form) == 16 ? 1
                                : n == most && rows > 2      ? 2
                                                             : rows;
    for (; column + n <= product.n; column += n)
      for (size_t i = 0; i < rows; i += together)
        multiplyBlock<form, adjusted, together, n>(weight, row + i, product,
                                                   column);
  };
  if constexpr (most == 8)
    run.template operator()<8>();
  run.template operator()<4>();
  run.template operator()<2>();
  run.template operator()<1>();
}

template <StoredForm form, bool adjusted>
void multiplyAligned(const StoredMatrix &weight, size_t row, size_t end,
                     const StoredProduct &product) {
  // Tables of more than a register leave less room for sums.
  constexpr bool largeTable =
      form == StoredForm::Index6 || (isIndex(form) && width < 16);
  constexpr size_t rows = largeTable ? 2 : 4;
  for (; row + rows <= end; row += rows)
    multiplyColumns<form, adjusted, rows>(weight, row, product);
  for (; row < end; ++row)
    multiplyColumns<form, adjusted, 1>(weight, row, product);
}

/// Elements of one block, with their scale and offset.
template <StoredForm form, bool adjusted>
ANEC_INLINE void unpackBlock(const Reader<form> &reader, size_t column,
                             size_t end, float scale, float offset,
                             float *out) {
  constexpr size_t ahead = 2048;
  const auto adjust = [&](Floats value) ANEC_INLINE_LAMBDA {
    return adjusted ? (value - offset) * scale : value;
  };
  __builtin_prefetch(reader.place(column) + ahead);
  for (; column < end && column % width != 0; ++column)
    *out++ = adjust(reader.first(column, 1))[0];
  for (; column + 4 * width <= end; column += 4 * width, out += 4 * width) {
    __builtin_prefetch(reader.place(column) + ahead);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i)
      store(out + i * width, adjust(reader.at(column + i * width)));
  }
  for (; column + width <= end; column += width, out += width)
    store(out, adjust(reader.at(column)));
  if (column < end)
    storePart(out, adjust(reader.first(column, end - column)), end - column);
}

template <StoredForm form>
void unpackForm(const StoredMatrix &weight, size_t number, size_t column,
                size_t count, float *out) {
  Reader<form> reader;
  reader.start(weight, number);
  size_t block = firstBlock(weight, number) + column / weight.blockColumns;
  size_t end = column + count;
  while (column < end) {
    size_t blockEnd =
        least(end, (column / weight.blockColumns + 1) * weight.blockColumns);
    if constexpr (isIndex(form))
      reader.enter(weight.tables + block * weight.tableSize);
    if (weight.scales.data || weight.offsets.data)
      unpackBlock<form, true>(
          reader, column, blockEnd,
          weight.scales.data ? numberAt(weight.scales, block) : 1.0f,
          weight.offsets.data ? numberAt(weight.offsets, block) : 0.0f, out);
    else
      unpackBlock<form, false>(reader, column, blockEnd, 1, 0, out);
    out += blockEnd - column;
    column = blockEnd;
    ++block;
  }
}

/// Of blocks that divide vectors, and of rare forms: unpacked first, a part of
/// a row at a time.
template <StoredForm form>
void multiplyUnaligned(const StoredMatrix &weight, size_t row, size_t end,
                       const StoredProduct &product) {
  constexpr size_t chunk = 1024;
  alignas(64) float elements[chunk];
  for (; row < end; ++row) {
    float totals[fewColumns] = {}, sums[fewColumns];
    for (size_t k = 0; k < weight.columns; k += chunk) {
      StoredMatrix part;
      part.rows = 1;
      part.columns = part.blockColumns = least(chunk, weight.columns - k);
      part.data = (const uint8_t *)elements;
      unpackForm<form>(weight, row, k, part.columns, elements);
      StoredProduct here = product;
      here.x += k;
      here.out = sums;
      here.columnOut = 1;
      multiplyColumns<StoredForm::Float32, false, 1>(part, 0, here);
      for (size_t j = 0; j < product.n; ++j)
        totals[j] += sums[j];
    }
    for (size_t j = 0; j < product.n; ++j)
      product.out[row * product.rowOut + j * product.columnOut] = totals[j];
  }
}

template <StoredForm form>
void multiplyForm(const StoredMatrix &weight, size_t row, size_t count,
                  const StoredProduct &product) {
  constexpr bool hasBlocks = bitsOf(form) <= 8, isRare = bitsOf(form) < 4;
  if constexpr (isRare)
    return multiplyUnaligned<form>(weight, row, row + count, product);
  if (hasBlocks && !isAligned(weight))
    return multiplyUnaligned<form>(weight, row, row + count, product);
  bool adjusted =
      (weight.scales.data && !scalesSums(weight)) || weight.offsets.data;
  if constexpr (!isRare) {
    if (hasBlocks && adjusted)
      return multiplyAligned<form, hasBlocks>(weight, row, row + count,
                                              product);
    multiplyAligned<form, false>(weight, row, row + count, product);
  }
}

//===-- The table ---------------------------------------------------------===//

#define ANEC_FOR_FORM(form, function, ...)                                     \
  switch (form) {                                                              \
  case StoredForm::Float32:                                                    \
    return function<StoredForm::Float32>(__VA_ARGS__);                         \
  case StoredForm::Float16:                                                    \
    return function<StoredForm::Float16>(__VA_ARGS__);                         \
  case StoredForm::BFloat16:                                                   \
    return function<StoredForm::BFloat16>(__VA_ARGS__);                        \
  case StoredForm::Int8:                                                       \
    return function<StoredForm::Int8>(__VA_ARGS__);                            \
  case StoredForm::UInt8:                                                      \
    return function<StoredForm::UInt8>(__VA_ARGS__);                           \
  case StoredForm::Index1:                                                     \
    return function<StoredForm::Index1>(__VA_ARGS__);                          \
  case StoredForm::Index2:                                                     \
    return function<StoredForm::Index2>(__VA_ARGS__);                          \
  case StoredForm::Index3:                                                     \
    return function<StoredForm::Index3>(__VA_ARGS__);                          \
  case StoredForm::Index4:                                                     \
    return function<StoredForm::Index4>(__VA_ARGS__);                          \
  case StoredForm::Index6:                                                     \
    return function<StoredForm::Index6>(__VA_ARGS__);                          \
  case StoredForm::Index8:                                                     \
    return function<StoredForm::Index8>(__VA_ARGS__);                          \
  }

void multiplyRowsKernel(const StoredMatrix &weight, size_t row, size_t count,
                        const StoredProduct &product) {
  ANEC_FOR_FORM(weight.form, multiplyForm, weight, row, count, product)
}

void unpackKernel(const StoredMatrix &weight, size_t row, size_t column,
                  size_t count, float *out) {
  ANEC_FOR_FORM(weight.form, unpackForm, weight, row, column, count, out)
}

#undef ANEC_FOR_FORM

} // namespace

constinit const StoredKernels ANEC_STORED_KERNELS = {
    .multiplyRows = multiplyRowsKernel,
    .toFixed = toFixedKernel,
    .multiplyRowsFixed = multiplyRowsFixedKernel,
    .unpack = unpackKernel,
};

} // namespace anec::cpu
