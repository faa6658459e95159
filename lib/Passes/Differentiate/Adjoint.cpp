//===- Adjoint.cpp - the reverse sweep through one function ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Adjoint.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Weights.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Activity
//===----------------------------------------------------------------------===//

void Activity::activate(const Value *value, bool isWide) {
  if (!isFloat(value->type.dtype))
    return;
  active.insert(value);
  if (isWide)
    wide.insert(value);
}

bool Activity::hasActiveOperand(const Op &op) const {
  return llvm::any_of(op.operandValues(), [&](const Value *operand) {
    return operand && isActive(operand);
  });
}

/// Whether the result consists only of elements of the operands, and the
/// elements read do not depend on indices.
static bool onlyMoves(const Op &op) {
  auto isArray = [](const Value *operand) {
    return operand && isFloat(operand->type.dtype);
  };
  return op.is(ops::Cast) || (op.def().has(trait::DataMovement) &&
                              llvm::all_of(op.operandValues(), isArray));
}

bool Activity::appliesActively(const Op &op) const {
  return hasActiveOperand(op) || (trains && trains(op));
}

void Activity::visit(const Op &op) {
  if (op.is(ops::Weight)) {
    if (!op.get(param::frozen))
      activate(op.result(), /*wide=*/true);
    return;
  }
  bool applies = op.def().has(trait::Call) || op.is(ops::Repeat);
  bool isActive =
      applies ? appliesActively(op)
              : !op.def().has(trait::ZeroGradient) && hasActiveOperand(op);
  if (!isActive)
    return;
  bool isWide = onlyMoves(op) &&
                llvm::all_of(op.operandValues(),
                             [&](const Value *v) { return wide.contains(v); });
  // Integer results are active too, since values computed from them depend on
  // the same weights.
  for (const Value *result : op.resultValues()) {
    if (!applies || isFloat(result->type.dtype))
      active.insert(result);
    if (isWide && isFloat(result->type.dtype))
      wide.insert(result);
  }
}

std::optional<DType> Activity::gradientDType(const Value *value) const {
  if (!isActive(value) || !isFloat(value->type.dtype))
    return std::nullopt;
  return wide.contains(value) ? DType::FP32 : value->type.dtype;
}

//===----------------------------------------------------------------------===//
// The sweep
//===----------------------------------------------------------------------===//

Adjoint::Adjoint(Function &function, const Activity &activity,
                 Diagnostics &diags, Applied applied)
    : activity(activity), builder(function), diags(diags),
      applied(std::move(applied)) {
  for (Op &op : function.body())
    forward.push_back(&op);
}

void Adjoint::add(Value *value, Value *gradient) {
  std::optional<DType> dtype = activity.gradientDType(value);
  if (!dtype)
    return;
  if (gradient->type.dtype != *dtype)
    gradient = builder.build(ops::Cast, gradient, Attr(param::dtype, *dtype));
  assert(gradient->type.shape == value->type.shape);
  Value *&sum = sums[value];
  sum = sum ? builder.build(ops::Add, {sum, gradient}) : gradient;
  if (sum->definingOp() && !value->name.empty())
    sum->name = value->name + ".gradient";
}

Value *Adjoint::zeros(const TensorType &type) {
  if (type.isScalar())
    return builder.build(ops::Const, {},
                         Attr(param::val, Constant::scalar(type.dtype, 0)));
  return builder.build(ops::Fill, {},
                       {{param::shape, llvm::ArrayRef<int64_t>(type.shape)},
                        {param::fillValue, Constant::scalar(type.dtype, 0)}});
}

Value *Adjoint::gradientOrZeros(const Value *value) {
  if (Value *sum = gradient(value))
    return sum;
  return zeros({activity.gradientDType(value).value_or(value->type.dtype),
                value->type.shape});
}

static bool isLarge(const Op &op) {
  auto large = [](const Value *value) {
    return value && value->type.numElements() > INT32_MAX;
  };
  return llvm::any_of(op.operandValues(), large) ||
         llvm::any_of(op.resultValues(), large);
}

bool Adjoint::apply(const Op &op) {
  llvm::SmallVector<Value *, 2> dy;
  for (const Value *result : op.resultValues())
    dy.push_back(gradient(result));
  bool isUsed = llvm::any_of(dy, [](Value *value) { return value; });
  if (op.def().has(trait::Call) || op.is(ops::Repeat))
    return !isUsed || applied(op, *this);
  if (!isUsed || op.is(ops::Weight) || op.def().has(trait::ZeroGradient) ||
      !activity.hasActiveOperand(op))
    return true;
  auto refuse = [&](llvm::StringRef why) {
    diags.report(op.range(), diag::NotDifferentiable, op.def().name, why);
    return false;
  };
  if (!op.def().gradient)
    return refuse("it has no gradient rule");
  // Rules can reshape a value to a single axis, and extents have 32 bits.
  if (isLarge(op))
    return refuse("it has a value of more than 2^31 - 1 elements");
  llvm::SmallVector<std::optional<DType>, 4> wanted;
  for (const Value *operand : op.operandValues())
    wanted.push_back(operand ? activity.gradientDType(operand) : std::nullopt);
  builder.setRange(op.range());
  Gradient rule(builder, made, op, dy, wanted);
  op.def().gradient(rule);
  if (!rule.whyNot().empty())
    return refuse(rule.whyNot());
  for (unsigned slot = 0; slot < op.numOperands(); ++slot)
    if (Value *gradient = rule.gradient(slot))
      add(op.operand(slot), gradient);
  return true;
}

bool Adjoint::run() {
  bool ok = true;
  for (const Op *op : llvm::reverse(forward))
    ok &= apply(*op);
  return ok;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

std::vector<WeightGradient> Adjoint::weightGradients() {
  std::vector<WeightGradient> all;
  for (const Op *op : forward) {
    Value *sum = op->is(ops::Weight) ? gradient(op->result()) : nullptr;
    if (!sum)
      continue;
    llvm::StringRef name = op->get(param::name);
    Value *stored = buildView(builder, sum, viewOf(*op).array.inverse());
    auto same = llvm::find_if(all, [&](const WeightGradient &other) {
      return other.name == name && other.instance == op->operand(param::index);
    });
    if (same == all.end())
      all.push_back({name.str(), op->operand(param::index), stored});
    else
      same->gradient = builder.build(ops::Add, {same->gradient, stored});
  }
  return all;
}
