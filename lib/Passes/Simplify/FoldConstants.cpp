//===- FoldConstants.cpp - compute constants at compile time --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/Builder.h"
#include "anec/Ops/Ops.h"
#include "anec/Passes/Pass.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// A folded array is stored in the program; beyond this number of elements,
/// computing it is usually better.
static constexpr int64_t maxFoldedElements = int64_t(1) << 22;

static bool isFoldable(const Op &op) {
  if (op.is(ops::Const) || !op.def().eval || op.numOperands() == 0 ||
      op.def().has(trait::SideEffect))
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

static bool foldConstants(Function &function, PassContext &ctx) {
  bool changed = false;
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (!isFoldable(op))
      continue;
    Builder builder(function);
    builder.setInsertionPoint(&op);
    for (auto [result, constant] :
         llvm::zip_equal(op.resultValues(), evaluate(op)))
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
    .description = "%y = add(const 1, const 2)  ==>  const 3",
    .stats = {{{"folded", "ops computed"}}},
    // The computed values are rounded to the constants' element types.
    .tolerance = 2e-3,
    .run = foldConstants,
};
