//===- Narrow.cpp - fp16 instead of fp32 ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Not in the default pipeline, since a program says itself what it computes
/// in. For models that were trained in fp32: the engine computes in fp16.
/// NarrowPlan.h decides which ops, and this rewrites them.
///
//===----------------------------------------------------------------------===//

#include "FoldScales.h"
#include "KnownArrays.h"
#include "Masks.h"
#include "NarrowPlan.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Passes/Diags.h"

using namespace anec;

namespace {

class Narrower {
public:
  Narrower(Function &function, const NarrowPlan &plan, PassContext &ctx)
      : function(function), plan(plan), ctx(ctx), builder(function) {}
  void run();

private:
  void narrowParameters();
  void narrow(Op &op);
  void keep(Op &op);
  void narrowConstants(Op &op);
  Value *narrowed(Value *value, const Op &op, unsigned slot);
  Value *widened(Value *value);
  Value *castOnce(Value *value, DType dtype);
  Value *limitedOnce(Value *value);

  Function &function;
  const NarrowPlan &plan;
  PassContext &ctx;
  Builder builder;
  /// The values of the function that were fp32.
  llvm::DenseSet<const Value *> wasWide;
  llvm::DenseMap<Value *, Value *> halves, floats, limits;
};

} // namespace

/// A cast behind the op that computes `value`, or in front of all ops.
static void insertBehind(Builder &builder, Value *value) {
  Function &function = builder.getFunction();
  Op *source = value->definingOp();
  Op *next = nullptr;
  auto place =
      source ? std::next(source->getIterator()) : function.body().begin();
  if (place != function.body().end())
    next = &*place;
  builder.setInsertionPoint(next);
  builder.setRange(value->range());
}

Value *Narrower::castOnce(Value *value, DType dtype) {
  Value *&made = (dtype == DType::FP16 ? halves : floats)[value];
  if (made)
    return made;
  insertBehind(builder, value);
  made = builder.build(ops::Cast, {value}, {{param::dtype, dtype}},
                       value->name + "_" + spelling(dtype).str());
  ctx.count("cast");
  return made;
}

Value *Narrower::limitedOnce(Value *value) {
  Value *&made = limits[value];
  if (made)
    return made;
  insertBehind(builder, value);
  made =
      builder.build(ops::Clip, {value},
                    {{param::alpha, Constant::scalar(DType::FP32, -maskLimit)},
                     {param::beta, Constant::scalar(DType::FP32, maskLimit)}},
                    value->name + "_limited");
  return made;
}

/// The value in fp16, for a slot of a narrow op.
Value *Narrower::narrowed(Value *value, const Op &op, unsigned slot) {
  if (value->type.dtype != DType::FP32)
    return value;
  if (const Op *source = definedBy(value, ops::Const)) {
    const Constant &constant = *source->constant(param::val);
    HalfLoss loss = lossInHalf(constant, useOfOperand(op, slot));
    bool isMask = loss.kind == HalfLoss::Kind::Large;
    Value *&made = (isMask ? limits : halves)[value];
    if (!made) {
      insertBehind(builder, value);
      std::optional<double> limit;
      if (isMask)
        limit = maskLimit;
      made = builder.build(
          ops::Const, {},
          {{param::val, inHalf(constant, limit, plan.rowsOf(value))}},
          value->name);
    }
    if (isMask)
      ctx.remark(op.range(), diag::LimitedMask, value->name,
                 briefNumber(loss.element), int64_t(maskLimit));
    return made;
  }
  if (plan.isLimited(value))
    value = limitedOnce(value);
  return castOnce(value, DType::FP16);
}

/// The value in fp32, for a wide op.
Value *Narrower::widened(Value *value) {
  bool isNarrowed = value->type.dtype == DType::FP16 && wasWide.contains(value);
  return isNarrowed ? castOnce(value, DType::FP32) : value;
}

/// Constant parameters, also those that name a type (`cast` and `weight` have
/// it as a string).
void Narrower::narrowConstants(Op &op) {
  for (const ParamDef &param : op.def().parameters()) {
    const Constant *constant =
        param.isConstant() ? op.constant(param.asConstant()) : nullptr;
    if (!constant)
      continue;
    if (param.name == param::dtype &&
        DTypeParam::read(*constant) == DType::FP32) {
      op.setConstant(param.asConstant(), Constant::string("fp16"));
      continue; // The constant is gone.
    }
    if (constant->dtype() != DType::FP32 ||
        !param.dtypes.contains(DType::FP16) ||
        (param.offZero && plan.keepsConstants(op)))
      continue;
    HalfLoss loss = lossInHalf(*constant, useOfParameter(op, param));
    std::optional<double> limit;
    if (loss.kind == HalfLoss::Kind::Large)
      limit = maskLimit;
    op.setConstant(param.asConstant(), inHalf(*constant, limit));
  }
}

