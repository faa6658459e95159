//===- FoldConstants.cpp - compute constants at compile time --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/Builder.h"
#include "anec/Ops/Ops.h"
#include "anec/Passes/Diags.h"
#include "anec/Passes/Pass.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;

/// A folded array is stored in the program; beyond this number of elements,
/// computing it is usually better.
static constexpr int64_t maxFoldedElements = int64_t(1) << 22;
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
  return constant && llvm::all_of(op.resultValues(), [](const Value *result) {
           return result->type.numElements() <= maxFoldedElements &&
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
  for (unsigned slot = 0; slot < op.numOperands(); ++slot) {
    if (!op.operand(slot))
      continue;
    const Constant *value =
        op.operand(slot)->definingOp()->constant(param::val);
    operands[slot] = {value->type(), value->asDoubles()};
    in[slot] = &operands[slot];
  }
  std::vector<RefTensor> results;
  for (const Value *result : op.resultValues())
    results.push_back(
        {result->type, std::vector<double>(result->type.numElements())});
  EvalContext ctx{op.def(), op.constants(), in, results};
  op.def().eval(ctx);
  llvm::SmallVector<ConstantRef, 2> constants;
  for (const RefTensor &result : results)
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

static bool foldConstants(Function &function, PassContext &ctx) {
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

constinit const PassDef passes::FoldConstants = {
    .name = "fold-constants",
    .summary = "Evaluate ops on constants at compile time",
    .description = "%y = add(const 1, const 2)  ==>  const 3\n"
                   "%y = fill() {shape = [2], value = 1}  ==>  const [1, 1]",
    .stats = {{{"folded", "ops computed"}}},
    // The computed values are rounded to the constants' element types.
    .tolerance = 2e-3,
    .run = foldConstants,
};
