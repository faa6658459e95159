//===- Opsets.cpp - the opsets that ops need ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Opsets.h"
#include "anec/IR/Builder.h"
#include "anec/IR/OpDef.h"
#include "anec/Ops/Ops.h"
#include <algorithm>

using namespace anec;

/// Ops that came after ios15.
static unsigned introduced(const Op &op) {
  static const std::pair<const OpDef *, unsigned> rows[] = {
      {&ops::ConstexprAffineDequantize, 16},
      {&ops::ConstexprBlockwiseShiftScale, 18},
      {&ops::ConstexprCast, 16},
      {&ops::ConstexprLutToDense, 16},
      {&ops::ConstexprLutToSparse, 18},
      {&ops::ConstexprSparseBlockwiseShiftScale, 18},
      {&ops::ConstexprSparseToDense, 16},
      {&ops::Dequantize, 17},
      {&ops::FillLike, 16},
      {&ops::PixelUnshuffle, 16},
      {&ops::Quantize, 17},
      {&ops::ReadState, 18},
      {&ops::Resize, 17},
      {&ops::ScaledDotProductAttention, 18},
      {&ops::SliceUpdate, 18},
      {&ops::WriteState, 18},
  };
  for (auto [def, opset] : rows)
    if (op.is(*def))
      return opset;
  return 15;
}

/// The forms of ops that unpack weights: without `shape`, those of ios18.
static unsigned formOf(const Op &op) {
  const OpDef &def = op.def();
  bool hasForms =
      def.has(trait::Constexpr) && def.constantSlot(param::shape) >= 0;
  return hasForms && !op.constant(param::shape) ? 18 : 15;
}

/// Small integers as results of ops that do not unpack weights.
static unsigned ofTypes(const Op &op) {
  if (op.def().has(trait::Constexpr) || op.def().has(trait::Stored))
    return 15;
  unsigned opset = 15;
  for (const Value *result : op.resultValues())
    switch (result->type.dtype) {
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
    case DType::UInt16:
      opset = std::max(opset, 17u);
      break;
    default:
      break;
    }
  return opset;
}

/// Parameters that came later, unless they have their default values.
static unsigned ofParameters(const Op &op) {
  unsigned opset = 15, index = 0;
  for (const ParamDef &param : op.def().parameters()) {
    if (!param.isConstant())
      continue;
    const ConstantRef &value = op.constants()[index++];
    if (!value || param.opset <= opset)
      continue;
    ConstantRef fallback = defaultConstant(op.def(), param, op.operandValues());
    if (!fallback || !fallback->equals(*value))
      opset = param.opset;
  }
  return opset;
}

unsigned coreml::firstOpset(const Op &op) {
  return std::max({introduced(op), formOf(op), ofTypes(op), ofParameters(op)});
}
