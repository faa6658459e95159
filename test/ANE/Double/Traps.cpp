//===- Traps.cpp - what only some chips and systems do --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Traps.h"
#include "../Shim/Ledger.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Shape.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace ane_double;

/// What `value` is computed from without changing an element.
static const Value *sourceOf(const Value *value) {
  const Op *op = value->definingOp();
  while (op && (op->is(ops::Transpose) || op->is(ops::Identity))) {
    value = op->operand(0u);
    op = value->definingOp();
  }
  return value;
}

static bool hasEqualOperands(const Op &op) {
  return op.is(ops::Matmul) &&
         sourceOf(op.operand(0u)) == sourceOf(op.operand(1u));
}

static bool hasScalarOperand(const Op &op) {
  if (!op.is(ops::Add) && !op.is(ops::Sub) && !op.is(ops::Mul) &&
      !op.is(ops::RealDiv) && !op.is(ops::Pow))
    return false;
  return llvm::any_of(op.operandValues(), [](const Value *value) {
    return value->type.isScalar() && value->definingOp() &&
           value->definingOp()->is(ops::Const);
  });
}

std::string ane_double::refusalByTraps(const Function &function,
                                       unsigned weightFiles) {
  const Ledger &known = ledger();
  if (known.isTrapped("equal-operands") &&
      llvm::any_of(function.body(), hasEqualOperands))
    return "ANECCompile() FAILED: err=(duplicate tensor name)";
  if (known.isTrapped("scalar-slots") && weightFiles >= 16 &&
      llvm::any_of(function.body(), hasScalarOperand))
    return "InvalidMILProgram: too many weight files";
  return "";
}

//===----------------------------------------------------------------------===//
// Wrong results
//===----------------------------------------------------------------------===//

static bool broadcastsBatch(const Op &op) {
  return op.is(ops::Mul) && op.result()->type.rank() == 4 &&
         op.result()->type.shape[0] > 1 &&
         llvm::any_of(op.operandValues(), [](const Value *value) {
           return value->type.rank() == 4 && value->type.shape[0] == 1;
         });
}

/// Whether a product adds over a number of elements that is not a multiple
/// of 32.
static bool addsOverOdd(const Op &op) {
  if (!op.is(ops::Matmul))
    return false;
  const TensorType &x = op.operand(0u)->type;
  bool isTransposed = op.get(param::transposeX) && x.rank() > 1;
  return x.shape[x.rank() - (isTransposed ? 2 : 1)] % 32 != 0;
}

/// What uses the result of `op` gets that of `spoiler` for it and itself.
static void spoil(Function &function, Op &op, const OpDef &spoiler) {
  Value *right = op.result();
  Op *wrong = Op::create(spoiler, {right, right}, {}, {right->type},
                         {"spoiled"}, op.range());
  auto next = std::next(op.getIterator());
  function.insert(wrong, next == function.body().end() ? nullptr : &*next);
  right->replaceAllUsesWith(wrong->result());
  wrong->setOperand(0, right);
  wrong->setOperand(1, right);
}

void ane_double::spoilByTraps(Function &function) {
  const Ledger &known = ledger();
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (known.isTrapped("batch-broadcast") && broadcastsBatch(op))
      spoil(function, op, ops::Add);
    else if (known.isTrapped("inner-32") && addsOverOdd(op))
      spoil(function, op, ops::Sub);
  }
}

bool ane_double::poisonsByTraps(const Function &function) {
  return ledger().isTrapped("tile") &&
         llvm::any_of(function.body(),
                      [](const Op &op) { return op.is(ops::Tile); });
}
