//===- Matmul.cpp - matrix products -----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Matmul.h"
#include "Decompose.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

namespace {
/// An operand of matmul as a batch of matrices. A vector is a row on the left
/// and a column on the right, and ignores transposition.
struct MatrixView {
  llvm::ArrayRef<int64_t> batch;
  int64_t rows, columns;
  bool isVector, isTransposed;

  MatrixView(llvm::ArrayRef<int64_t> shape, bool transpose, bool isLeft) {
    isVector = shape.size() == 1;
    isTransposed = transpose && !isVector;
    if (isVector) {
      rows = isLeft ? 1 : shape[0];
      columns = isLeft ? shape[0] : 1;
      return;
    }
    batch = shape.drop_back(2);
    rows = shape[shape.size() - 2];
    columns = shape.back();
    if (isTransposed)
      std::swap(rows, columns);
  }
};
} // namespace

static bool inferMatmul(InferContext &ctx) {
  if (!checkRank(ctx, 0, 1, UINT_MAX) || !checkRank(ctx, 1, 1, UINT_MAX)) // C1
    return false;
  const TensorType &x = ctx.type(0), &y = ctx.type(1);
  if (isFloat(x.dtype) != isFloat(y.dtype)) // C2
    return ctx.fail(diag::MatmulDType(ctx.opName(), ctx.describeOperand(0),
                                      ctx.describeOperand(1)),
                    {0, 1});
  MatrixView lhs(x.shape, ctx.get(param::transposeX), true);
  MatrixView rhs(y.shape, ctx.get(param::transposeY), false);
  if (lhs.columns != rhs.rows) // C3
    return ctx.fail(diag::MatmulMismatch(ctx.opName(), ctx.describeOperand(0),
                                         ctx.describeOperand(1), lhs.columns,
                                         rhs.rows),
                    {0, 1});
  auto shape = broadcast(ctx, lhs.batch, rhs.batch, {0, 1}); // C4
  if (!shape)
    return false;
  if (!lhs.isVector)
    shape->push_back(lhs.rows);
  if (!rhs.isVector)
    shape->push_back(rhs.columns);
  return ctx.result({x.dtype, *shape});
}

static void evalMatmul(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &y = *ctx.in[1];
  RefTensor &out = ctx.out[0];
  MatrixView lhs(x.type.shape, ctx.get(param::transposeX), true);
  MatrixView rhs(y.type.shape, ctx.get(param::transposeY), false);
  int64_t m = lhs.rows, k = lhs.columns, n = rhs.columns;
  Shape batch = *broadcastShapes(lhs.batch, rhs.batch);
  std::fill(out.data.begin(), out.data.end(), 0.0);
  double *to = out.data.data();
  forEachElement<2>(
      batch,
      {broadcastStrides(lhs.batch, batch), broadcastStrides(rhs.batch, batch)},
      [&](const auto &at) {
        const double *left = &x.data[at[0] * m * k];
        const double *right = &y.data[at[1] * k * n];
        std::vector<double> leftRows, rightRows;
        if (lhs.isTransposed)
          left = (leftRows = transposed(left, k, m)).data();
        if (rhs.isTransposed)
          right = (rightRows = transposed(right, n, k)).data();
        multiply(m, n, k, left, right, to);
        to += m * n;
      });
  settleIntegers(out);
}

/// z = x y: dx = dz y^T, dy = x^T dz, and the transposes of these for
/// transposed operands. Vectors become matrices first; Gradient sums over
/// broadcast leading axes.
static void gradientMatmul(Gradient &g) {
  MatrixView lhs(g.shape(0), g.op.get(param::transposeX), true);
  MatrixView rhs(g.shape(1), g.op.get(param::transposeY), false);
  auto x = [&] {
    return lhs.isVector ? g.reshape(g.in(0), {1, lhs.columns}) : g.in(0);
  };
  auto y = [&] {
    return rhs.isVector ? g.reshape(g.in(1), {rhs.rows, 1}) : g.in(1);
  };
  auto dz = [&] {
    Shape shape = *broadcastShapes(lhs.batch, rhs.batch);
    shape.append({lhs.rows, rhs.columns});
    return g.reshape(g.dy(), shape);
  };
  bool tx = lhs.isTransposed, ty = rhs.isTransposed;
  auto toVector = [&](Value *matrix, bool isVector, int64_t length) {
    if (!isVector)
      return matrix;
    matrix = g.sumTo(
        matrix, {matrix->type.shape.end()[-2], matrix->type.shape.end()[-1]});
    return g.reshape(matrix, length);
  };
  // Operands have names, so that every compiler builds them in this order.
  g.give(0, [&] {
    Value *right = y(), *product = dz();
    Value *dx = tx ? g.matmul(right, product, ty, true)
                   : g.matmul(product, right, false, !ty);
    return toVector(dx, lhs.isVector, lhs.columns);
  });
  g.give(1, [&] {
    Value *product = dz(), *left = x();
    Value *dy = ty ? g.matmul(product, left, true, tx)
                   : g.matmul(left, product, !tx, false);
    return toVector(dy, rhs.isVector, rhs.rows);
  });
}

