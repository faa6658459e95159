//===- ProductSteps.cpp - matmul, linear and einsum -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Products.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Matmul.h"

using namespace anec;
using namespace anec::cpu;

/// The shape without its last two axes, seen as `rank` axes.
static Shape batchShape(llvm::ArrayRef<int64_t> shape, size_t rank) {
  llvm::ArrayRef<int64_t> batch = shape.drop_back(2);
  Shape result(rank - batch.size(), 1);
  result.append(batch.begin(), batch.end());
  return result;
}

/// For every product of the batch, the index of the operand's matrix.
static std::vector<size_t> batchIndices(llvm::ArrayRef<int64_t> operand,
                                        llvm::ArrayRef<int64_t> result) {
  std::vector<size_t> indices;
  Shape strides = rowMajorStrides(operand);
  int64_t count = TensorType(DType::FP32, result).numElements();
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number, index = 0;
    for (size_t axis = result.size(); axis-- > 0; rest /= result[axis])
      if (operand[axis] != 1)
        index += rest % result[axis] * strides[axis];
    indices.push_back(size_t(index));
  }
  return indices;
}

std::shared_ptr<Products> cpu::matmulProducts(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(0u), *y = op.operand(1u), *z = op.result();
  if (!isFloat(x->type.dtype) || !isFloat(y->type.dtype) ||
      x->type.rank() < 2 || y->type.rank() < 2)
    return {};
  bool transX = op.get(param::transposeX), transY = op.get(param::transposeY);
  llvm::ArrayRef<int64_t> xs = x->type.shape, ys = y->type.shape,
                          zs = z->type.shape;
  auto products = std::make_shared<Products>();
  GemmShape &shape = products->shape;
  shape.m = zs[zs.size() - 2];
  shape.n = zs.back();
  shape.k = transX ? xs[xs.size() - 2] : xs.back();
  shape.lda = xs.back();
  shape.ldb = ys.back();
  shape.ldc = zs.back();
  shape.transA = transX ? Transpose::Yes : Transpose::No;
  shape.transB = transY ? Transpose::Yes : Transpose::No;

  size_t batchRank = zs.size() - 2;
  Shape batch = batchShape(zs, batchRank);
  std::vector<size_t> xIndices = batchIndices(batchShape(xs, batchRank), batch);
  std::vector<size_t> yIndices = batchIndices(batchShape(ys, batchRank), batch);
  // Matrices that are all multiplied with the same one are one matrix.
  if (!transX && TensorType(DType::FP32, ys.drop_back(2)).numElements() == 1) {
    shape.m *= xIndices.size();
    xIndices = yIndices = {0};
  }
  std::vector<GemmOperands> &operands = products->operands;
  operands.resize(xIndices.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i].a =
        ctx.storage.floats(x) + xIndices[i] * size_t(shape.m * shape.k);
    operands[i].b =
        ctx.storage.floats(y) + yIndices[i] * size_t(shape.k * shape.n);
    operands[i].c = ctx.storage.floats(z) + i * size_t(shape.m * shape.n);
    operands[i].columnBias = ctx.storage.matmulBias(op);
  }
  return products;
}

static StepFn makeMatmul(const Op &op, StepContext &ctx) {
  auto products = matmulProducts(op, ctx);
  if (!products)
    return {};
  const GemmShape &shape = products->shape;
  const std::vector<GemmOperands> &operands = products->operands;
  GemmEpilogue epilogue{ctx.rounding(op.result())};
  epilogue.accumulate = ctx.accumulating && ctx.accumulating->contains(&op);
  if (!epilogue.accumulate && !ctx.storage.matmulBias(op))
    if (StepFn thin = makeThinMatmul(*products, epilogue.rounding, ctx))
      return thin;
  if (operands.size() == 1 && ctx.schedule.isConstant(op.operand(0u))) {
    auto weight = std::make_shared<PackedWeight>(ctx.products.packLeft(
        shape.m, shape.k, operands[0].a, shape.lda, shape.transA));
    return [=, &pool = ctx.pool, &kernels = ctx.products] {
      kernels.multiplyLeft(pool, *weight, products->shape, products->operands,
                           epilogue);
    };
  }
  if (operands.size() == 1 && ctx.schedule.isConstant(op.operand(1u))) {
    auto weight = std::make_shared<PackedWeight>(ctx.products.packRight(
        shape.k, shape.n, operands[0].b, shape.ldb, shape.transB));
    return [=, &pool = ctx.pool, &kernels = ctx.products] {
      kernels.multiplyRight(pool, *weight, products->shape, products->operands,
                            epilogue);
    };
  }
  return [=, &pool = ctx.pool, &kernels = ctx.products] {
    kernels.multiply(pool, products->shape, products->operands, epilogue);
  };
}

