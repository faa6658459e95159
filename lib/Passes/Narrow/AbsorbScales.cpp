//===- AbsorbScales.cpp - factors and addends in an op's constants --------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FoldScales.h"
#include "KnownArrays.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Slice.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <functional>
#include <limits>

using namespace anec;

namespace {

/// An op with a weight and a bias, per output.
struct Product {
  Op &op;
  unsigned weightSlot, biasSlot;
  unsigned resultAxis; ///< of the outputs
  RefTensor weight;
  /// The output that element `index` of the weight belongs to.
  std::function<size_t(size_t index)> outputOf;

  static std::optional<Product> of(Op &op);
  size_t outputs() const { return size_t(op.result()->type.shape[resultAxis]); }
  Value *rebuilt(Builder &builder, const RefTensor *newWeight,
                 const RefTensor *newBias, llvm::StringRef name) const;
};

} // namespace

std::optional<Product> Product::of(Op &op) {
  bool isConv = op.is(ops::Conv), isTransposed = op.is(ops::ConvTranspose);
  if (!isConv && !isTransposed && !op.is(ops::Linear))
    return std::nullopt;
  auto weightSlot = unsigned(op.def().valueSlot(param::weight));
  auto biasSlot = unsigned(op.def().valueSlot(param::bias));
  std::optional<RefTensor> weight = knownArray(op.operand(weightSlot));
  if (!weight)
    return std::nullopt;
  unsigned rank = op.result()->type.rank();
  Product product{op,
                  weightSlot,
                  biasSlot,
                  op.is(ops::Linear) ? rank - 1 : 1,
                  std::move(*weight),
                  nullptr};
  const Shape &shape = product.weight.type.shape;
  size_t row = product.weight.data.size() / size_t(shape[0]);
  if (!isTransposed) {
    product.outputOf = [row](size_t index) { return index / row; };
    return product;
  }
  // [channels, outputs / groups, kernel...]
  size_t perGroup = size_t(shape[1]), kernel = row / perGroup;
  size_t channels = size_t(shape[0] / op.get(param::groups));
  product.outputOf = [=](size_t index) {
    return index / row / channels * perGroup + index / kernel % perGroup;
  };
  return product;
}

Value *Product::rebuilt(Builder &builder, const RefTensor *newWeight,
                        const RefTensor *newBias, llvm::StringRef name) const {
  llvm::SmallVector<Value *, 4> operands = op.operandValues();
  operands.resize(std::max<size_t>(operands.size(), biasSlot + 1));
  std::string prefix = op.result()->name;
  if (newWeight)
    operands[weightSlot] = buildArray(builder, *newWeight, prefix + "_weight");
  if (newBias)
    operands[biasSlot] = buildArray(builder, *newBias, prefix + "_bias");
  Op *made =
      builder.createWithSlots(op.def(), operands, op.constants(), {name});
  return made->result();
}

/// The array that `value` is, or zeros.
static std::optional<RefTensor> biasOf(const Value *value, size_t outputs) {
  if (value)
    return knownArray(value);
  return RefTensor{TensorType(DType::FP32, {int64_t(outputs)}),
                   std::vector<double>(outputs)};
}

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

/// `array`, broadcast to the extents of the last axes that `norm` is over;
/// nothing when it differs along others, or the norm is over other axes.
static std::optional<RefTensor> overNorm(const Op &norm,
                                         const RefTensor &array) {
  const TensorType &type = norm.result()->type;
  Shape axes = norm.get(param::axes);
  for (int64_t &axis : axes)
    axis += axis < 0 ? type.rank() : 0;
  llvm::sort(axes);
  size_t first = type.rank() - axes.size();
  for (auto [index, axis] : llvm::enumerate(axes))
    if (axis != int64_t(first + index))
      return std::nullopt;
  Shape own = array.type.shape;
  while (own.size() > axes.size()) {
    if (own.front() != 1)
      return std::nullopt;
    own.erase(own.begin());
  }
  Shape extents(type.shape.begin() + int64_t(first), type.shape.end());
  TensorType full(DType::FP32, extents);
  RefTensor zeros{full, std::vector<double>(size_t(full.numElements()))};
  return computed(ops::Add, zeros, {TensorType(DType::FP32, own), array.data});
}