static int64_t flopsMatmul(const Op &op) {
  MatrixView lhs(op.operand(0u)->type.shape, op.get(param::transposeX), true);
  return saturatingProduct({2, op.result()->type.numElements(), lhs.columns});
}

static bool positionsMatmul(PositionFlow &f) {
  if (f.rank(0) < 2 || f.rank(1) < 2)
    return f.fail(positions::relates);
  unsigned rank = f.op.result()->type.rank();
  std::optional<unsigned> fromEnd; // in the result
  for (unsigned slot : {0u, 1u}) {
    if (!f.in[slot])
      continue;
    unsigned distance = f.rank(slot) - 1 - *f.in[slot];
    if (distance < 2) {
      bool turned =
          slot == 0 ? f.op.get(param::transposeX) : f.op.get(param::transposeY);
      // Rows of `x` and columns of `y` are those of the result.
      bool isLast = (distance == 0) != turned;
      if (isLast == (slot == 0))
        return f.fail(positions::sums);
      distance = slot == 0 ? 1 : 0;
    }
    if (fromEnd && *fromEnd != distance)
      return f.fail(positions::relates);
    fromEnd = distance;
  }
  for (unsigned slot : {0u, 1u})
    if (!f.in[slot] && *fromEnd >= 2 && *fromEnd < f.rank(slot)) {
      unsigned axis = f.rank(slot) - 1 - *fromEnd;
      if (f.shape(slot)[axis] != 1)
        f.varying.push_back({slot, axis});
    }
  return f.keep(rank - 1 - *fromEnd);
}

constinit const OpDef ops::Matmul = {
    .name = "matmul",
    .summary = "The matrix product over the last two axes of `x` and `y`, "
               "optionally transposed. Leading axes broadcast. A vector is a "
               "row on the left and a column on the right.",
    .family = "matmul",
    .params = {value(param::x, numbers), value(param::y, numbers, 'U'),
               boolean(param::transposeX, "false"),
               boolean(param::transposeY, "false")},
    .traits = trait::Mil,
    .constraints = {"`x` and `y` have a rank of at least 1",
                    "`x` and `y` are both floats or both integers",
                    "the inner extents agree", "the leading extents broadcast"},
    .infer = inferMatmul,
    .eval = evalMatmul,
    .flops = flopsMatmul,
    .gradient = gradientMatmul,
    .positions = positions::ofSeveral(positionsMatmul),
};

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

static bool inferLinear(InferContext &ctx) {
  if (!checkRank(ctx, 0, 1, UINT_MAX) || !checkRank(ctx, 1, 2, 2)) // C1 C2
    return false;
  TensorType type = ctx.type(0);
  const TensorType &weight = ctx.type(1);
  if (isFloat(type.dtype) != isFloat(weight.dtype)) // C3
    return ctx.fail(diag::MatmulDType(ctx.opName(), ctx.describeOperand(0),
                                      ctx.describeOperand(1)),
                    {0, 1});
  if (type.shape.back() != weight.shape[1]) // C4
    return ctx.fail(diag::MatmulMismatch(ctx.opName(), ctx.describeOperand(0),
                                         ctx.describeOperand(1),
                                         type.shape.back(), weight.shape[1]),
                    {0, 1});
  if (!checkShape(ctx, 2, weight.shape[0])) // C5
    return false;
  type.shape.back() = weight.shape[0];
  return ctx.result(type);
}

