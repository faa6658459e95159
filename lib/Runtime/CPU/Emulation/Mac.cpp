//===- Mac.cpp - sums of products as an engine adds them ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Computes one row of results at a time: for each k, it adds one element of
/// the left operand times a row of the right one. Fixed-point sums are whole
/// numbers below 2^48, which a double holds exactly.
///
//===----------------------------------------------------------------------===//

#include "Mac.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>
#include <limits>

using namespace anec;
using namespace anec::cpu;

namespace {

constexpr double fixedOne = 65536; ///< 1 in fixed point
constexpr double sumLimit = 32768;
constexpr double leastNormal = 0x1p-14;

/// The least product that is not taken for zero.
double leastProduct(Chip::Vanishing vanishing) {
  switch (vanishing) {
  case Chip::Vanishing::ExponentSum:
    return 0; // addFixedProducts compares exponents
  case Chip::Vanishing::Subnormal:
    return leastNormal;
  case Chip::Vanishing::HalfUnit:
    return 0.5 / fixedOne;
  }
  llvm_unreachable("all kinds handled");
}

/// Elements with exponent 31 are ordinary numbers to the engine: infinity is
/// 2^16, a NaN 1.5 times as much. A zero has no sign.
float decode(float value) {
  if (std::isnan(value))
    return std::copysign(1.5f * 65536, value);
  if (std::isinf(value))
    return std::copysign(65536.0f, value);
  return value == 0 ? 0 : value;
}

/// 2 to the power of an fp16 value's exponent, which is -14 for a subnormal.
float powerOf(float value) {
  float magnitude = std::fabs(value);
  if (magnitude < float(leastNormal))
    return float(leastNormal);
  return std::ldexp(1.0f, std::ilogb(magnitude));
}

/// A right operand [k, n], decoded and laid out row by row.
struct Right {
  std::vector<float> values, powers;
  Right(const GemmShape &shape, const float *b) {
    values.resize(shape.k * shape.n);
    powers.resize(values.size());
    for (size_t k = 0; k < shape.k; ++k)
      for (size_t j = 0; j < shape.n; ++j) {
        float value =
            decode(shape.transB == Transpose::Yes ? b[j * shape.ldb + k]
                                                  : b[k * shape.ldb + j]);
        values[k * shape.n + j] = value;
        powers[k * shape.n + j] = powerOf(value);
      }
  }
};

/// One row of results.
struct RowSums {
  std::vector<double> sums;
  std::vector<double> beyond;   ///< the sign of a partial sum beyond the limit
  std::vector<double> vanished; ///< products treated as zero
};

} // namespace

static void addFixed(const Chip &chip, float left, size_t n, const float *right,
                     const float *powers, RowSums &row) {
  bool byExponents = chip.vanishing == Chip::Vanishing::ExponentSum;
  addFixedProducts(n, double(left) * fixedOne,
                   byExponents ? powerOf(left) : 1.0f,
                   leastProduct(chip.vanishing) * fixedOne, right, powers,
                   row.sums.data(), row.beyond.data(), row.vanished.data());
}

/// Adds the products of up to four elements of the left operand.
static void addHalves(const Chip &chip, llvm::ArrayRef<float> left, size_t n,
                      const float *right, RowSums &row) {
  for (size_t j = 0; j < n; ++j) {
    double partial = 0;
    for (size_t k = 0; k < left.size(); ++k) {
      double product = double(left[k]) * right[k * n + j];
      if (std::fabs(product) < leastNormal) {
        row.vanished[j] += product != 0;
        continue;
      }
      partial = chip.toHalf(partial + product);
    }
    double sum = double(float(row.sums[j] + partial));
    if (std::fabs(sum) >= sumLimit) {
      row.beyond[j] = 1;
      sum = std::copysign(sumLimit, sum);
    }
    row.sums[j] = sum;
  }
}

static double finish(const Chip &chip, double sum, double beyond) {
  if (chip.accumulator == Chip::Accumulator::HalfThenSingle)
    return chip.toHalf(sum);
  if (beyond)
    return chip.beyond == Chip::Beyond::Zero
               ? 0
               : beyond * std::numeric_limits<double>::infinity();
  double result = chip.toHalf(sum / fixedOne);
  if (chip.beyond == Chip::Beyond::InfinityRounded &&
      std::fabs(result) >= sumLimit)
    return std::copysign(std::numeric_limits<double>::infinity(), result);
  return result;
}

static void multiplyRow(const Chip &chip, const GemmShape &shape,
                        const GemmOperands &operands, const Right &right,
                        size_t i, HazardCounter &hazards) {
  bool fixed = chip.accumulator == Chip::Accumulator::Fixed;
  RowSums row;
  row.sums.resize(shape.n);
  row.beyond.resize(shape.n);
  row.vanished.resize(shape.n);
  for (size_t j = 0; j < shape.n; ++j) {
    double bias = (operands.rowBias ? operands.rowBias[i] : 0) +
                  (operands.columnBias ? operands.columnBias[j] : 0);
    row.sums[j] = fixed ? std::round(bias * fixedOne) : bias;
  }
  auto left = [&](size_t k) {
    return decode(shape.transA == Transpose::Yes
                      ? operands.a[k * shape.lda + i]
                      : operands.a[i * shape.lda + k]);
  };
  for (size_t k = 0; k < shape.k; k += fixed ? 1 : 4) {
    if (fixed) {
      addFixed(chip, left(k), shape.n, &right.values[k * shape.n],
               &right.powers[k * shape.n], row);
      continue;
    }
    llvm::SmallVector<float, 4> four;
    for (size_t next = k; next < std::min(shape.k, k + 4); ++next)
      four.push_back(left(next));
    addHalves(chip, four, shape.n, &right.values[k * shape.n], row);
  }
  uint64_t beyond = 0, vanished = 0;
  for (size_t j = 0; j < shape.n; ++j) {
    beyond += row.beyond[j] != 0;
    vanished += uint64_t(row.vanished[j]);
    operands.c[i * shape.ldc + j] =
        float(finish(chip, row.sums[j], row.beyond[j]));
  }
  hazards.partialSums += beyond;
  hazards.products += vanished;
}

void cpu::multiplyAsChip(Executor &pool, const Chip &chip,
                         const GemmShape &shape,
                         llvm::ArrayRef<GemmOperands> batch,
                         HazardCounter &hazards) {
  for (const GemmOperands &operands : batch) {
    Right right(shape, operands.b);
    pool.parallelFor(shape.m, [&](size_t i, unsigned) {
      multiplyRow(chip, shape, operands, right, i, hazards);
    });
  }
}

double cpu::dotAsChip(const Chip &chip, llvm::ArrayRef<float> x,
                      llvm::ArrayRef<float> w, float bias,
                      HazardCounter &hazards) {
  float result = 0;
  GemmShape shape;
  shape.m = shape.n = shape.ldb = shape.ldc = 1;
  shape.k = shape.lda = x.size();
  GemmOperands operands;
  operands.a = x.data();
  operands.b = w.data();
  operands.c = &result;
  operands.rowBias = &bias;
  multiplyRow(chip, shape, operands, Right(shape, w.data()), 0, hazards);
  return result;
}
