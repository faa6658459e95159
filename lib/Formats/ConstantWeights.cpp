//===- ConstantWeights.cpp - constants that are weights -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ConstantWeights.h"
#include "lib/IR/Blocks.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Weights.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// Makes a constant the weight `name`.
static void replaceByWeight(Function &function, Op &constant,
                            llvm::StringRef name) {
  const Value &value = *constant.result();
  Builder builder(function);
  builder.setInsertionPoint(&constant);
  builder.setRange(constant.range());
  Value *weight =
      builder.build(ops::Weight, {},
                    {{param::name, name},
                     {param::dtype, value.type.dtype},
                     {param::shape, llvm::ArrayRef<int64_t>(value.type.shape)}},
                    value.name);
  constant.result()->replaceAllUsesWith(weight);
  constant.erase();
}

/// Whether a constant is of a weight file or, as short vectors are in text and
/// messages, a bias or a scale of a layer.
static bool isWeight(const Value &value) {
  const Constant &constant = *value.definingOp()->constant(param::val);
  if (isPartOfPackedWeight(value))
    return false;
  if (!isFloat(constant.dtype()) || constant.origin())
    return isFloat(constant.dtype());
  if (constant.type().rank() != 1 || !value.hasUses())
    return false;
  for (const Operand *use = value.firstUse(); use; use = use->nextUse()) {
    const Op *user = use->owner();
    if (!user)
      return false;
    const ValueParam *slots[] = {&param::bias, &param::gamma,
                                 &param::betaValue};
    if (llvm::none_of(slots, [&](const ValueParam *slot) {
          int index = user->def().valueSlot(*slot);
          return index >= 0 && user->operand(unsigned(index)) == &value;
        }))
      return false;
  }
  return true;
}

static void give(Function &function, SourceWeights &weights, bool isBlock) {
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    for (const auto &block : blocksOf(op))
      give(*block, weights, /*isBlock=*/true);
    ConstantRef own(op.is(ops::Const) ? op.constant(param::val) : nullptr);
    if (!own || !isWeight(*op.result()))
      continue;
    llvm::StringRef name = op.result()->name;
    ConstantRef value = weights.valueOf(name, own);
    if (value != own)
      op.setConstant(param::val, value);
    if (isBlock)
      continue;
    if (std::optional<std::string> trained = weights.trainedAs(name, value))
      replaceByWeight(function, op, *trained);
  }
}

void anec::giveWeights(Function &function, SourceWeights &weights) {
  give(function, weights, /*isBlock=*/false);
}