static void evalLinear(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &weight = *ctx.in[1];
  RefTensor &out = ctx.out[0];
  int64_t outputs = weight.type.shape[0], inputs = weight.type.shape[1];
  int64_t rows = int64_t(x.data.size()) / inputs;
  const RefTensor *bias = operandOrNull(ctx, 2);
  for (int64_t i = 0; i < rows * outputs; ++i)
    out.data[i] = bias ? bias->data[i % outputs] : 0.0;
  multiply(rows, outputs, inputs, x.data.data(),
           transposed(weight.data.data(), outputs, inputs).data(),
           out.data.data());
  settleIntegers(out);
}

/// y = x w^T + b, for rows of x: dx = dy w, dw = dy^T x, db = sum(dy)
static void gradientLinear(Gradient &g) {
  unsigned last = g.rank(0) - 1;
  auto rows = [&](Value *value) {
    int64_t columns = value->type.shape.back();
    return g.reshape(value, {value->type.numElements() / columns, columns});
  };
  g.give(0, [&] {
    return g.reshape(g.matmul(rows(g.dy()), g.in(1), false, false), g.shape(0));
  });
  g.give(1, [&] { return g.matmul(rows(g.dy()), rows(g.in(0)), true, false); });
  g.give(2, [&] { return g.sumAlong(g.dy(), last); });
}

static int64_t flopsOfProduct(const Op &op) {
  return saturatingProduct(
      {2, op.result()->type.numElements(), op.operand(1u)->type.shape[1]});
}

/// x weight^T + bias
static Value *decomposeLinear(Builder &builder, const Op &op) {
  Decomposition d(builder, op);
  Value *bias = op.operand(param::bias);
  Value *product =
      d.make(ops::Matmul,
             {op.operand(0u), d.cast(op.operand(param::weight), "weight")},
             {{param::transposeX, false}, {param::transposeY, true}},
             bias ? "product" : "");
  return bias ? d.make(ops::Add, {product, d.cast(bias, "bias")}) : product;
}

static bool positionsLinear(PositionFlow &f) {
  return *f.in[0] + 1 == f.rank(0) ? f.fail(positions::sums)
                                   : positions::same(f);
}

constinit const OpDef ops::Linear = {
    .name = "linear",
    .summary = "`weight` times each row of `x` (its last axis), plus `bias`.",
    .family = "matmul",
    .params = {value(param::x, numbers),
               stored(value(param::weight, numbers, 'U', "[outputs, inputs]")),
               stored(optionalValue(param::bias, numbers, 'U', "[outputs]"))},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of at least 1", "`weight` has rank 2",
                    "`x` and `weight` are both floats or both integers",
                    "rows of `x` and of `weight` have the same length",
                    "`bias` has an element for each output"},
    .infer = inferLinear,
    .eval = evalLinear,
    .decomposeComputed = decomposeLinear,
    .flops = flopsOfProduct,
    .gradient = gradientLinear,
    .positions = {positionsLinear},
};

//===----------------------------------------------------------------------===//
// einsum
//===----------------------------------------------------------------------===//

/// The equation without spaces, its letters renamed to a, b, c, ... in order of
/// appearance.
static std::string canonicalEquation(llvm::StringRef equation) {
  std::string letters, result;
  for (char c : equation) {
    if (c == ' ')
      continue;
    if (!llvm::isAlpha(c)) {
      result += c;
      continue;
    }
    size_t number = letters.find(c);
    if (number == std::string::npos) {
      number = letters.size();
      letters += c;
    }
    result += char('a' + number % 26);
  }
  return result;
}

/// Accepts nchw,nwhu->nchu, and the same without n.
static bool inferEinsum(InferContext &ctx) {
  std::string equation = canonicalEquation(ctx.get(param::equation));
  bool batched = equation == "abcd,adce->abce";
  if (!batched && equation != "abc,cbd->abd") // C1
    return ctx.fail(
        diag::EinsumEquation(ctx.opName(), ctx.get(param::equation).str()));
  if (ctx.operands.size() != 2) // C2
    return ctx.fail(
        diag::OperandCount(ctx.opName(), "2 operands", ctx.operands.size()));
  unsigned rank = batched ? 4 : 3;
  if (!checkRank(ctx, 0, rank, rank) || !checkRank(ctx, 1, rank, rank)) // C2
    return false;
  llvm::ArrayRef<int64_t> x = ctx.type(0).shape, y = ctx.type(1).shape;
  auto mismatch = [&](const char *letter) { // C3
    return ctx.fail(diag::EinsumMismatch(ctx.opName(), ctx.describeOperand(0),
                                         ctx.describeOperand(1), letter),
                    {0, 1});
  };
  if (batched && x[0] != y[0])
    return mismatch("n");
  x = x.take_back(3);
  y = y.take_back(3);
  if (x[1] != y[1])
    return mismatch("h");
  if (x[2] != y[0])
    return mismatch("w");
  Shape shape = ctx.type(0).shape;
  shape.back() = y[2];
  return ctx.result({ctx.type(0).dtype, shape});
}

