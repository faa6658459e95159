//===- RoundForOutputs.cpp - rounding that keeps the outputs of a product -===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// GPTQ (Frantar and others, 2022) in the form of LDLQ (Chee and others, 2023),
/// which gives the same numbers. With H = U U^T, U upper triangular, element j
/// of a row is rounded from
///
///   w_j + sum over k < j of (w_k - q_k) U_kj / U_jj
///
/// so that it takes up the errors of the elements before it as far as their
/// inputs are correlated with its own. Rows are independent of each other.
///
//===----------------------------------------------------------------------===//

#include "anec/Quantize/InputMoments.h"
#include "anec/Support/Executor.h"
#include "lib/IR/Elements.h"
#include "llvm/ADT/STLExtras.h"
#include <cfloat>
#include <cmath>
#include <numeric>

using namespace anec;

/// Sums in an order that does not depend on the processor.
static double dot(const double *a, const double *b, int64_t count) {
  constexpr int64_t lanes = 8;
  double sums[lanes] = {}, sum = 0;
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int64_t lane = 0; lane < lanes; ++lane)
      sums[lane] += a[i + lane] * b[i + lane];
  for (double part : sums)
    sum += part;
  for (; i < count; ++i)
    sum += a[i] * b[i];
  return sum;
}

namespace {

class Rounding {
public:
  Rounding(QuantizedArray &array, const WeightMatrix &weight, DType dtype,
           ProductAxes axes, const Quantization &quantization,
           const SecondMoments &moments, llvm::ArrayRef<int64_t> shape,
           Executor &executor);
  bool run();

private:
  void order();
  bool factor(double damping);
  void roundRow(int64_t output);
  size_t tableOf(int64_t output, int64_t input) const;
  double nearest(double wanted, int64_t output, int64_t input,
                 uint8_t &number) const;
  double unpacked(uint8_t number, int64_t output, int64_t input) const;
  /// e H e^T, with the elements of e in the order of columns.
  double square(llvm::ArrayRef<double> row) const;

  QuantizedArray &array;
  const WeightMatrix &weight;
  DType dtype;
  const Quantization &quantization;
  const SecondMoments &moments;
  Executor &executor;
  int64_t n;
  Shape blocks, blockStrides, extents;
  ProductAxes axes;
  std::vector<int64_t> columns; ///< inputs in the order of rounding
  std::vector<double> ordered;  ///< moments in that order
  /// Row j has column j of U, up to its diagonal.
  std::vector<double> factors;
  struct RowErrors {
    double total = 0, before = 0, after = 0;
    double weightErrors = 0; ///< of the elements, squared
  };
  std::vector<RowErrors> rows;
};

} // namespace

Rounding::Rounding(QuantizedArray &array, const WeightMatrix &weight,
                   DType dtype, ProductAxes axes,
                   const Quantization &quantization,
                   const SecondMoments &moments, llvm::ArrayRef<int64_t> shape,
                   Executor &executor)
    : array(array), weight(weight), dtype(dtype), quantization(quantization),
      moments(moments), executor(executor), n(weight.inputs),
      blocks(quantization.blocks(shape, axes)),
      blockStrides(rowMajorStrides(blocks)), axes(axes),
      rows(size_t(weight.outputs)) {
  for (auto [extent, count] : llvm::zip_equal(shape, blocks))
    extents.push_back(extent / count);
}

