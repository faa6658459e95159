//===- AxisMerger.cpp - an op on merged axes ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AxisMerger.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Weights.h"

using namespace anec;
using namespace anec::ranks;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

AxisGroups AxisGroups::of(ArrayRef<int> keys) {
  AxisGroups groups;
  int last = any;
  for (int key : keys) {
    bool joins = key == any || last == any || key == last;
    if (!groups.count || !joins)
      ++groups.count;
    if (key != any)
      last = key;
    groups.ofAxis.push_back(groups.count - 1);
  }
  return groups;
}

Shape AxisGroups::merged(ArrayRef<int64_t> shape) const {
  Shape extents(count, 1);
  for (auto [group, extent] : llvm::zip_equal(ofAxis, shape))
    extents[group] *= extent;
  return extents;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value *AxisMerger::view(Value *value, ArrayRef<int64_t> shape) {
  Op *source = value->definingOp();
  while (source && source->is(ops::Reshape)) {
    value = source->operand(0u);
    source = value->definingOp();
  }
  if (ArrayRef<int64_t>(value->type.shape) == shape)
    return value;
  if (source && source->is(ops::Const))
    return make(
        ops::Const, {},
        Attr(param::val, source->constant(param::val)->reshaped(shape)));
  if (source && source->is(ops::Weight))
    return buildWeight(builder, *source, viewOf(*source).array.reshape(shape),
                       value->name);
  return make(ops::Reshape, {value}, {{param::shape, shape}});
}

Value *AxisMerger::spread(Value *value, ArrayRef<int64_t> shape) {
  Shape extents(shape.size() - value->type.rank(), 1);
  llvm::append_range(extents, value->type.shape);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (extents[axis] == shape[axis])
      continue;
    Shape apart(3, 1);
    for (size_t i = 0; i < shape.size(); ++i)
      apart[i < axis ? 0 : i == axis ? 1 : 2] *= extents[i];
    value = make(ops::Tile, {view(value, apart)},
                 Attr(param::reps, {1, shape[axis], 1}));
    extents[axis] = shape[axis];
  }
  return value;
}

Value *AxisMerger::make(const OpDef &def, ArrayRef<Value *> operands,
                        ArrayRef<Attr> attrs) {
  return builder.build(def, operands, attrs, op.result()->name);
}

Results AxisMerger::remake(ArrayRef<Value *> operands, ArrayRef<Attr> changed) {
  llvm::SmallVector<ConstantRef, 8> constants(op.constants().begin(),
                                              op.constants().end());
  for (const Attr &attr : changed)
    constants[size_t(op.def().constantSlot(attr.param))] = attr.value;
  llvm::SmallVector<llvm::StringRef, 2> names;
  for (const Value *result : op.resultValues())
    names.push_back(result->name);
  Op *made = builder.createWithSlots(op.def(), operands, constants, names);
  Results results;
  for (auto [value, old] :
       llvm::zip_equal(made->resultValues(), op.resultValues()))
    results.push_back(view(value, old->type.shape));
  return results;
}