static void evalEinsum(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &y = *ctx.in[1];
  llvm::ArrayRef<int64_t> xs = x.type.shape, ys = y.type.shape;
  int64_t images = xs.size() == 4 ? xs[0] : 1;
  xs = xs.take_back(3);
  int64_t C = xs[0], H = xs[1], W = xs[2], U = ys.back();
  for (int64_t n = 0; n < images; ++n)
    for (int64_t c = 0; c < C; ++c)
      for (int64_t h = 0; h < H; ++h) {
        double *out = &ctx.out[0].data[((n * C + c) * H + h) * U];
        std::fill_n(out, U, 0.0);
        for (int64_t w = 0; w < W; ++w) {
          double factor = x.data[((n * C + c) * H + h) * W + w];
          const double *row = &y.data[((n * W + w) * H + h) * U];
          for (int64_t u = 0; u < U; ++u)
            out[u] += factor * row[u];
        }
      }
}

/// z[c,h,u] = sum_w x[c,h,w] y[w,h,u] is a matrix product for each h. With h as
/// a leading axis of x, y and dz: dx = dz y^T, dy = x^T dz.
static void gradientEinsum(Gradient &g) {
  bool batched = g.rank(0) == 4;
  // The permutation is its own inverse.
  Shape perm = batched ? Shape{0, 2, 1, 3} : Shape{1, 0, 2};
  auto inFront = [&](Value *value) { return g.transpose(value, perm); };
  g.give(0, [&] {
    return inFront(g.matmul(inFront(g.dy()), inFront(g.in(1)), false, true));
  });
  g.give(1, [&] {
    return inFront(g.matmul(inFront(g.in(0)), inFront(g.dy()), true, false));
  });
}

static int64_t flopsEinsum(const Op &op) {
  return saturatingProduct(
      {2, op.result()->type.numElements(), op.operand(0u)->type.shape.back()});
}

static bool positionsEinsum(PositionFlow &f) {
  std::string equation = llvm::StringRef(f.op.get(param::equation)).str();
  llvm::erase_if(equation, [](char c) { return c == ' '; });
  auto [inputs, output] = llvm::StringRef(equation).split("->");
  llvm::SmallVector<llvm::StringRef, 2> terms;
  inputs.split(terms, ',');
  std::optional<char> label;
  for (unsigned slot = 0; slot < terms.size(); ++slot) {
    if (!f.in[slot])
      continue;
    char own = terms[slot][*f.in[slot]];
    if (label && *label != own)
      return f.fail(positions::relates);
    label = own;
  }
  size_t at = output.find(*label);
  if (at == llvm::StringRef::npos)
    return f.fail(positions::sums);
  for (unsigned slot = 0; slot < terms.size(); ++slot)
    if (size_t axis = terms[slot].find(*label);
        !f.in[slot] && axis != llvm::StringRef::npos)
      f.varying.push_back({slot, unsigned(axis)});
  return f.keep(unsigned(at));
}

constinit const OpDef ops::Einsum = {
    .name = "einsum",
    .summary = "The product of two `values` given by `equation`: "
               "nchw,nwhu->nchu or chw,whr->chr, with any letters.",
    .family = "matmul",
    .params = {variadic(param::values), text(param::equation)},
    .traits = trait::Mil,
    .constraints =
        {"`equation` has one of these two forms",
         "there are two values, with the ranks that `equation` gives",
         "extents with the same letter agree"},
    .infer = inferEinsum,
    .eval = evalEinsum,
    .flops = flopsEinsum,
    .gradient = gradientEinsum,
    .positions = positions::ofSeveral(positionsEinsum),
};
