//===- Refused.cpp - ops that no engine takes, as products ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Legalize.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Fill.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Shape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <numbers>

using namespace anec;
using namespace anec::legalize;

/// Ones where row - column is at least `least` and at most `most`, and zeros.
static Value *band(Rewriter &r, DType dtype, int64_t rows, int64_t columns,
                   int64_t least, int64_t most, llvm::StringRef part) {
  std::vector<double> numbers;
  for (int64_t row : llvm::seq(rows))
    for (int64_t column : llvm::seq(columns))
      numbers.push_back(row - column >= least && row - column <= most);
  return r.make(ops::Const, {},
                Attr(param::val,
                     Constant::fromDoubles({dtype, {rows, columns}}, numbers)),
                part);
}

/// More elements than these are no constant of a program that was short.
static constexpr int64_t mostOfBand = int64_t(1) << 22;

/// band_part(x) ==> x * ones and zeros
Value *legalize::maskBand(Rewriter &r) {
  const TensorType &type = r.x()->type;
  int64_t rows = type.shape[type.rank() - 2], columns = type.shape.back();
  if (!isFloat(type.dtype) || rows > mostOfBand / std::max<int64_t>(columns, 1))
    return nullptr;
  int64_t lower = r.op.get(param::lower), upper = r.op.get(param::upper);
  Value *mask =
      band(r, type.dtype, rows, columns, upper < 0 ? -columns : -upper,
           lower < 0 ? rows : lower, "band");
  return r.make(ops::Mul, {r.x(), mask});
}

/// cumsum(x) ==> x @ a triangle of ones, with the axis last
Value *legalize::sumByProduct(Rewriter &r) {
  const TensorType type = r.x()->type;
  int64_t rank = type.rank(), axis = r.op.get(param::axis);
  axis += axis < 0 ? rank : 0;
  int64_t extent = type.shape[axis];
  if (!isFloat(type.dtype) ||
      extent > mostOfBand / std::max<int64_t>(extent, 1))
    return nullptr;
  // Elements that are summed at a position: row r is in column c.
  int64_t nearest = r.op.get(param::exclusive) ? 1 : 0;
  bool isReverse = r.op.get(param::reverse);
  Value *ones =
      band(r, type.dtype, extent, extent, isReverse ? nearest : -extent,
           isReverse ? extent : -nearest, "triangle");
  Value *x = r.x();
  Shape exchange;
  if (axis != rank - 1) {
    llvm::append_range(exchange, llvm::seq(rank));
    std::swap(exchange[axis], exchange[rank - 1]);
    x = r.make(ops::Transpose, {x}, {{param::perm, exchange}}, "axis_last");
  }
  if (rank == 1)
    x = r.reshape(x, {1, extent}, "row");
  const char *part = rank == 1 || !exchange.empty() ? "sums" : "";
  Value *sums = r.make(ops::Matmul, {x, ones}, part);
  if (rank == 1)
    return r.reshape(sums, type.shape);
  return exchange.empty()
             ? sums
             : r.make(ops::Transpose, {sums}, {{param::perm, exchange}});
}

/// sin(x) ==> p(x - k pi) (-1)^k, with the nearest k; cos(x) likewise, with k +
/// 1/2. p has the degree 7, and an error of 1e-6.
Value *legalize::sineToPolynomial(Rewriter &r) {
  constexpr double pi = std::numbers::pi;
  // The first are powers of 2, so that products with k, and what is left of x,
  // are exact in fp16 while the elements are below 2048.
  constexpr double parts[] = {2, 1, 1.0 / 8, 1.0 / 64, pi - 201.0 / 64};
  constexpr double factors[] = {0.9999966, -0.16664824, 0.00830629,
                                -0.00018363};
  bool isSine = r.op.is(ops::Sin);
  auto number = [&](double value, llvm::StringRef part) {
    return r.scalar(value, part);
  };
  Value *turns =
      r.make(ops::Mul, {r.x(), number(1 / pi, "per_pi")}, "half_turns");
  Value *shifted =
      r.make(ops::Add, {turns, number(isSine ? 0.5 : 1, "shift")}, "shifted");
  Value *whole = r.make(ops::Floor, {shifted}, "whole");
  Value *middle =
      isSine ? whole : r.make(ops::Sub, {whole, number(0.5, "half")}, "middle");
  Value *angle = r.x();
  for (auto [place, part] : llvm::enumerate(parts)) {
    std::string suffix = std::to_string(place + 1);
    Value *product =
        r.make(ops::Mul, {middle, number(part, "pi_part_" + suffix)},
               "product_of_part_" + suffix);
    angle = r.make(ops::Sub, {angle, product}, "rest_" + suffix);
  }
  Value *square = r.make(ops::Mul, {angle, angle}, "square");
  Value *sum = number(factors[3], "factor_7");
  for (int power : {2, 1, 0}) {
    std::string place = std::to_string(2 * power + 1);
    Value *product = r.make(ops::Mul, {sum, square}, "product_" + place);
    sum = r.make(ops::Add, {product, number(factors[power], "factor_" + place)},
                 "sum_" + place);
  }
  Value *value = r.make(ops::Mul, {sum, angle}, "value");
  // 1 - 2 (k mod 2)
  Value *halves =
      r.make(ops::Floor,
             {r.make(ops::Mul, {whole, number(0.5, "one_half")}, "half_whole")},
             "halves");
  Value *even = r.make(ops::Mul, {halves, number(2, "two")}, "even");
  Value *odd = r.make(ops::Sub, {whole, even}, "odd");
  Value *twice = r.make(ops::Mul, {odd, number(-2, "minus_two")}, "twice");
  Value *sign = r.make(ops::Add, {twice, number(1, "one")}, "sign");
  return r.make(ops::Mul, {value, sign});
}
