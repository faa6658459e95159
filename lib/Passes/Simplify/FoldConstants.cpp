//===- FoldConstants.cpp - compute constants at compile time --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The only place where values without inputs are computed, in kernels, layers
/// and models: each op in double precision from operands of their element
/// types, its results rounded to theirs.
///
//===----------------------------------------------------------------------===//

#include "DeadOps.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Evaluate.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;

/// A folded array is stored in the program; beyond this number of elements,
/// computing it is usually better.
static constexpr int64_t maxFoldedElements = int64_t(1) << 22;
/// Host functions are text, with their arrays. What is larger is computed when
/// they are loaded, to the same values.
static constexpr int64_t maxFoldedOnHost = int64_t(1) << 16;
/// What takes longer is left to the program: the reference is slow.
static constexpr int64_t maxFlops = int64_t(1) << 30;

static bool isFoldable(const Op &op) {
  const OpDef &def = op.def();
  if (!def.eval || def.has(trait::Stored) || def.has(trait::SideEffect) ||
      def.has(trait::Constexpr) || def.resultHolder != Holder::Tensor ||
      (def.flops && def.flops(op) > maxFlops))
    return false;
  bool constant = llvm::all_of(op.operandValues(), [](const Value *operand) {
    return !operand ||
           (operand->definingOp() && operand->definingOp()->is(ops::Const));
  });
  bool isOnHost = op.parent()->kind == FunctionKind::Host;
  int64_t most = isOnHost ? maxFoldedOnHost : maxFoldedElements;
  return constant && llvm::all_of(op.resultValues(), [&](const Value *result) {
           return result->type.numElements() <= most &&
                  result->type.dtype != DType::String;
         });
}

static llvm::SmallVector<ConstantRef, 2> evaluate(const Op &op) {
  // A reshape is another view of the same bytes.
  if (op.is(ops::Reshape)) {
    const Op *source = op.operand(0u)->definingOp();
    return {source->constant(param::val)->reshaped(op.result()->type.shape)};
  }
  std::vector<RefTensor> operands(op.numOperands());
  llvm::SmallVector<const RefTensor *, 4> in(op.numOperands());
  bool isDerived = false;
  for (unsigned slot = 0; slot < op.numOperands(); ++slot) {
    if (!op.operand(slot))
      continue;
    const Constant *value =
        op.operand(slot)->definingOp()->constant(param::val);
    operands[slot] = {value->type(), exactElements(*value)};
    in[slot] = &operands[slot];
    isDerived |= derivedNumber(*value).has_value();
  }
  llvm::SmallVector<ConstantRef, 2> constants;
  if (isDerived) {
    for (const RefTensor &result : evaluateExactly(op, in))
      constants.push_back(derivedConstant(result.type, result.data));
    return constants;
  }
  for (const RefTensor &result : evaluateRounded(op, in))
    constants.push_back(Constant::fromDoubles(result.type, result.data));
  return constants;
}

/// The first element that is not finite, in words; empty when there is none.
static llvm::StringRef notFinite(const Constant &constant) {
  if (!isFloat(constant.dtype()))
    return "";
  for (double number : constant.asDoubles())
    if (!std::isfinite(number))
      return std::isnan(number) ? "NaN" : number < 0 ? "-inf" : "inf";
  return "";
}

/// Warns of a result that is not finite although all operands are.
static void checkFinite(const Op &op, llvm::ArrayRef<ConstantRef> results,
                        PassContext &ctx) {
  if (op.is(ops::Reshape)) // another view of the same elements
    return;
  for (const ConstantRef &result : results) {
    llvm::StringRef found = notFinite(*result);
    if (found.empty())
      continue;
    bool isNew = llvm::all_of(op.operandValues(), [](const Value *operand) {
      return !operand ||
             notFinite(*operand->definingOp()->constant(param::val)).empty();
    });
    if (isNew)
      ctx.diags.report(op.range(), diag::FoldedNotFinite, op.def().name, found,
                       spelling(result->dtype()));
    return;
  }
}

static bool foldOps(Function &function, PassContext &ctx) {
  bool changed = false;
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (!isFoldable(op))
      continue;
    Builder builder(function);
    builder.setInsertionPoint(&op);
    llvm::SmallVector<ConstantRef, 2> constants = evaluate(op);
    checkFinite(op, constants, ctx);
    for (auto [result, constant] :
         llvm::zip_equal(op.resultValues(), constants))
      result->replaceAllUsesWith(builder.build(
          ops::Const, {}, {{param::val, std::move(constant)}}, result->name));
    op.erase();
    ctx.count("folded");
    changed = true;
  }
  return changed;
}

/// The body of `repeat`, if nothing else repeats it; otherwise null.
static Function *ownBody(Module &module, const Op &repeat) {
  llvm::StringRef name = repeat.get(param::body);
  for (const auto &function : module.functions)
    for (const Op &op : function->body())
      if (&op != &repeat && op.is(ops::Repeat) && op.get(param::body) == name)
        return nullptr;
  return module.findFunction(name);
}

/// Gives the body of a repeat the constants that are passed to it whole.
static bool passConstants(Module &module, const Op &repeat, PassContext &ctx) {
  Function *body = ownBody(module, repeat);
  if (!body || body->body().empty())
    return false;
  Builder builder(*body);
  builder.setInsertionPoint(&body->body().front());
  bool changed = false;
  unsigned whole = repeat.numOperands() - unsigned(repeat.get(param::sliced));
  for (unsigned slot = unsigned(repeat.get(param::carried)); slot < whole;
       ++slot) {
    const Op *constant = repeat.operand(slot)->definingOp();
    Value *inside = body->parameters()[slot + 1].get();
    if (!constant || !constant->is(ops::Const) || !inside->firstUse())
      continue;
    inside->replaceAllUsesWith(builder.build(
        ops::Const, {},
        Attr(param::val, ConstantRef(constant->constant(param::val))),
        inside->name));
    ctx.count("passed");
    changed = true;
  }
  return changed;
}

/// Nothing else removes what is dead in a host function.
static bool foldFunction(Function &function, PassContext &ctx) {
  if (!foldOps(function, ctx))
    return false;
  if (function.kind == FunctionKind::Host)
    removeDeadOps(function);
  return true;
}

static bool foldConstants(Module &module, PassContext &ctx) {
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    for (const auto &function : module.functions)
      if (!function->isDeclaration())
        changed |= foldFunction(*function, ctx);
    for (const auto &function : module.functions)
      for (const Op &op : function->body())
        if (op.is(ops::Repeat))
          again |= passConstants(module, op, ctx);
    changed |= again;
  }
  return changed;
}

constinit const PassDef passes::FoldConstants = {
    .name = "fold-constants",
    .summary = "Evaluate ops on constants at compile time, also of models and "
               "their repeats",
    .description = "%y = add(const 1, const 2)  ==>  const 3\n"
                   "%y = fill() {shape = [2], value = 1}  ==>  const [1, 1]",
    .stats = {{{"folded", "ops computed"},
               {"passed", "constants that became those of a repeat's body"}}},
    // The computed values are rounded to the constants' element types.
    .tolerance = 2e-3,
    .runOnModule = foldConstants,
};
