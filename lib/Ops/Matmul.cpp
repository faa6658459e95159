//===- Matmul.cpp - matrix products -----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Infer.h"
#include "Reference.h"
#include "anec/Ops/Ops.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

namespace {
/// An operand of matmul as a batch of matrices. A vector is a row on the left
/// and a column on the right, and its transposition means nothing.
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
    return ctx.fail(
        diag::MatmulDType,
        {ctx.def.name.str(), ctx.describeOperand(0), ctx.describeOperand(1)},
        {0, 1});
  MatrixView lhs(x.shape, ctx.boolAttr("transpose_x"), true);
  MatrixView rhs(y.shape, ctx.boolAttr("transpose_y"), false);
  if (lhs.columns != rhs.rows) // C3
    return ctx.fail(diag::MatmulMismatch,
                    {ctx.def.name.str(), ctx.describeOperand(0),
                     ctx.describeOperand(1), std::to_string(lhs.columns),
                     std::to_string(rhs.rows)},
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
  MatrixView lhs(x.type.shape, ctx.boolAttr("transpose_x"), true);
  MatrixView rhs(y.type.shape, ctx.boolAttr("transpose_y"), false);
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

static int64_t flopsMatmul(const Op &op) {
  MatrixView lhs(op.operand(0u)->type.shape, op.boolAttr("transpose_x"), true);
  return saturatingProduct({2, op.result()->type.numElements(), lhs.columns});
}

constinit const OpDef ops::Matmul = {
    .name = "matmul",
    .summary = "The matrix product of the last two axes of `x` and `y`, each "
               "transposed if so told; leading axes broadcast. A vector is a "
               "row on the left, a column on the right.",
    .family = "matmul",
    .params = {value("x", numbers), value("y", numbers, 'U'),
               boolean("transpose_x", "false"),
               boolean("transpose_y", "false")},
    .traits = trait::Mil,
    .constraints = {"`x` and `y` have a rank of at least 1",
                    "`x` and `y` are both floats or both integers",
                    "the inner extents agree", "the leading extents broadcast"},
    .infer = inferMatmul,
    .eval = evalMatmul,
    .flops = flopsMatmul,
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
    return ctx.fail(
        diag::MatmulDType,
        {ctx.def.name.str(), ctx.describeOperand(0), ctx.describeOperand(1)},
        {0, 1});
  if (type.shape.back() != weight.shape[1]) // C4
    return ctx.fail(diag::MatmulMismatch,
                    {ctx.def.name.str(), ctx.describeOperand(0),
                     ctx.describeOperand(1), std::to_string(type.shape.back()),
                     std::to_string(weight.shape[1])},
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

static int64_t flopsLinear(const Op &op) {
  return saturatingProduct(
      {2, op.result()->type.numElements(), op.operand(1u)->type.shape[1]});
}

constinit const OpDef ops::Linear = {
    .name = "linear",
    .summary = "`weight` times each row of `x` (its last axis), plus `bias`.",
    .family = "matmul",
    .params = {value("x", numbers),
               value("weight", numbers, 'U', "[outputs, inputs]"),
               optionalValue("bias", numbers, 'U', "[outputs]")},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of at least 1", "`weight` has rank 2",
                    "`x` and `weight` are both floats or both integers",
                    "rows of `x` and of `weight` are of one length",
                    "`bias` has an element for each output"},
    .infer = inferLinear,
    .eval = evalLinear,
    .flops = flopsLinear,
};
