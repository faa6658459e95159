//===- Weights.cpp - weights and their views ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Weights.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

WeightView anec::viewOf(const Op &weight) {
  WeightView view;
  view.weight = weight.get(param::name).str();
  view.dtype = weight.result()->type.dtype;
  view.array = ArrayView(weight.get(param::shape));
  if (const Constant *text = weight.constant(param::view)) {
    std::string why;
    std::optional<ArrayView> array =
        ArrayView::parse(text->asString(), view.array.shape(), why);
    assert(array && "the verifier reads it too");
    view.array = std::move(*array);
  }
  return view;
}

Value *anec::buildWeight(Builder &builder, const Op &weight,
                         const ArrayView &array, llvm::StringRef name) {
  llvm::SmallVector<Attr, 6> attrs = {
      {param::name, weight.constant(param::name)},
      {param::dtype, weight.constant(param::dtype)},
      {param::shape, array.sourceShape()},
      {param::frozen, weight.constant(param::frozen)},
      {param::gradientUse, weight.constant(param::gradientUse)}};
  if (!array.isIdentity())
    attrs.push_back({param::view, Constant::string(array.str())});
  return builder.build(ops::Weight, {weight.operand(param::index)}, attrs,
                       name);
}

static Value *buildStep(Builder &builder, Value *array, const ViewStep &step) {
  switch (step.kind) {
  case ViewStep::Kind::Slice:
    return builder.build(ops::SliceBySize, {array},
                         {{param::begin, step.first},
                          {param::size, step.apply(array->type.shape)}});
  case ViewStep::Kind::Pad: {
    Shape amounts;
    for (auto [before, after] : llvm::zip_equal(step.first, step.second))
      amounts.append({before, after});
    return builder.build(
        ops::Pad, {array},
        {{param::pad, amounts},
         {param::constantVal, Constant::scalar(array->type.dtype, 0)}});
  }
  case ViewStep::Kind::Permute:
    return builder.build(ops::Transpose, {array}, {{param::perm, step.first}});
  case ViewStep::Kind::Reshape:
    return builder.build(ops::Reshape, {array}, {{param::shape, step.first}});
  }
  return nullptr;
}

Value *anec::buildView(Builder &builder, Value *array, const ArrayView &view) {
  assert(array->type.shape == view.sourceShape());
  for (const ViewStep &step : view.steps())
    array = buildStep(builder, array, step);
  return array;
}

void anec::giveExtents(Function &function) {
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (!op.is(ops::Weight) || !op.result()->type.isScalar() ||
        op.constant(param::view))
      continue;
    Builder builder(function);
    builder.setInsertionPoint(&op);
    builder.setRange(op.range());
    llvm::SmallVector<ConstantRef, 6> constants(op.constants());
    constants[size_t(ops::Weight.constantSlot(param::view))] =
        Constant::string("reshape[1]");
    Op *weight = builder.createWithSlots(op.def(), op.operandValues(),
                                         constants, {op.result()->name});
    Value *number = builder.build(
        ops::ReduceSum, {weight->result()},
        {{param::axes, llvm::ArrayRef<int64_t>{0}}, {param::keepDims, false}});
    op.result()->replaceAllUsesWith(number);
    op.erase();
  }
}

bool anec::unpacksWeight(const Op &op) {
  if (!op.def().has(trait::Constexpr))
    return false;
  for (unsigned slot = 0; slot < op.numOperands(); ++slot) {
    const Value *part = op.operand(slot);
    if (part && !(part->definingOp() && part->definingOp()->is(ops::Weight)))
      return false;
  }
  return true;
}

bool anec::isPartOfPackedWeight(const Value &constant) {
  for (const Operand *use = constant.firstUse(); use; use = use->nextUse())
    if (use->owner() && use->owner()->def().has(trait::Constexpr))
      return true;
  return false;
}
