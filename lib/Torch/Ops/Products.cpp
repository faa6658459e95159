//===- Products.cpp - products of matrices --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Reduce.h"

using namespace anec;
using namespace anec::torch;

/// Integers are computed as fp32.
static Val wideOf(Emitter &e, Val x) {
  return e.cast(x, x.dtype() == DType::FP16 ? DType::FP16 : DType::FP32);
}

/// The product, as Python's `@` has it.
static Val product(Emitter &e, Val x, Val y) {
  bool row = x.rank() == 1, column = y.rank() == 1;
  x = wideOf(e, x);
  y = wideOf(e, y);
  if (row)
    x = e.reshape(x, {1, x.dim(0)});
  if (column)
    y = e.reshape(y, {y.dim(0), 1});
  Val result = e.matmul(x, y);
  if (!result)
    return {};
  Shape shape = result.shape();
  if (column)
    shape.pop_back();
  if (row)
    shape.erase(shape.end() - (column ? 1 : 2));
  return e.reshape(result, shape);
}

static void giveProduct(Node &n, StringRef second) {
  n.out(n.e.cast(product(n.e, n.in("self"), n.in(second)),
                 nativeType(n.outType())));
}

static void matmul(Node &n) { giveProduct(n, "other"); }
static void multiplyMatrices(Node &n) { giveProduct(n, "mat2"); }
static void multiplyVector(Node &n) { giveProduct(n, "vec"); }
static void dot(Node &n) { giveProduct(n, "tensor"); }

static void linear(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("input"), weight = n.in("weight"), bias = n.maybe("bias");
  if (n.failed() || !x || !weight)
    return;
  if (weight.rank() == 1) {
    Val result = product(e, x, weight);
    return n.out(bias ? e.add(result, bias) : result);
  }
  bool isList = x.rank() == 1;
  if (isList)
    x = e.reshape(x, {1, x.dim(0)});
  Val result;
  if (weight.isKnown() && (!bias || bias.isKnown()) && x.rank() >= 1 &&
      x.rank() <= 5) {
    Vals operands = {x, weight};
    if (bias)
      operands.push_back(bias);
    result = e.make(ops::Linear, operands);
  } else {
    result = e.matmul(x, weight, false, true);
    if (bias)
      result = e.add(result, bias);
  }
  n.out(isList ? e.reshape(result, {result.size()}) : result);
}

/// beta * self + alpha * the product.
static void addMatrixProduct(Node &n, StringRef first, StringRef second) {
  Emitter &e = n.e;
  Val self = n.in("self"), x = n.in(first), y = n.in(second);
  Item alpha = n.item("alpha"), beta = n.item("beta");
  ScalarType type = n.outType();
  auto scaled = [&](Val x, const Item &factor) {
    ConstantRef known = e.known(factor.val);
    return known && known->doubleAt(0) == 1 ? x
                                            : e.mul(x, n.cast(factor, type));
  };
  Val result = e.cast(product(e, x, y), nativeType(type));
  if (ConstantRef known = e.known(beta.val); known && known->doubleAt(0) == 0)
    return n.out(scaled(result, alpha));
  n.out(e.add(scaled(self, beta), scaled(result, alpha)));
}

static void addmm(Node &n) { addMatrixProduct(n, "mat1", "mat2"); }
static void baddbmm(Node &n) { addMatrixProduct(n, "batch1", "batch2"); }
static void addmv(Node &n) { addMatrixProduct(n, "mat", "vec"); }

static void outer(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self"), y = n.in(n.has("vec2") ? "vec2" : "other");
  ScalarType type = n.outType();
  x = e.reshape(n.cast(x, n.typeOf("self"), type), {x.size(), 1});
  n.out(e.mul(x, n.e.cast(y, nativeType(type))));
}

static void einsum(Node &n) {
  n.ignore("path");
  std::vector<Item> items = n.items("tensors");
  OnnxNode node(n, "Einsum");
  for (const Item &item : items)
    node.in(n.cast(item, n.outType()));
  n.out(node.attr("equation", n.text("equation")).run());
}

