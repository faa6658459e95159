//===- Opsets.cpp - the opsets that ops need ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Opsets.h"
#include "OpArguments.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Sampling.h"
#include "lib/Ops/Rows/Attention.h"
#include "lib/Ops/Rows/Blocks.h"
#include "lib/Ops/Rows/Boxes.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "lib/Ops/Rows/ConstexprLookup.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Ops/Rows/Quantization.h"
#include "lib/Ops/Rows/Recurrent.h"
#include "lib/Ops/Rows/Resize.h"
#include "lib/Ops/Rows/Sample.h"
#include "lib/Ops/Rows/Slice.h"
#include <algorithm>

using namespace anec;
using namespace anec::coreml;

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

/// The opsets of the forms of an op that has several with other parameters.
static OpsetRange ofForm(const Op &op) {
  const OpDef &def = op.def();
  // Ops that unpack weights lost `shape` in ios18.
  if (def.has(trait::Constexpr) && def.constantSlot(param::shape) >= 0)
    return op.constant(param::shape) ? OpsetRange{16, 17} : OpsetRange{18};
  // `roi` became `boxes` and `box_indices`.
  if (op.is(ops::CropResize) && op.operand(param::roi))
    return {15, 16};
  // Suppression lost `score_threshold`, and boxes became the last axis.
  if (op.is(ops::NonMaximumSuppression))
    return op.constant(param::scoreThreshold) ? OpsetRange{15, 16}
                                              : OpsetRange{17};
  return {};
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
  for (const OpArgument &argument : argumentsOf(op))
    if (argument.value)
      opset = std::max<unsigned>(opset, argument.param->opset);
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

/// Until ios17 all floats of an op had one type, and recurrent layers were
/// fp32.
static unsigned ofFloats(const Op &op) {
  llvm::SmallVector<OpArgument, 8> arguments = argumentsOf(op);
  if (op.def().has(trait::Constexpr) || arguments.empty() ||
      !isFloat(arguments[0].dtype))
    return 15;
  bool isRecurrent = op.is(ops::Gru) || op.is(ops::Lstm) || op.is(ops::Rnn);
  if (isRecurrent && arguments[0].dtype == DType::FP16)
    return 17;
  for (const OpArgument &argument : arguments) {
    DTypeSet dtypes = argument.param->dtypes;
    bool isOfFloats = dtypes == DTypeSet{DType::FP16, DType::FP32};
    if (isOfFloats && argument.dtype != arguments[0].dtype)
      return 17;
  }
  bool hasHalfPlaces = op.is(ops::Resample) && arguments.size() > 1 &&
                       arguments[1].dtype == DType::FP16;
  return hasHalfPlaces ? 16 : 15;
}

/// Convolutions take computed biases, and transposed ones computed weights,
/// since ios17.
static unsigned ofComputed(const Op &op) {
  bool isTransposed = op.is(ops::ConvTranspose);
  if (!isTransposed && !op.is(ops::Conv))
    return 15;
  for (const OpArgument &argument : argumentsOf(op)) {
    bool wasConstant = argument.param->name == param::bias ||
                       (isTransposed && argument.param->name == param::weight);
    if (wasConstant && !isStored(*argument.value))
      return 17;
  }
  return 15;
}

OpsetRange coreml::opsetsOf(const Op &op) {
  OpsetRange opsets = ofForm(op);
  opsets.first = std::max({opsets.first, introduced(op), ofTypes(op),
                           ofParameters(op), ofFloats(op), ofComputed(op)});
  return opsets;
}
