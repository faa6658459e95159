//===- Coordinates.cpp - values that say where to read --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "KnownArrays.h"
#include "lib/Ops/Params/Sampling.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Sample.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// The coordinates that `op` samples an image at, which can be in fp32 beside
/// an image in fp16; null for other ops.
static const Value *coordinatesOf(const Op &op) {
  const Value *points =
      op.is(ops::Resample) ? op.operand(param::coordinates) : nullptr;
  return points && points->type.dtype == DType::FP32 ? points : nullptr;
}

static bool isArithmetic(const Op &op) {
  return op.is(ops::Add) || op.is(ops::Sub) || op.is(ops::Mul) ||
         op.is(ops::RealDiv) || op.is(ops::Clip) || op.is(ops::Maximum) ||
         op.is(ops::Minimum);
}

static bool isMove(const Op &op) { return op.def().has(trait::DataMovement); }

static bool isComputedInFloats(const Op &op) {
  return op.numResults() != 0 && op.result()->type.dtype == DType::FP32;
}

Coordinates::Coordinates(const Function &function) {
  auto add = [&](const Value *value) {
    const Op *op = value ? value->definingOp() : nullptr;
    if (op && isComputedInFloats(*op) && (isArithmetic(*op) || isMove(*op)))
      sources.insert(op);
  };
  for (const Op &op : llvm::reverse(function.body())) {
    add(coordinatesOf(op));
    if (sources.contains(&op))
      for (const Value *operand : op.operandValues())
        add(operand);
  }
  for (const Op &op : function.body())
    if (!sources.empty() && isComputedInFloats(op))
      follow(op);
}

bool Coordinates::isCoordinate(const Value *value) const {
  return value && value->definingOp() && wide.contains(value->definingOp());
}

void Coordinates::follow(const Op &op) {
  auto isOne = [&](const Value *value) { return isCoordinate(value); };
  auto isOneOrConstant = [&](const Value *value) {
    return !value || isCoordinate(value) || definedBy(value, ops::Const);
  };
  const auto &operands = op.operandValues();
  bool readsOne = llvm::any_of(operands, isOne);
  bool readsNoOther = llvm::all_of(operands, isOneOrConstant);
  bool isSource = sources.contains(&op);
  // Moves of features that coordinates are computed from need no fp32. A sum
  // or difference with coordinates loses as much as they do; a product only
  // where it is one of coordinates alone.
  if ((isArithmetic(op) && isSource) || (isMove(op) && readsOne && isSource) ||
      ((op.is(ops::Add) || op.is(ops::Sub)) && readsOne) ||
      ((isArithmetic(op) || isMove(op)) && readsOne && readsNoOther))
    wide.insert(&op);
}

bool Coordinates::computes(const Op &op) const { return wide.contains(&op); }

bool Coordinates::areReadBy(const Op &op) const {
  const Value *points = coordinatesOf(op);
  return points && (isCoordinate(points) || definedBy(points, ops::Const));
}