static void tensordot(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self"), y = n.in("other");
  Shape ofX = n.ints("dims_self"), ofY = n.ints("dims_other");
  for (int64_t &axis : ofX)
    axis = n.normalized(axis, x.rank());
  for (int64_t &axis : ofY)
    axis = n.normalized(axis, y.rank());
  if (n.failed() || !x || !y)
    return;
  Shape shape, permX, permY;
  int64_t rows = 1, columns = 1, inner = 1;
  for (int64_t axis = 0; axis != x.rank(); ++axis)
    if (!llvm::is_contained(ofX, axis)) {
      permX.push_back(axis);
      shape.push_back(x.dim(axis));
      rows *= x.dim(axis);
    }
  llvm::append_range(permX, ofX);
  llvm::append_range(permY, ofY);
  for (int64_t axis : ofX)
    inner *= x.dim(axis);
  for (int64_t axis = 0; axis != y.rank(); ++axis)
    if (!llvm::is_contained(ofY, axis)) {
      permY.push_back(axis);
      shape.push_back(y.dim(axis));
      columns *= y.dim(axis);
    }
  Val left = e.reshape(e.transpose(x, permX), {rows, inner});
  Val right = e.reshape(e.transpose(y, permY), {inner, columns});
  Val result = e.matmul(wideOf(e, left), wideOf(e, right));
  n.out(e.cast(e.reshape(result, shape), nativeType(n.outType())));
}

/// x^T A y + b, of each row.
static void bilinear(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("input1"), y = n.in("input2"), weight = n.in("weight");
  Val bias = n.maybe("bias");
  if (n.failed() || !x || !y || !weight || weight.rank() != 3 ||
      weight.size() == 0)
    return n.fail("its weight must have rank 3");
  int64_t outputs = weight.dim(0), width = weight.dim(1),
          height = weight.dim(2);
  int64_t count = x.size() / width;
  Val rows = e.reshape(x, {1, count, width});
  Val left = e.matmul(rows, weight); // [outputs, count, height]
  Val sums =
      e.reduce(ops::ReduceSum, e.mul(left, e.reshape(y, {1, count, height})),
               {2}, false);
  Shape shape = x.shape();
  shape.back() = outputs;
  Val result = e.reshape(e.transpose(sums, {1, 0}), shape);
  n.out(bias ? e.add(result, bias) : result);
}

/// The sum over some axes of a product of three, which get axes of extent 1
/// first.
static void trilinear(Node &n) {
  Emitter &e = n.e;
  n.ignore("unroll_dim");
  Val product;
  for (auto [name, expand] :
       {std::pair("i1", "expand1"), std::pair("i2", "expand2"),
        std::pair("i3", "expand3")}) {
    Val x = n.in(name);
    Shape added = n.ints(expand), shape = x.shape();
    llvm::sort(added);
    for (int64_t axis : added) {
      if (axis < 0 || axis > int64_t(shape.size()))
        return n.fail("there is no axis " + llvm::Twine(axis));
      shape.insert(shape.begin() + axis, 1);
    }
    Val wide = e.reshape(x, shape);
    product = product ? e.mul(product, wide) : wide;
  }
  if (!product)
    return;
  Shape axes = n.axes("sumdim", product.rank());
  n.out(e.reduce(ops::ReduceSum, product, axes, false));
}

static constexpr OpRow productTable[] = {
    {"aten._trilinear.default", trilinear},
    {"aten.addmm.default", addmm},
    {"aten.addmv.default", addmv},
    {"aten.baddbmm.default", baddbmm},
    {"aten.bilinear.default", bilinear},
    {"aten.bmm.default", multiplyMatrices},
    {"aten.dot.default", dot},
    {"aten.einsum.default", einsum},
    {"aten.linear.default", linear},
    {"aten.matmul.default", matmul},
    {"aten.mm.default", multiplyMatrices},
    {"aten.mv.default", multiplyVector},
    {"aten.outer.default", outer},
    {"aten.tensordot.default", tensordot},
};

llvm::ArrayRef<OpRow> torch::productRows() { return productTable; }
