//===- Products.cpp - convolutions and products for a target --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Legalize.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Attention.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Softmax.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace anec;
using namespace anec::legalize;

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The same convolution with other operands.
static Value *convolve(Rewriter &r, Value *x, Value *weight, Value *bias,
                       llvm::StringRef part = "") {
  return r.make(ops::Conv, {x, weight, bias},
                {{param::strides, r.op.constant(param::strides)},
                 {param::padType, r.op.constant(param::padType)},
                 {param::pad, r.op.constant(param::pad)},
                 {param::dilations, r.op.constant(param::dilations)},
                 {param::groups, r.op.constant(param::groups)}},
                part);
}

Value *legalize::addBias(Rewriter &r, Value *sum, Value *bias) {
  Shape shape(sum->type.rank(), 1);
  shape[1] = bias->type.shape[0];
  return r.make(ops::Add, {sum, r.reshape(bias, shape, "bias")});
}

/// conv(x, w, b) ==> conv(x, w) + b
Value *legalize::splitBias(Rewriter &r) {
  Value *product =
      convolve(r, r.x(), r.op.operand(param::weight), nullptr, "plain");
  return addBias(r, product, r.op.operand(param::bias));
}

/// conv(x, w) with padding ==> conv(pad(x), w)
Value *legalize::padConv(Rewriter &r) {
  Shape margins = r.op.get(param::pad);
  Value *framed = r.pad(r.x(), margins, "framed");
  return r.make(
      ops::Conv,
      {framed, r.op.operand(param::weight), r.op.operand(param::bias)},
      {{param::strides, r.op.constant(param::strides)},
       {param::padType, PadType::Valid},
       {param::pad, Shape(margins.size(), 0)},
       {param::dilations, r.op.constant(param::dilations)},
       {param::groups, r.op.constant(param::groups)}});
}

/// conv over one axis ==> conv over two, with a height of 1
Value *legalize::convToRank4(Rewriter &r) {
  auto heightened = [&](Value *value, llvm::StringRef part) {
    Shape shape = value->type.shape;
    shape.insert(shape.begin() + 2, 1);
    return r.reshape(value, shape, part);
  };
  auto with = [&](const IntsParam &name, std::initializer_list<int64_t> first) {
    Shape values = r.op.get(name);
    values.insert(values.begin(), first.begin(), first.end());
    return Attr(name, values);
  };
  Value *in = heightened(r.x(), "in");
  Value *kernel = heightened(r.op.operand(param::weight), "kernel");
  Value *image = r.make(ops::Conv, {in, kernel, r.op.operand(param::bias)},
                        {with(param::strides, {1}),
                         {param::padType, r.op.constant(param::padType)},
                         with(param::pad, {0, 0}),
                         with(param::dilations, {1}),
                         {param::groups, r.op.constant(param::groups)}},
                        "image");
  return r.reshape(image, r.op.result()->type.shape);
}

/// conv(x, w) ==> concat(conv(x, w's first outputs), ...)
Value *legalize::tileConv(Rewriter &r) {
  if (!r.op.is(ops::Conv) || r.op.get(param::groups) != 1)
    return nullptr;
  Value *weight = r.op.operand(param::weight),
        *bias = r.op.operand(param::bias);
  llvm::SmallVector<Value *> parts;
  eachPart(weight->type.shape[0], r.target.limits.convOutputChannels,
           [&](int64_t begin, int64_t extent) {
             Value *kernel = r.slice(weight, 0, begin, extent, "kernel");
             Value *part =
                 bias ? r.slice(bias, 0, begin, extent, "bias") : nullptr;
             parts.push_back(convolve(r, r.x(), kernel, part, "part"));
           });
  return parts.size() > 1 ? r.concat(parts, 1) : nullptr;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The contracted axis of an operand of `matmul`.
static unsigned contractedAxis(const Op &matmul, unsigned slot) {
  unsigned rank = matmul.operand(slot)->type.rank();
  bool transposed =
      matmul.get(slot == 0 ? param::transposeX : param::transposeY);
  return rank - ((slot == 0) != transposed ? 1 : 2);
}

static Value *multiply(Rewriter &r, Value *x, Value *y, llvm::StringRef part) {
  return r.make(ops::Matmul, {x, y},
                {{param::transposeX, r.op.constant(param::transposeX)},
                 {param::transposeY, r.op.constant(param::transposeY)}},
                part);
}

/// The sum of `terms`.
static Value *addAll(Rewriter &r, llvm::ArrayRef<Value *> terms) {
  Value *sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i)
    sum = r.make(ops::Add, {sum, terms[i]}, i + 1 < terms.size() ? "sum" : "");
  return sum;
}

/// x @ y ==> x's first columns @ y's first rows + ...
static Value *splitMatmul(Rewriter &r) {
  Value *x = r.x(), *y = r.op.operand(1u);
  if (x->type.rank() < 2 || y->type.rank() < 2)
    return nullptr;
  unsigned xAxis = contractedAxis(r.op, 0), yAxis = contractedAxis(r.op, 1);
  llvm::SmallVector<Value *> terms;
  eachPart(x->type.shape[xAxis], r.target.limits.matmulContraction,
           [&](int64_t begin, int64_t extent) {
             Value *left = r.slice(x, xAxis, begin, extent, "left");
             Value *right = r.slice(y, yAxis, begin, extent, "right");
             terms.push_back(multiply(r, left, right, "term"));
           });
  return terms.size() > 1 ? addAll(r, terms) : nullptr;
}