/// Inputs with larger moments are rounded first, so that the others take up
/// their errors.
void Rounding::order() {
  columns.resize(size_t(n));
  std::iota(columns.begin(), columns.end(), 0);
  llvm::stable_sort(columns, [&](int64_t a, int64_t b) {
    return moments.sums[size_t(a * n + a)] > moments.sums[size_t(b * n + b)];
  });
  ordered.resize(size_t(n * n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      ordered[size_t(i * n + j)] =
          moments.sums[size_t(columns[size_t(i)] * n + columns[size_t(j)])];
}

/// Factors H + damping. Returns false when it is not positive.
bool Rounding::factor(double damping) {
  // By columns of U from the last: U is H's Cholesky factor from behind. Rows
  // of `upper` have those of U, so that sums run along rows.
  std::vector<double> upper(size_t(n * n));
  for (int64_t j = n - 1; j >= 0; --j) {
    const double *own = &upper[size_t(j * n)];
    double pivot = ordered[size_t(j * n + j)];
    // An input that is always zero has no correlations: any pivot will do.
    pivot = (pivot > 0 ? pivot + damping : 1) -
            dot(own + j + 1, own + j + 1, n - j - 1);
    if (!(pivot > 0) || !std::isfinite(pivot))
      return false;
    double root = std::sqrt(pivot);
    upper[size_t(j * n + j)] = root;
    constexpr size_t grain = 64;
    executor.parallelRanges(
        size_t(j), grain, [&](size_t begin, size_t end, unsigned) {
          for (int64_t i = int64_t(begin); i < int64_t(end); ++i) {
            double *other = &upper[size_t(i * n)];
            other[j] = (ordered[size_t(i * n + j)] -
                        dot(other + j + 1, own + j + 1, n - j - 1)) /
                       root;
          }
        });
  }
  factors.assign(size_t(n * n), 0);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t k = 0; k <= j; ++k)
      factors[size_t(j * n + k)] = upper[size_t(k * n + j)];
  return true;
}

size_t Rounding::tableOf(int64_t output, int64_t input) const {
  return size_t(output / extents[axes.outputs] * blockStrides[axes.outputs] +
                input / extents[axes.inputs] * blockStrides[axes.inputs]);
}

double Rounding::unpacked(uint8_t number, int64_t output, int64_t input) const {
  size_t table = tableOf(output, input);
  if (quantization.isPalette())
    return array.tables[(table << quantization.bits()) + number];
  return roundToDType(array.tables[table] * double(int8_t(number)), dtype);
}

double Rounding::nearest(double wanted, int64_t output, int64_t input,
                         uint8_t &number) const {
  size_t table = tableOf(output, input);
  if (quantization.isPalette()) {
    size_t entries = size_t(1) << quantization.bits();
    number = uint8_t(nearestEntry(
        llvm::ArrayRef(array.tables).slice(table * entries, entries), wanted));
  } else {
    double most = quantization.form == QuantizedForm::Int4 ? 7 : 127;
    number = uint8_t(int8_t(
        std::clamp(std::nearbyint(wanted / array.tables[table]), -most, most)));
  }
  return unpacked(number, output, input);
}

double Rounding::square(llvm::ArrayRef<double> row) const {
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    const double *own = &ordered[size_t(j * n)];
    sum += row[size_t(j)] *
           (2 * dot(own, row.data(), j) + own[j] * row[size_t(j)]);
  }
  return std::max(sum, 0.0);
}

void Rounding::roundRow(int64_t output) {
  std::vector<double> original(static_cast<size_t>(n)), plain(original),
      errors(original);
  std::vector<uint8_t> numbers(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) {
    int64_t input = columns[size_t(j)];
    double value = weight.elements[size_t(output * n + input)];
    original[size_t(j)] = value;
    plain[size_t(j)] =
        value - unpacked(array.numbers[size_t(weight.position(output, input))],
                         output, input);
    const double *column = &factors[size_t(j * n)];
    double wanted = value + dot(column, errors.data(), j) / column[j];
    errors[size_t(j)] =
        value - nearest(wanted, output, input, numbers[size_t(j)]);
  }
  RowErrors &row = rows[size_t(output)];
  row.total = square(original);
  row.before = square(plain);
  row.after = square(errors);
  bool gains = row.after < row.before;
  if (!gains)
    row.after = row.before;
  for (double error : gains ? errors : plain)
    row.weightErrors += error * error;
  if (gains)
    for (int64_t j = 0; j < n; ++j)
      array.numbers[size_t(weight.position(output, columns[size_t(j)]))] =
          numbers[size_t(j)];
}

bool Rounding::run() {
  double diagonal = 0;
  for (int64_t i = 0; i < n; ++i)
    diagonal += moments.sums[size_t(i * n + i)];
  if (!std::isfinite(diagonal) || llvm::any_of(moments.sums, [](double sum) {
        return !std::isfinite(sum);
      }))
    return false;
  order();
  // Few samples leave directions without any moment; damping fills them.
  double damping = std::max(0.01 * diagonal / double(n), DBL_MIN);
  for (; !factor(damping); damping *= 10)
    if (!std::isfinite(damping))
      return false;
  executor.parallelFor(size_t(weight.outputs), [&](size_t output, unsigned) {
    roundRow(int64_t(output));
  });
  RowErrors all;
  for (const RowErrors &row : rows) {
    all.total += row.total;
    all.before += row.before;
    all.after += row.after;
    all.weightErrors += row.weightErrors;
  }
  array.squaredErrors = all.weightErrors;
  auto relative = [&](double squares) {
    return all.total > 0 ? std::sqrt(squares / all.total) : 0;
  };
  array.outputs = {relative(all.before), relative(all.after)};
  return true;
}

bool anec::roundForOutputs(QuantizedArray &array, const WeightMatrix &weight,
                           const Constant &value, ProductAxes axes,
                           const Quantization &quantization,
                           const SecondMoments &moments, Executor &executor) {
  return Rounding(array, weight, value.dtype(), axes, quantization, moments,
                  value.type().shape, executor)
      .run();
}
