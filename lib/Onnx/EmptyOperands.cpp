//===- EmptyOperands.cpp - operands without elements ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Extents of the IR are at least 1. Exporters write parts without elements
/// nevertheless: a slice from 0 to 0, which is transposed, computed with, and
/// then joined or written to something else. What such ops give is known.
///
//===----------------------------------------------------------------------===//

#include "EmptyOperands.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Reverse.h"
#include "lib/Ops/Rows/Scatter.h"
#include "lib/Ops/Rows/Shape.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <optional>
#include <vector>

using namespace anec;
using namespace anec::onnx;

bool onnx::haveNoElements(llvm::ArrayRef<Value *> operands) {
  return llvm::any_of(operands, [](const Value *operand) {
    return operand && operand->type.numElements() == 0;
  });
}

bool onnx::isOfImages(llvm::StringRef op) {
  static constexpr llvm::StringLiteral names[] = {"AveragePool",
                                                  "BatchNormalization",
                                                  "Conv",
                                                  "ConvTranspose",
                                                  "GlobalAveragePool",
                                                  "GlobalLpPool",
                                                  "GlobalMaxPool",
                                                  "GroupNormalization",
                                                  "InstanceNormalization",
                                                  "LRN",
                                                  "LpPool",
                                                  "MaxPool",
                                                  "Resize",
                                                  "Upsample"};
  return llvm::is_contained(names, op);
}

Value *onnx::unchangedOperand(const OpDef &def,
                              llvm::ArrayRef<Value *> operands) {
  bool isScatter = &def == &ops::Scatter || &def == &ops::ScatterNd ||
                   &def == &ops::ScatterAlongAxis;
  return isScatter ? operands.front() : nullptr;
}

/// Whether `infer` gives the right extents where some are 0.
static bool infersEmpty(const OpDef &def) {
  const OpDef *others[] = {&ops::Transpose,  &ops::Reverse,   &ops::Squeeze,
                           &ops::ExpandDims, &ops::Tile,      &ops::Gather,
                           &ops::GatherNd,   &ops::LayerNorm, &ops::Matmul};
  return def.has(trait::Elementwise) || def.has(trait::Reduction) ||
         def.has(trait::AlongAxis) || llvm::is_contained(others, &def);
}

/// What combining no elements of `dtype` gives; nothing where that is not
/// defined.
static std::optional<double> resultOfNone(const OpDef &def, DType dtype) {
  if (&def == &ops::ReduceProd)
    return 1;
  if (llvm::is_contained({&ops::ReduceSum, &ops::ReduceSumSquare,
                          &ops::ReduceL1Norm, &ops::ReduceL2Norm, &ops::Matmul},
                         &def))
    return 0;
  if (!isFloat(dtype))
    return std::nullopt;
  if (&def == &ops::ReduceMin)
    return INFINITY;
  if (llvm::is_contained(
          {&ops::ReduceMax, &ops::ReduceLogSum, &ops::ReduceLogSumExp}, &def))
    return -INFINITY;
  return std::nullopt;
}

/// The constants of a row, with those of `attrs`.
static llvm::SmallVector<ConstantRef, 4>
slotsOf(const OpDef &def, llvm::ArrayRef<Value *> operands,
        llvm::ArrayRef<Attr> attrs) {
  llvm::SmallVector<ConstantRef, 4> slots(def.numConstantParams());
  for (const Attr &attr : attrs)
    slots[size_t(def.constantSlot(attr.param))] = attr.value;
  size_t slot = 0;
  for (const ParamDef &param : def.parameters())
    if (param.isConstant()) {
      if (!slots[slot])
        slots[slot] = defaultConstant(def, param, operands);
      ++slot;
    }
  return slots;
}

llvm::SmallVector<ConstantRef, 1>
onnx::emptyResults(const OpDef &def, llvm::ArrayRef<Value *> operands,
                   llvm::ArrayRef<Attr> attrs) {
  constexpr int64_t most = 1 << 20;
  llvm::SmallVector<ConstantRef, 1> results;
  if (!infersEmpty(def))
    return results;
  llvm::SmallVector<ConstantRef, 4> slots = slotsOf(def, operands, attrs);
  InferContext ctx(def, operands, slots, {}, nullptr);
  if (!def.infer(ctx))
    return results;
  for (const TensorType &type : ctx.results) {
    std::optional<int64_t> count = checkedNumElements(type.shape);
    std::optional<double> element = resultOfNone(def, type.dtype);
    if (!count || *count > most || (*count > 0 && !element))
      return {};
    results.push_back(Constant::fromDoubles(
        type, std::vector<double>(size_t(*count), element.value_or(0))));
  }
  return results;
}
