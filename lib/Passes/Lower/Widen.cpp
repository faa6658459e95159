//===- Widen.cpp - fp32 instead of fp16 -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Not in the default pipeline, since the engine needs fp16. It distinguishes
/// rounding errors from bugs: a program without fp16, including constants,
/// agrees with the exact results to fp32 precision.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/Pass.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"

using namespace anec;

static bool widenType(TensorType &type) {
  if (type.dtype != DType::FP16)
    return false;
  type.dtype = DType::FP32;
  return true;
}

/// The constant with fp16 replaced by fp32, also where it names the type
/// (`cast` and `weight` have it as a string); null when nothing changes.
static ConstantRef widened(const ParamDef &param, const Constant &constant) {
  if (constant.dtype() == DType::FP16)
    return Constant::fromDoubles({DType::FP32, constant.type().shape},
                                 exactElements(constant));
  if (param.name == param::dtype && DTypeParam::read(constant) == DType::FP16)
    return Constant::string("fp32");
  return nullptr;
}

static bool widen(Function &function, PassContext &ctx) {
  bool changed = false;
  for (const auto &param : function.parameters())
    changed |= widenType(param->type);
  for (Op &op : function.body()) {
    for (const ParamDef &param : op.def().parameters()) {
      if (!param.isConstant())
        continue;
      const Constant *constant = op.constant(param.asConstant());
      if (!constant)
        continue;
      if (ConstantRef wide = widened(param, *constant))
        op.setConstant(param.asConstant(), wide);
    }
    for (Value *result : op.resultValues())
      if (widenType(result->type)) {
        ctx.count("widened");
        changed = true;
      }
  }
  return changed;
}

constinit const PassDef passes::Widen = {
    .name = "widen",
    .summary = "Compute fp16 values in fp32, to show the effect of rounding",
    .description = "%x: fp16[C, S]  ==>  %x: fp32[C, S]",
    .stats = {{{"widened", "values widened"}}},
    // Random weights are drawn to be exact in their type.
    .tolerance = 2e-3,
    .needs = Need::NotCalled,
    .run = widen,
};