static Value *withAffine(Op &norm, const OpDef &by, const RefTensor &array,
                         Builder &builder, llvm::StringRef name) {
  std::optional<RefTensor> own = overNorm(norm, array);
  Value *gamma = norm.operand(param::gamma),
        *beta = norm.operand(param::betaValue);
  std::optional<RefTensor> oldGamma = knownArray(gamma),
                           oldBeta = knownArray(beta);
  if (!own || (gamma && !oldGamma) || (beta && !oldBeta))
    return nullptr;
  llvm::SmallVector<Value *, 4> operands = {norm.operand(0u), gamma, beta};
  auto put = [&](unsigned slot, const RefTensor &value, const char *suffix) {
    if (!isHeldByFloat(value))
      return false;
    operands[slot] = buildArray(builder, value, norm.result()->name + suffix);
    return true;
  };
  bool isFactor = &by == &ops::Mul;
  if (isFactor &&
      !put(1, oldGamma ? computed(by, *oldGamma, *own) : *own, "_gamma"))
    return nullptr;
  if (isFactor && oldBeta && !put(2, computed(by, *oldBeta, *own), "_beta"))
    return nullptr;
  if (!isFactor &&
      !put(2, oldBeta ? computed(by, *oldBeta, *own) : *own, "_beta"))
    return nullptr;
  return builder
      .createWithSlots(norm.def(), operands, norm.constants(), {name})
      ->result();
}

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

/// The constant operand of a product of two values takes a factor of its
/// columns or, from the right, of one number.
static Value *scaledMatmul(Op &op, const RefTensor &factor, Builder &builder,
                           llvm::StringRef name) {
  for (unsigned slot : {1u, 0u}) {
    std::optional<RefTensor> array = knownArray(op.operand(slot));
    if (!array)
      continue;
    RefTensor scale = factor;
    if (factor.data.size() > 1) {
      unsigned axis = op.result()->type.rank() - 1;
      auto columns =
          op.result()->type.rank() && slot == 1 && array->type.rank() >= 2
              ? alongAxis(factor, op.result()->type, axis)
              : std::nullopt;
      if (!columns)
        continue;
      auto count = int64_t(columns->size());
      Shape shape = {count};
      if (op.get(param::transposeY))
        shape.push_back(1);
      scale = {TensorType(DType::FP32, shape), std::move(*columns)};
    } else {
      scale.type.shape = {};
    }
    RefTensor scaled = computed(ops::Mul, *array, scale);
    if (!isHeldByFloat(scaled))
      continue;
    llvm::SmallVector<Value *, 4> operands = op.operandValues();
    operands[slot] =
        buildArray(builder, scaled, op.operand(slot)->name + "_scaled");
    return builder.createWithSlots(op.def(), operands, op.constants(), {name})
        ->result();
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Factors and addends
//===----------------------------------------------------------------------===//

Value *anec::absorbFactor(Op &op, const RefTensor &factor, Builder &builder,
                          llvm::StringRef name) {
  if (op.is(ops::LayerNorm))
    return withAffine(op, ops::Mul, factor, builder, name);
  if (op.is(ops::Matmul))
    return scaledMatmul(op, factor, builder, name);
  if (op.is(ops::SliceBySize))
    return scaledRmsNorm(op, factor, builder, name);
  std::optional<Product> product = Product::of(op);
  if (!product)
    return nullptr;
  auto factors = alongAxis(factor, op.result()->type, product->resultAxis);
  Value *bias = op.operand(product->biasSlot);
  std::optional<RefTensor> oldBias = biasOf(bias, product->outputs());
  if (!factors || !oldBias)
    return nullptr;
  RefTensor weight = std::move(product->weight);
  for (size_t index = 0; index < weight.data.size(); ++index)
    weight.data[index] *= (*factors)[product->outputOf(index)];
  for (size_t output = 0; output < factors->size(); ++output)
    oldBias->data[output] *= (*factors)[output];
  if (!isHeldByFloat(*oldBias) ||
      !llvm::all_of(weight.data, [](double element) {
        return std::abs(element) <= std::numeric_limits<float>::max();
      }))
    return nullptr;
  return product->rebuilt(builder, &weight, bias ? &*oldBias : nullptr, name);
}

Value *anec::absorbAddend(Op &op, const RefTensor &addend, Builder &builder,
                          llvm::StringRef name) {
  if (op.is(ops::LayerNorm))
    return withAffine(op, ops::Add, addend, builder, name);
  if (op.is(ops::Matmul))
    return biasedProduct(op, addend, builder, name);
  std::optional<Product> product = Product::of(op);
  if (!product)
    return nullptr;
  auto addends = alongAxis(addend, op.result()->type, product->resultAxis);
  std::optional<RefTensor> bias =
      biasOf(op.operand(product->biasSlot), product->outputs());
  if (!addends || !bias)
    return nullptr;
  for (size_t output = 0; output < addends->size(); ++output)
    bias->data[output] += (*addends)[output];
  if (!isHeldByFloat(*bias))
    return nullptr;
  return product->rebuilt(builder, nullptr, &*bias, name);
}
