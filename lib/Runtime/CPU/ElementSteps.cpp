//===- ElementSteps.cpp - comparisons, choice, casts and integers ---------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Elementwise ops with operands or results that are not floats, as plain loops
/// over rows that compilers vectorize. Ops on floats alone are tiles
/// (FusedStep.cpp).
///
//===----------------------------------------------------------------------===//

#include "Broadcast.h"
#include "Steps.h"
#include "lib/IR/Elements.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Select.h"
#include "llvm/ADT/STLExtras.h"
#include <bit>
#include <cmath>

using namespace anec;
using namespace anec::cpu;

namespace {

/// A row of an operand: consecutive words, or one word for all columns.
struct Row {
  const uint32_t *at;
  bool isOne;
};

/// What a kernel needs besides elements: the range of integer results.
struct Limits {
  double low = 0, high = 0;
};

using RowKernel = void (*)(size_t count, const Row *in, uint32_t *out,
                           const Limits &limits);

template <typename T>
T read(uint32_t word) {
  return std::bit_cast<T>(word);
}

/// An integer result, as the reference settles it: truncated toward zero and
/// limited to the range of its type; NaN becomes 0.
uint32_t settled(double value, const Limits &limits) {
  value = value != value ? 0.0 : value;
  value = value < limits.low ? limits.low : value;
  value = value > limits.high ? limits.high : value;
  return uint32_t(int32_t(value));
}

/// out[i] = fn(in[0][i], in[1][i]), with a loop for each way of broadcasting.
template <typename Fn>
void eachPair(size_t count, const Row *in, uint32_t *out, Fn fn) {
  const uint32_t *a = in[0].at, *b = in[1].at;
  if (in[0].isOne)
    for (size_t i = 0; i < count; ++i)
      out[i] = fn(a[0], b[i]);
  else if (in[1].isOne)
    for (size_t i = 0; i < count; ++i)
      out[i] = fn(a[i], b[0]);
  else
    for (size_t i = 0; i < count; ++i)
      out[i] = fn(a[i], b[i]);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

template <typename T, bool (*fn)(T, T)>
void compareRow(size_t count, const Row *in, uint32_t *out, const Limits &) {
  eachPair(count, in, out, [](uint32_t a, uint32_t b) {
    return uint32_t(fn(read<T>(a), read<T>(b)));
  });
}
template <typename T>
bool equal(T a, T b) {
  return a == b;
}
template <typename T>
bool notEqual(T a, T b) {
  return a != b;
}
template <typename T>
bool less(T a, T b) {
  return a < b;
}
template <typename T>
bool lessEqual(T a, T b) {
  return a <= b;
}
template <typename T>
bool greater(T a, T b) {
  return a > b;
}
template <typename T>
bool greaterEqual(T a, T b) {
  return a >= b;
}
bool both(int32_t a, int32_t b) { return a && b; }
bool either(int32_t a, int32_t b) { return a || b; }
bool oneOf(int32_t a, int32_t b) { return !a != !b; }

template <double (*fn)(double, double)>
void integerRow(size_t count, const Row *in, uint32_t *out,
                const Limits &limits) {
  eachPair(count, in, out, [&](uint32_t a, uint32_t b) {
    return settled(fn(read<int32_t>(a), read<int32_t>(b)), limits);
  });
}
double add(double a, double b) { return a + b; }
double sub(double a, double b) { return a - b; }
double mul(double a, double b) { return a * b; }
double largest(double a, double b) { return a > b ? a : b; }
double smallest(double a, double b) { return a < b ? a : b; }
double floorQuotient(double a, double b) { return std::floor(a / b); }
double quotient(double a, double b) { return a / b; }

void selectRow(size_t count, const Row *in, uint32_t *out, const Limits &) {
  const uint32_t *cond = in[0].at, *a = in[1].at, *b = in[2].at;
  size_t step = !in[0].isOne, stepA = !in[1].isOne, stepB = !in[2].isOne;
  if (step && stepA && stepB)
    for (size_t i = 0; i < count; ++i)
      out[i] = cond[i] ? a[i] : b[i];
  else if (step && stepA)
    for (size_t i = 0; i < count; ++i)
      out[i] = cond[i] ? a[i] : b[0];
  else if (step && stepB)
    for (size_t i = 0; i < count; ++i)
      out[i] = cond[i] ? a[0] : b[i];
  else
    for (size_t i = 0; i < count; ++i)
      out[i] = cond[i * step] ? a[i * stepA] : b[i * stepB];
}

void notRow(size_t count, const Row *in, uint32_t *out, const Limits &) {
  const uint32_t *x = in[0].at;
  for (size_t i = 0; i < count; ++i)
    out[i] = !x[i];
}

void floatToBool(size_t count, const Row *in, uint32_t *out, const Limits &) {
  const uint32_t *x = in[0].at;
  for (size_t i = 0; i < count; ++i)
    out[i] = read<float>(x[i]) != 0;
}
void intToBool(size_t count, const Row *in, uint32_t *out, const Limits &) {
  const uint32_t *x = in[0].at;
  for (size_t i = 0; i < count; ++i)
    out[i] = x[i] != 0;
}
template <typename T>
void toInt(size_t count, const Row *in, uint32_t *out, const Limits &limits) {
  const uint32_t *x = in[0].at;
  for (size_t i = 0; i < count; ++i)
    out[i] = settled(read<T>(x[i]), limits);
}
void intToFloat(size_t count, const Row *in, uint32_t *out, const Limits &) {
  const uint32_t *x = in[0].at;
  for (size_t i = 0; i < count; ++i)
    out[i] = std::bit_cast<uint32_t>(float(read<int32_t>(x[i])));
}
/// Through fp64, so that a value between two is rounded once.
void intToHalf(size_t count, const Row *in, uint32_t *out, const Limits &) {
  const uint32_t *x = in[0].at;
  auto *halves = reinterpret_cast<float *>(out);
  // fp16 has no larger numbers, and all integers below 2^24 are floats.
  constexpr int32_t most = 1 << 20;
  for (size_t i = 0; i < count; ++i)
    halves[i] = float(std::clamp(read<int32_t>(x[i]), -most, most));
  roundToHalf(count, halves, halves);
}

//===----------------------------------------------------------------------===//
// Choice of the kernel
//===----------------------------------------------------------------------===//

/// An op of two operands, with its kernels for floats and for integers.
struct PairRow {
  const OpDef *op;
  RowKernel ofFloats, ofInts;
};
constexpr PairRow pairs[] = {
    {&ops::Equal, compareRow<float, equal>, compareRow<int32_t, equal>},
    {&ops::NotEqual, compareRow<float, notEqual>,
     compareRow<int32_t, notEqual>},
    {&ops::Less, compareRow<float, less>, compareRow<int32_t, less>},
    {&ops::LessEqual, compareRow<float, lessEqual>,
     compareRow<int32_t, lessEqual>},
    {&ops::Greater, compareRow<float, greater>, compareRow<int32_t, greater>},
    {&ops::GreaterEqual, compareRow<float, greaterEqual>,
     compareRow<int32_t, greaterEqual>},
    {&ops::LogicalAnd, nullptr, compareRow<int32_t, both>},
    {&ops::LogicalOr, nullptr, compareRow<int32_t, either>},
    {&ops::LogicalXor, nullptr, compareRow<int32_t, oneOf>},
    {&ops::Add, nullptr, integerRow<add>},
    {&ops::Sub, nullptr, integerRow<sub>},
    {&ops::Mul, nullptr, integerRow<mul>},
    {&ops::Maximum, nullptr, integerRow<largest>},
    {&ops::Minimum, nullptr, integerRow<smallest>},
    {&ops::FloorDiv, nullptr, integerRow<floorQuotient>},
    {&ops::RealDiv, nullptr, integerRow<quotient>},
};

} // namespace

/// Whether words hold all values of integers of `dtype`.
static bool fitsWord(DType dtype) {
  return isFloat(dtype) || dtype == DType::Bool ||
         (lowest(dtype) >= lowest(DType::Int32) &&
          highest(dtype) <= highest(DType::Int32));
}

static RowKernel castKernel(const Op &op, StepContext &ctx) {
  DType from = op.operand(0u)->type.dtype, to = op.result()->type.dtype;
  if (to == DType::Bool)
    return isFloat(from) ? floatToBool : intToBool;
  if (isInteger(to))
    return isFloat(from) ? toInt<float> : toInt<int32_t>;
  if (isFloat(from))
    return nullptr;
  if (ctx.rounding(op.result()) == Rounding::FP16)
    return intToHalf;
  return to == DType::FP32 || to == DType::FP16 ? intToFloat : nullptr;
}

static RowKernel findKernel(const Op &op, StepContext &ctx) {
  for (const Value *value : op.operandValues())
    if (!value || !fitsWord(value->type.dtype))
      return nullptr;
  if (op.numResults() != 1 || !fitsWord(op.result()->type.dtype))
    return nullptr;
  if (op.is(ops::Select))
    return selectRow;
  if (op.is(ops::LogicalNot))
    return notRow;
  if (op.is(ops::Cast))
    return castKernel(op, ctx);
  bool floats = isFloat(op.operand(0u)->type.dtype);
  if (floats != isFloat(op.operand(1u)->type.dtype))
    return nullptr;
  for (const PairRow &row : pairs)
    if (op.is(*row.op))
      return floats ? row.ofFloats : row.ofInts;
  return nullptr;
}

static StepFn makeElements(const Op &op, StepContext &ctx) {
  RowKernel kernel = findKernel(op, ctx);
  if (!kernel)
    return {};
  const TensorType &type = op.result()->type;
  struct Operand {
    const uint32_t *base;
    BroadcastRows rows;
  };
  llvm::SmallVector<Operand, 3> operands;
  bool whole = llvm::all_of(op.operandValues(), [&](const Value *operand) {
    return operand->type.shape == type.shape;
  });
  size_t columns = whole ? size_t(type.numElements())
                         : size_t(type.shape.empty() ? 1 : type.shape.back());
  size_t rows = columns ? size_t(type.numElements()) / columns : 0;
  for (const Value *operand : op.operandValues())
    operands.push_back({ctx.storage.words(operand),
                        whole
                            ? BroadcastRows{1, {0}}
                            : broadcastRows(operand->type.shape, type.shape)});
  uint32_t *out = ctx.storage.words(op.result());
  Limits limits;
  if (isInteger(type.dtype))
    limits = {lowest(type.dtype), highest(type.dtype)};
  auto run = [=](size_t row, size_t begin, size_t end) {
    Row in[3] = {};
    for (auto [slot, operand] : llvm::enumerate(operands)) {
      bool isOne = operand.rows.columnStride == 0;
      in[slot] = {operand.base + operand.rows.offsets[row] +
                      (isOne ? 0 : begin),
                  isOne};
    }
    kernel(end - begin, in, out + row * columns + begin, limits);
  };
  constexpr size_t grain = 8192;
  if (rows == 1)
    return [=, &pool = ctx.pool] {
      pool.parallelRanges(
          columns, grain,
          [&](size_t begin, size_t end, unsigned) { run(0, begin, end); });
    };
  size_t rowGrain = std::max<size_t>(1, grain / std::max<size_t>(columns, 1));
  return [=, &pool = ctx.pool] {
    pool.parallelRanges(rows, rowGrain,
                        [&](size_t begin, size_t end, unsigned) {
                          for (size_t row = begin; row < end; ++row)
                            run(row, 0, columns);
                        });
  };
}

static constexpr StepRow elementStepsTable[] = {
    {&ops::Add, makeElements},        {&ops::Cast, makeElements},
    {&ops::Equal, makeElements},      {&ops::FloorDiv, makeElements},
    {&ops::Greater, makeElements},    {&ops::GreaterEqual, makeElements},
    {&ops::Less, makeElements},       {&ops::LessEqual, makeElements},
    {&ops::LogicalAnd, makeElements}, {&ops::LogicalNot, makeElements},
    {&ops::LogicalOr, makeElements},  {&ops::LogicalXor, makeElements},
    {&ops::Maximum, makeElements},    {&ops::Minimum, makeElements},
    {&ops::Mul, makeElements},        {&ops::NotEqual, makeElements},
    {&ops::RealDiv, makeElements},    {&ops::Select, makeElements},
    {&ops::Sub, makeElements},
};

llvm::ArrayRef<StepRow> cpu::elementSteps() { return elementStepsTable; }