void Narrower::narrow(Op &op) {
  for (unsigned slot = 0; slot < op.numOperands(); ++slot) {
    Value *operand = op.operand(slot);
    bool isKept = operand && slot > 0 && plan.keepsConstants(op);
    if (operand && !isKept)
      op.setOperand(slot, narrowed(operand, op, slot));
  }
  narrowConstants(op);
  for (Value *result : op.resultValues())
    if (result->type.dtype == DType::FP32) {
      result->type.dtype = DType::FP16;
      wasWide.insert(result);
      ctx.count("narrowed");
    }
}

/// The name of what an op computes, for a message; nothing when it has none.
static std::string ofResult(const Op &op) {
  bool hasName = op.numResults() && !op.result()->name.empty();
  return hasName ? " of `" + op.result()->name + "`" : "";
}

/// A wide op stays as it is, apart from its operands.
void Narrower::keep(Op &op) {
  for (unsigned slot = 0; slot < op.numOperands(); ++slot)
    if (Value *operand = op.operand(slot))
      op.setOperand(slot, widened(operand));
  ctx.count("kept");
  if (llvm::StringRef reason = plan.reason(op); !reason.empty())
    ctx.remark(op.range(), diag::KeptWide, op.def().name, ofResult(op), reason);
}

/// Parameters become fp16, except those that a wide op reads: fp16 might not
/// hold them.
void Narrower::narrowParameters() {
  for (const auto &param : function.parameters()) {
    if (param->type.dtype != DType::FP32)
      continue;
    bool isReadWide = false;
    for (Operand *use = param->firstUse(); use; use = use->nextUse())
      isReadWide |= use->owner() && plan.isWide(*use->owner());
    if (isReadWide && param->holder == Holder::Tensor)
      continue;
    param->type.dtype = DType::FP16;
    wasWide.insert(param.get());
  }
}

void Narrower::run() {
  narrowParameters();
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (op.is(ops::Const))
      continue; // made anew for each use in fp16
    plan.isWide(op) ? keep(op) : narrow(op);
  }
  for (unsigned index = 0; index < function.numResults(); ++index) {
    Value *result = function.result(index);
    if (result->type.dtype != DType::FP32)
      continue;
    // The result keeps its name.
    const std::string &name = function.resultNames()[index];
    Value *cast = castOnce(result, DType::FP16);
    if (result->name == name) {
      result->name = name + "_fp32";
      cast->name = name;
    }
    function.setResult(index, cast);
  }
  for (Op &op : llvm::make_early_inc_range(function.body()))
    if (op.is(ops::Const) && !op.result()->hasUses())
      op.erase();
}

/// Whether the function has a value to narrow.
static bool hasFloats(const Function &function) {
  auto isWide = [](const Value *value) {
    return value->type.dtype == DType::FP32;
  };
  for (const auto &param : function.parameters())
    if (isWide(param.get()))
      return true;
  return llvm::any_of(function.body(), [&](const Op &op) {
    return llvm::any_of(op.resultValues(), isWide);
  });
}

static bool narrow(Function &function, PassContext &ctx) {
  if (!hasFloats(function))
    return false;
  ctx.count("folded", foldScales(function));
  NarrowPlan::Options options;
  options.takesMixedTypes = ctx.takesMixedTypes && function.opset != "ios15" &&
                            function.opset != "ios16";
  if (ctx.examples)
    options.examples = ctx.examples->find(function);
  NarrowPlan plan(function, options);
  Narrower(function, plan, ctx).run();
  return true;
}

constinit const PassDef passes::Narrow = {
    .name = "narrow",
    .summary = "Fold constant scales, then compute fp32 values in fp16, as the "
               "engine does, except where fp16 gives other results",
    .description =
        "%y = mul(%x: fp32[C, S], 0.5)  ==>  %y = mul(%x: fp16[C, S], 0.5)\n"
        "%y = mul(%x: fp32[C, S], 1e9)  ==>  %y = cast(mul(%x: fp32[C, S], "
        "1e9), fp16)",
    .stats = {{{"narrowed", "values narrowed"},
               {"kept", "ops that stay in fp32"},
               {"cast", "casts between them"},
               {"folded", "ops that became part of others"}}},
    // Constants are rounded.
    .tolerance = 1e-2,
    .needs = Need::NotCalled,
    .run = narrow,
};