/// conv(x, w) ==> conv(x's first channels, w's) + ...
Value *legalize::splitContraction(Rewriter &r) {
  if (r.op.is(ops::Matmul))
    return splitMatmul(r);
  if (r.op.get(param::groups) != 1)
    return nullptr;
  Value *weight = r.op.operand(param::weight);
  llvm::SmallVector<Value *> terms;
  eachPart(weight->type.shape[1], r.target.limits.convInputChannels,
           [&](int64_t begin, int64_t extent) {
             Value *bias = terms.empty() ? r.op.operand(param::bias) : nullptr;
             Value *channels = r.slice(r.x(), 1, begin, extent, "channels");
             Value *kernel = r.slice(weight, 1, begin, extent, "kernel");
             terms.push_back(convolve(r, channels, kernel, bias, "term"));
           });
  return terms.size() > 1 ? addAll(r, terms) : nullptr;
}

/// x @ y ==> concat(x, zeros) @ concat(y, zeros), along the contracted axis
Value *legalize::padContraction(Rewriter &r) {
  llvm::SmallVector<Value *, 2> operands;
  for (unsigned slot : {0u, 1u}) {
    Value *operand = r.op.operand(slot);
    if (operand->type.rank() < 2)
      return nullptr;
    unsigned axis = contractedAxis(r.op, slot);
    TensorType zeros = operand->type;
    int64_t extent = zeros.shape[axis];
    zeros.shape[axis] = int64_t(llvm::alignTo<32>(uint64_t(extent))) - extent;
    const std::vector<double> elements(zeros.numElements());
    Value *padding =
        r.make(ops::Const, {},
               Attr(param::val, Constant::fromDoubles(zeros, elements)),
               slot == 0 ? "x_padding" : "y_padding");
    operands.push_back(r.concat({operand, padding}, axis,
                                slot == 0 ? "x_padded" : "y_padded"));
  }
  return multiply(r, operands[0], operands[1], "");
}

/// x @ x ==> -(x @ (-x)), which is exact
Value *legalize::negateOperand(Rewriter &r) {
  Value *minusOne = r.scalar(-1, "minus_one");
  Value *negated =
      r.make(ops::Mul, {r.op.operand(1u), minusOne}, {}, "negated");
  return r.make(ops::Mul, {multiply(r, r.x(), negated, "product"), minusOne});
}

/// x @ y ==> concat(x's first rows @ y, ...), or along y's columns
Value *legalize::tileMatmul(Rewriter &r) {
  const TensorType &type = r.op.result()->type;
  if (r.x()->type.rank() < 2 || r.op.operand(1u)->type.rank() < 2)
    return nullptr;
  int64_t limit = r.target.limits.matmulExtent;
  unsigned slot = type.shape.back() > limit ? 1 : 0;
  Value *operand = r.op.operand(slot);
  unsigned rank = operand->type.rank();
  unsigned axis = contractedAxis(r.op, slot) == rank - 1 ? rank - 2 : rank - 1;
  llvm::SmallVector<Value *> parts;
  eachPart(
      operand->type.shape[axis], limit, [&](int64_t begin, int64_t extent) {
        Value *piece = r.slice(operand, axis, begin, extent, "piece");
        parts.push_back(slot == 0 ? multiply(r, piece, r.op.operand(1u), "part")
                                  : multiply(r, r.x(), piece, "part"));
      });
  if (parts.size() < 2)
    return nullptr;
  return r.concat(parts, int64_t(type.rank()) - (slot == 1 ? 1 : 2));
}

/// attention ==> softmax(query @ key^T / sqrt(width) + mask) @ value
Value *legalize::expandAttention(Rewriter &r) {
  Value *query = r.op.operand(param::query),
        *mask = r.op.operand(param::attnMask);
  double scale = 1 / std::sqrt(double(query->type.shape.back()));
  Value *scores =
      r.make(ops::Matmul, {query, r.op.operand(param::key)},
             {{param::transposeX, false}, {param::transposeY, true}}, "scores");
  scores = r.make(ops::Mul, {scores, r.scalar(scale, "scale")}, "scaled");
  if (mask && mask->type.dtype == DType::Bool) {
    double least = lowest(r.op.result()->type.dtype);
    scores =
        r.make(ops::Select, {mask, scores, r.scalar(least, "least")}, "masked");
  } else if (mask) {
    if (mask->type.dtype != scores->type.dtype)
      return nullptr;
    scores = r.make(ops::Add, {scores, mask}, "masked");
  }
  Value *weights =
      r.make(ops::Softmax, {scores}, {{param::axis, -1}}, "weights");
  return r.make(ops::Matmul, {weights, r.op.operand(param::value)});
}
