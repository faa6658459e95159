//===- Definitions.cpp - what Core ML's ops take --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Definitions.h"
#include "OpArguments.h"
#include "lib/CoreML/Diags.h"
#include "lib/IR/Blocks.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Scatter.h"
#include "lib/Ops/Rows/Sort.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::coreml;

/// Biases of convolutions can be computed since ios17, which opsetsOf knows;
/// the engine takes only stored ones.
static bool mustBeStored(const Op &op, const ParamDef &param) {
  bool isConvolution = op.is(ops::Conv) || op.is(ops::ConvTranspose);
  return param.mustBeStored && !(isConvolution && param.name == param::bias);
}

static bool checkStored(const Op &op, Diagnostics &diags) {
  for (const OpArgument &argument : argumentsOf(op)) {
    if (!mustBeStored(op, *argument.param) || isStored(*argument.value))
      continue;
    diags.report(op.range(), diag::ComputedConstant, argument.param->name,
                 op.def().name);
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
/// Types that a row of the op table takes, and no definition.
struct Refused {
  const OpDef *op;
  ParamName param;
  DTypeSet dtypes;
};
} // namespace

static bool checkTypes(const Op &op, Diagnostics &diags) {
  constexpr DTypeSet small = {DType::Int8, DType::UInt8, DType::Int16,
                              DType::UInt16};
  static const Refused rows[] = {
      {&ops::Gather, param::x, {DType::Bool}},
      {&ops::GatherAlongAxis, param::x, {DType::Bool}},
      {&ops::GatherNd, param::x, {DType::Bool}},
      {&ops::Scatter, param::indices, small},
      {&ops::ScatterAlongAxis, param::indices, small},
      {&ops::ScatterNd, param::indices, small},
      {&ops::ShapeOf, param::x, small},
      {&ops::Topk, param::x, {DType::Bool}},
  };
  for (const OpArgument &argument : argumentsOf(op))
    for (const Refused &row : rows) {
      if (!op.is(*row.op) || row.param != argument.param->name ||
          !row.dtypes.contains(argument.dtype))
        continue;
      diags.report(op.range(), diag::RefusedType, argument.param->name,
                   op.def().name, spelling(argument.dtype));
      return false;
    }
  return true;
}

/// Whether the definitions give the parameter a type that it shares with the
/// others that take the same types, and not that of the first operand.
static bool sharesType(const ParamDef &param) {
  return (param.typeVar == 0 || param.typeVar == 'U') &&
         (param.dtypes.contains(DType::FP32) ||
          param.dtypes.contains(DType::Int32));
}

/// A scale, an offset and an epsilon have one type, as do the parts of a slice.
static bool checkSharedTypes(const Op &op, Diagnostics &diags) {
  llvm::SmallVector<OpArgument, 8> arguments = argumentsOf(op);
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    if (!sharesType(*argument.param))
      continue;
    for (const OpArgument &other :
         llvm::ArrayRef(arguments).drop_front(index + 1)) {
      if (!sharesType(*other.param) || other.dtype == argument.dtype ||
          !(other.param->dtypes == argument.param->dtypes))
        continue;
      diags.report(op.range(), diag::MixedTypes, argument.param->name,
                   other.param->name, op.def().name, spelling(argument.dtype),
                   spelling(other.dtype));
      return false;
    }
  }
  return true;
}

bool coreml::checkDefinition(const Op &op, Diagnostics &diags) {
  // What blocks take are no arguments of their op.
  if (op.def().has(trait::Constexpr) || op.def().has(trait::Stored) ||
      blocksSlot(op.def()) >= 0)
    return true;
  return checkStored(op, diags) && checkTypes(op, diags) &&
         checkSharedTypes(op, diags);
}
