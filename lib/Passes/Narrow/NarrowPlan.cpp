//===- NarrowPlan.cpp - which ops stay in fp32 ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "NarrowPlan.h"
#include "KnownArrays.h"
#include "Masks.h"
#include "OpKinds.h"
#include "lib/IR/Blocks.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Reduce.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

void NarrowPlan::widen(const Op &op, std::string reason) {
  reasons.try_emplace(&op, std::move(reason));
}

void NarrowPlan::setFact(const Op &op, Fact fact) {
  for (const Value *result : op.resultValues()) {
    Fact own = fact;
    // A value that is proven to be ordinary.
    if (own.scale > 1 && proven.of(result).magnitude() <= largestHalf)
      own.scale = 0;
    if (!isFloat(result->type.dtype))
      own = {};
    if (own.scale > 1 && onlyShiftsSoftmax(*result)) {
      limited.insert(result);
      own.scale = 0;
    }
    facts[result] = own;
  }
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static std::string lossText(llvm::StringRef subject, const HalfLoss &loss) {
  std::string text = subject.str() + " has " + briefNumber(loss.element);
  return loss.kind == HalfLoss::Kind::Large
             ? text + ", and fp16 ends at 65504"
             : text + ", which is " + briefNumber(loss.half) + " in fp16";
}

/// The scale that a factor gives to a value.
static double scaleBy(const Op &op, unsigned slot, const Constant &factor,
                      double scale) {
  double most = 0;
  for (double element : factor.asDoubles())
    if (std::isfinite(element))
      most = std::max(most, std::abs(element));
  bool isDivisor = op.is(ops::RealDiv) && slot == 1;
  return isDivisor ? scale / most : scale * most;
}

bool NarrowPlan::decideOperand(const Op &op, unsigned slot) {
  const Op *source = definedBy(op.operand(slot), ops::Const);
  if (!source || source->result()->type.dtype != DType::FP32)
    return false;
  const Constant &constant = *source->constant(param::val);
  HalfLoss loss = lossInHalf(constant, useOfOperand(op, slot));
  if (!loss)
    return false;
  bool isLarge = loss.kind == HalfLoss::Kind::Large;
  // A mask, which the rewrite limits.
  if (isLarge && !op.is(ops::Mul) && !op.is(ops::RealDiv) &&
      onlyShiftsSoftmax(op))
    return false;
  const std::string &name = op.operand(slot)->name;
  widen(op, lossText(name.empty() ? "a constant" : "`" + name + "`", loss));
  bool scales = op.is(ops::Mul) || op.is(ops::RealDiv);
  setFact(op, {.scale = scales ? scaleBy(op, slot, constant, 1)
                               : std::abs(loss.element)});
  return true;
}

bool NarrowPlan::decideParameter(const Op &op, const ParamDef &param) {
  const Constant *constant =
      param.isConstant() ? op.constant(param.asConstant()) : nullptr;
  if (!constant || constant->dtype() != DType::FP32 ||
      !param.dtypes.contains(DType::FP16))
    return false;
  ConstantUse use = useOfParameter(op, param);
  HalfLoss loss = lossInHalf(*constant, use);
  if (!loss)
    return false;
  if (use == ConstantUse::Guard && options.takesMixedTypes &&
      takesMixedConstants(op)) {
    mixed.insert(&op);
    return false;
  }
  widen(op, lossText(("`" + param.name + "`").str(), loss));
  Fact fact;
  if (use == ConstantUse::Guard)
    fact.isReciprocal = op.is(ops::Rsqrt) || op.is(ops::Inverse);
  else
    fact.scale = std::abs(loss.element);
  setFact(op, fact);
  return true;
}

/// The constant that keeps the result of `op` off 0; nothing without one.
static std::optional<double> guardOf(const Op &op) {
  std::optional<double> guard;
  if (op.is(ops::Add) || op.is(ops::Maximum)) {
    guard = knownNumber(op.operand(1u));
    if (!guard)
      guard = knownNumber(op.operand(0u));
  }
  if (op.is(ops::Clip))
    guard = op.get(param::alpha);
  return guard && *guard > 0 ? guard : std::nullopt;
}

/// Whether `value` is divided by, or a root or logarithm taken of it.
static bool isAmplified(const Value &value, unsigned depth = 0) {
  for (Operand *use = value.firstUse(); use; use = use->nextUse()) {
    const Op *user = use->owner();
    if (!user)
      continue;
    if (amplifiesSmall(*user, value))
      return true;
    if (keepsSmall(*user, value) && depth < 4 && user->numResults() &&
        isAmplified(*user->result(), depth + 1))
      return true;
  }
  return false;
}

bool NarrowPlan::decideGuard(const Op &op) {
  std::optional<double> guard = guardOf(op);
  if (!guard || *guard >= 1 || op.result()->type.dtype != DType::FP32)
    return false;
  ConstantRef constant = Constant::scalar(DType::FP32, *guard);
  HalfLoss loss = lossInHalf(*constant, ConstantUse::Guard);
  if (!loss || !isAmplified(*op.result()))
    return false;
  widen(op, lossText("the constant that keeps it off 0", loss));
  setFact(op, {.isGuarded = true});
  precise.insert(&op);
  return true;
}

bool NarrowPlan::decideByConstants(const Op &op) {
  if (op.is(ops::Const) || op.is(ops::Weight))
    return false;
  if (decideGuard(op))
    return true;
  for (unsigned slot = 0; slot < op.numOperands(); ++slot)
    if (op.operand(slot) && decideOperand(op, slot))
      return true;
  return llvm::any_of(op.def().parameters(), [&](const ParamDef &param) {
    return decideParameter(op, param);
  });
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool NarrowPlan::decideByScale(const Op &op, double scale) {
  for (unsigned slot : {0u, 1u})
    if (op.is(ops::Mul) || (op.is(ops::RealDiv) && slot == 1))
      if (const Op *factor = slot < op.numOperands()
                                 ? definedBy(op.operand(slot), ops::Const)
                                 : nullptr)
        scale = scaleBy(op, slot, *factor->constant(param::val), scale);
  widen(op, "an operand may be out of fp16's range");
  bool isDivisor = op.is(ops::RealDiv) && factOf(op.operand(1u)).scale != 0;
  bool isOrdinary = scale >= smallestHalf && scale <= largestFactor;
  if (settlesScale(op) || isDivisor || isOrdinary)
    scale = 0;
  setFact(op, {.scale = scale});
  return true;
}

void NarrowPlan::passGuardOn(const Op &op) {
  widen(op, "it reads a value that a small constant keeps off 0");
  bool divides = op.is(ops::RealDiv) && factOf(op.operand(1u)).isGuarded;
  std::optional<double> exponent =
      op.is(ops::Pow) ? knownNumber(op.operand(1u)) : std::nullopt;
  Fact fact;
  fact.isReciprocal = op.is(ops::Rsqrt) || op.is(ops::Inverse) ||
                      (exponent && *exponent < 0) ||
                      (divides && knownNumber(op.operand(0u)));
  fact.isGuarded = !fact.isReciprocal && !divides && !op.is(ops::Log);
  setFact(op, fact);
}

bool NarrowPlan::decideByGuards(const Op &op) {
  bool isGuarded = false, isReciprocal = false;
  for (const Value *operand : op.operandValues()) {
    if (!operand || operand->type.dtype != DType::FP32)
      continue;
    Fact fact = factOf(operand);
    isGuarded |= fact.isGuarded &&
                 (amplifiesSmall(op, *operand) || keepsSmall(op, *operand));
    isReciprocal |= fact.isReciprocal;
  }
  if (isGuarded) {
    passGuardOn(op);
    return true;
  }
  if (isReciprocal) {
    widen(op, "it reads the reciprocal of a value that may be nearly 0");
    setFact(op, {.isReciprocal = op.def().has(trait::DataMovement)});
    return true;
  }
  return false;
}

bool NarrowPlan::decideByOperands(const Op &op) {
  double scale = 0;
  bool isAllIntegers = true, hasInteger = false;
  for (const Value *operand : op.operandValues()) {
    if (!operand || operand->type.dtype != DType::FP32)
      continue;
    Fact fact = factOf(operand);
    scale = std::max(scale, fact.scale);
    isAllIntegers &= fact.isInteger || definedBy(operand, ops::Const);
    hasInteger |= fact.isInteger;
  }
  if (scale != 0)
    return decideByScale(op, scale);
  if (!hasInteger || !isAllIntegers || !passesIntegers(op))
    return false;
  widen(op, "it computes with integers, which fp16 has only up to 2048");
  setFact(op, {.isInteger = true});
  return true;
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// From here on, exp() exceeds fp16.
static constexpr double largestExponent = 11;
/// Up to here, an angle in fp16 is off by less than 2^-9.
static constexpr double largestAngle = 8;
/// Integers up to here are exact.
static constexpr double largestExact = 2048;

/// Whether `value` is a sum of squares, to which no constant is added.
static bool isSumOfSquares(const Value &value, unsigned depth = 0) {
  const Op *op = value.definingOp();
  if (!op || depth > 6)
    return false;
  if (op->is(ops::Square) || op->is(ops::ReduceSumSquare) ||
      (op->is(ops::Mul) && op->operand(0u) == op->operand(1u)))
    return true;
  if (op->is(ops::Pow))
    return knownNumber(op->operand(1u)) == 2.0;
  if (op->is(ops::Add))
    return isSumOfSquares(*op->operand(0u), depth + 1) &&
           isSumOfSquares(*op->operand(1u), depth + 1);
  bool passes = op->is(ops::ReduceSum) || op->is(ops::ReduceMean) ||
                op->def().has(trait::DataMovement);
  return passes && isSumOfSquares(*op->operand(0u), depth + 1);
}

/// Whether `op` adds up squares with constant factors, such as the bands of a
/// spectrum.
static bool isProductOfSquares(const Op &op) {
  if (!op.is(ops::Matmul) && !op.is(ops::Linear) && !op.is(ops::Conv))
    return false;
  bool isSum = false;
  for (const Value *operand : op.operandValues())
    if (operand && !definedBy(operand, ops::Const)) {
      if (isSum || !isSumOfSquares(*operand))
        return false;
      isSum = true;
    }
  return isSum;
}

/// A large factor, which fp16 holds. What it gives may be divided again.
bool NarrowPlan::decideByFactor(const Op &op) {
  if (!op.is(ops::Mul) && !op.is(ops::RealDiv))
    return false;
  for (unsigned slot : {0u, 1u}) {
    const Op *source = definedBy(op.operand(slot), ops::Const);
    if (!source || (slot == 0 && op.is(ops::RealDiv)))
      continue;
    double scale = scaleBy(op, slot, *source->constant(param::val), 1);
    if (!(scale > largestFactor) ||
        proven.of(op.result()).magnitude() <= largestHalf)
      continue;
    widen(op, "from " + briefNumber(largestHalf / scale) +
                  " on, its factor of " + briefNumber(scale) + " exceeds fp16");
    setFact(op, {.scale = scale});
    return true;
  }
  return false;
}

static bool isRoot(const Op &op) {
  return op.is(ops::Sqrt) ||
         (op.is(ops::Pow) && knownNumber(op.operand(1u)) == 0.5);
}

bool NarrowPlan::decideByKind(const Op &op) {
  if (op.numResults() == 0 || op.result()->type.dtype != DType::FP32 ||
      op.numOperands() == 0 || !op.operand(0u))
    return false;
  const Value &x = *op.operand(0u);
  if (op.is(ops::Cast) && anec::isInteger(x.type.dtype) &&
      x.type.dtype != DType::Bool && proven.of(&x).magnitude() > largestExact) {
    // The result is only wide where it stays among integers.
    facts[op.result()] = {.isInteger = true};
    return false;
  }
  if (decideByFactor(op))
    return true;
  if ((op.is(ops::Exp) || op.is(ops::Exp2)) &&
      proven.of(&x).most > largestExponent) {
    widen(op, "it exceeds fp16 from 11.09 on");
    setFact(op, {.scale = 2 * largestHalf});
    return true;
  }
  if ((op.is(ops::Sin) || op.is(ops::Cos)) &&
      proven.of(&x).magnitude() > largestAngle) {
    widen(op, "fp16 has too few digits for angles of many turns");
    angles.insert(&op);
    return true;
  }
  if (isRoot(op) && isSumOfSquares(x)) {
    widen(op, "fp16 does not hold the squares of small and large numbers");
    precise.insert(&op);
    return true;
  }
  return false;
}

bool NarrowPlan::decideByExamples(const Op &op) {
  if (!options.examples)
    return false;
  auto isOutside = [&](const Value *value) {
    if (!value || value->type.dtype != DType::FP32)
      return false;
    std::optional<double> largest = options.examples->find(value);
    // Other inputs may be twice as large.
    return largest && *largest != 0 &&
           !(*largest <= largestHalf / 2 && *largest >= smallestHalf);
  };
  for (const Value *value : op.resultValues())
    if (isOutside(value) && !definedBy(value, ops::Const)) {
      if (onlyShiftsSoftmax(*value)) {
        limited.insert(value);
        continue;
      }
      widen(op, "with the example inputs, the largest magnitude of its results "
                "is " +
                    briefNumber(*options.examples->find(value)));
      return true;
    }
  for (const Value *value : op.operandValues())
    if (isOutside(value) && !definedBy(value, ops::Const) &&
        !limited.contains(value)) {
      widen(op, "with the example inputs, an operand is out of fp16's range");
      return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Neighbors
//===----------------------------------------------------------------------===//

/// Whether all that reads the results of `op` is wide, and something does.
static bool isReadOnlyBy(const Op &op,
                         llvm::function_ref<bool(const Op &)> isWide) {
  bool isRead = false;
  for (const Value *result : op.resultValues())
    for (Operand *use = result->firstUse(); use; use = use->nextUse()) {
      if (!use->owner() || !isWide(*use->owner()))
        return false;
      isRead = true;
    }
  return isRead;
}

/// What computes the operands of a precise op is wide too.
void NarrowPlan::extendUpwards(const Function &function) {
  auto wide = [&](const Op &op) { return isWide(op); };
  for (const Op &op : llvm::reverse(function.body())) {
    bool isAngle = angles.contains(&op);
    if (!isAngle && !precise.contains(&op))
      continue;
    for (const Value *operand : op.operandValues()) {
      const Op *source = operand ? operand->definingOp() : nullptr;
      if (!source || operand->type.dtype != DType::FP32 ||
          source->def().has(trait::Stored) || isWide(*source) ||
          !(isAngle
                ? isPartOfAngle(*source)
                : isPartOfSquares(*source) || isProductOfSquares(*source)) ||
          !isReadOnlyBy(*source, wide))
        continue;
      widen(*source, "");
      (isAngle ? angles : precise).insert(source);
    }
  }
}

/// A cheap op between wide ones is wide, instead of two casts.
void NarrowPlan::fillGaps(const Function &function) {
  auto wide = [&](const Op &op) { return isWide(op); };
  for (const Op &op : llvm::reverse(function.body())) {
    const OpDef &def = op.def();
    bool isCheap = def.has(trait::Elementwise) ||
                   def.has(trait::DataMovement) || def.has(trait::Reduction);
    if ((!isCheap && !op.is(ops::Cast)) || isWide(op) ||
        def.has(trait::Stored) || op.numResults() == 0 ||
        op.result()->type.dtype != DType::FP32 || !isReadOnlyBy(op, wide))
      continue;
    if (op.is(ops::Cast) && !isFloat(op.operand(0u)->type.dtype)) {
      widen(op, "");
      continue;
    }
    bool isBetween = false, isOther = false;
    for (const Value *operand : op.operandValues()) {
      const Op *source = operand ? operand->definingOp() : nullptr;
      if (!operand || operand->type.dtype != DType::FP32 ||
          (source && source->def().has(trait::Stored)))
        continue;
      bool fromWide = source && isWide(*source) && !isLimited(operand);
      (fromWide ? isBetween : isOther) = true;
    }
    if (isBetween && !isOther)
      widen(op, "");
  }
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

void NarrowPlan::decide(const Op &op) {
  if (blocksSlot(op.def()) >= 0)
    return widen(op, "blocks keep their types");
  if (op.def().has(trait::Stored) || op.def().has(trait::SideEffect))
    return;
  if (coordinates.computes(op))
    return widen(op, "fp16 has too few digits for coordinates");
  if (coordinates.areReadBy(op))
    mixed.insert(&op);
  if (decideByConstants(op))
    return;
  // The parts of a compressed constant stay together.
  for (const Value *operand : op.operandValues())
    if (const Op *source = operand ? operand->definingOp() : nullptr;
        source && source->def().has(trait::Constexpr) && isWide(*source))
      return widen(op, "it reads a constant that stays in fp32");
  if (decideByGuards(op))
    return;
  // Example inputs say what the values are that constants make suspect.
  if (options.examples) {
    (void)decideByExamples(op);
    return;
  }
  if (!decideByOperands(op))
    (void)decideByKind(op);
}

NarrowPlan::NarrowPlan(const Function &function, Options given)
    : options(std::move(given)), proven(function), coordinates(function) {
  for (const Op &op : function.body())
    decide(op);
  // Integers that become floats for a wide op.
  for (const Op &op : function.body())
    for (Operand *use = op.is(ops::Cast) && factOf(op.result()).isInteger
                            ? op.result()->firstUse()
                            : nullptr;
         use; use = use->nextUse())
      if (use->owner() && isWide(*use->owner()))
        widen(op, "");
  extendUpwards(function);
  fillGaps(function);
  for (const Op &op : function.body())
    if (op.is(ops::Const))
      if (auto rows = anec::rowsOf(*op.result(), proven))
        weightRows[op.result()] = *rows;
}