// linear(x [.., I], weight [O, I], bias [O]) = x * weight^T + bias
std::shared_ptr<Products> cpu::linearProducts(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x), *weight = op.operand(param::weight),
              *bias = op.operand(param::bias), *z = op.result();
  if (!isFloat(x->type.dtype))
    return {};
  auto products = std::make_shared<Products>();
  GemmShape &shape = products->shape;
  shape.n = weight->type.shape[0];
  shape.k = weight->type.shape[1];
  shape.m = shape.n == 0 ? 0 : z->type.numElements() / shape.n;
  shape.lda = shape.ldb = shape.k;
  shape.ldc = shape.n;
  shape.transB = Transpose::Yes;
  GemmOperands operands;
  operands.a = ctx.storage.floats(x);
  operands.b = ctx.storage.floats(weight);
  operands.c = ctx.storage.floats(z);
  operands.columnBias = bias ? ctx.storage.floats(bias) : nullptr;
  products->operands = {operands};
  return products;
}

static StepFn makeLinear(const Op &op, StepContext &ctx) {
  auto products = linearProducts(op, ctx);
  if (!products)
    return {};
  const GemmShape &shape = products->shape;
  GemmEpilogue epilogue{ctx.rounding(op.result())};
  if (!ctx.schedule.isConstant(op.operand(param::weight)))
    return [=, &pool = ctx.pool, &kernels = ctx.products] {
      kernels.multiply(pool, products->shape, products->operands, epilogue);
    };
  auto packed = std::make_shared<PackedWeight>(ctx.products.packRight(
      shape.k, shape.n, products->operands[0].b, shape.ldb, Transpose::Yes));
  return [=, &pool = ctx.pool, &kernels = ctx.products] {
    kernels.multiplyRight(pool, *packed, products->shape, products->operands,
                          epilogue);
  };
}

// z[n,c,h,u] = sum_w x[n,c,h,w] y[n,w,h,u]: a product for each n and h, whose
// matrices have rows h apart.
static StepFn makeEinsum(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(0u), *y = op.operand(1u), *z = op.result();
  if (z->type.numElements() == 0 || x->type.numElements() == 0)
    return {};
  llvm::ArrayRef<int64_t> xs = x->type.shape;
  size_t images = xs.size() == 4 ? size_t(xs[0]) : 1;
  xs = xs.take_back(3);
  size_t height = size_t(xs[1]);
  GemmShape shape;
  shape.m = size_t(xs[0]);
  shape.k = size_t(xs[2]);
  shape.n = size_t(y->type.shape.back());
  shape.lda = height * shape.k;
  shape.ldb = shape.ldc = height * shape.n;
  std::vector<GemmOperands> operands(images * height);
  for (size_t i = 0; i < operands.size(); ++i) {
    size_t image = i / height, row = i % height;
    operands[i].a =
        ctx.storage.floats(x) + image * shape.m * shape.lda + row * shape.k;
    operands[i].b =
        ctx.storage.floats(y) + image * shape.k * shape.ldb + row * shape.n;
    operands[i].c =
        ctx.storage.floats(z) + image * shape.m * shape.ldc + row * shape.n;
  }
  GemmEpilogue epilogue{ctx.rounding(z)};
  return [=, &pool = ctx.pool, &kernels = ctx.products] {
    kernels.multiply(pool, shape, operands, epilogue);
  };
}

static constexpr StepRow productStepsTable[] = {
    {&ops::Einsum, makeEinsum},
    {&ops::Linear, makeLinear},
    {&ops::Matmul, makeMatmul},
};

llvm::ArrayRef<StepRow> cpu::productSteps() { return productStepsTable; }
