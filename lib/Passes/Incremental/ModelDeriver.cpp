//===- ModelDeriver.cpp - derives the host function of a model ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelDeriver.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/HiddenScore.h"
#include "lib/Ops/Params/Rope.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Ops/Rows/Rope.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"

using namespace anec;

void ModelDeriver::addInputs(const Value &tokens) {
  const DecodeProgram &program = owner.program;
  TensorType type = tokens.type;
  type.shape.back() = program.columns();
  Value *input = to.addParameter(type, names.unique(tokens.name));
  input->declared = tokens.declared;
  set(&tokens, input, type.rank() - 1);
  slot = to.addParameter(program.texts > 1
                             ? TensorType(DType::Int32, {program.read})
                             : TensorType(DType::Int32),
                         names.unique("position"), ValueRole::Position);
  slot->declared = tokens.declared;
  position = slot;
  if (program.texts > 1) {
    Value *length = addConstant(Constant::int32(program.context), "context");
    position = builder.build(ops::Mod, {slot, length}, {}, "in_text");
    text = builder.build(ops::FloorDiv, {slot, length}, {}, "text");
  }
  if (program.wanted == program.columns())
    return;
  wantedIndices = to.addParameter(TensorType(DType::Int32, {program.wanted}),
                                  names.unique("wanted"), ValueRole::Wanted);
  wantedIndices->declared = tokens.declared;
}

/// The operand at the wanted positions, where only these are computed.
Value *ModelDeriver::operand(const Value *original, int64_t count) {
  Value *value = FunctionDeriver::operand(original, count);
  PositionAxis axis = axisOf(original);
  if (!axis || value->type.shape[*axis] == count)
    return value;
  Value *&part = wantedParts[original];
  if (!part)
    part = at(value, *axis);
  return part;
}

Value *ModelDeriver::positionValue(const PositionValue &wanted) {
  auto known = llvm::find(values, wanted);
  if (known != values.end())
    return valueParameters[size_t(known - values.begin())];
  Value *value = build(wanted);
  values.push_back(wanted);
  valueParameters.push_back(value);
  return value;
}

Value *ModelDeriver::index(int64_t count) {
  int64_t columns = owner.program.columns();
  if (count != columns)
    return at(positionValue(
                  {PositionValue::Index, TensorType(DType::Int32, {columns})}),
              0);
  if (text)
    return reshaped(perColumn(position), {columns}, "index");
  Value *offsets = addConstant(numbers({columns}), "offsets");
  return builder.build(ops::Add, {position, offsets}, {}, "index");
}

/// A number of each block, plus 0, 1, 2, ... along the block: [read, block].
Value *ModelDeriver::perColumn(Value *ofBlocks) {
  int64_t read = owner.program.read, block = owner.program.block;
  Value *first = reshaped(ofBlocks, {read, 1}, "first");
  return builder.build(ops::Add,
                       {first, addConstant(numbers({1, block}), "offsets")}, {},
                       "columns");
}

/// `seen`, where the key is less than `window` positions before the query.
Value *ModelDeriver::inWindow(Value *seen, Value *keys, Value *queries,
                              int64_t window) {
  Value *length = addConstant(Constant::int32(window), "window");
  Value *before =
      builder.build(ops::Sub, {queries, length}, {}, "before_window");
  Value *isNear = builder.build(ops::Greater, {keys, before}, {}, "near");
  return builder.build(ops::LogicalAnd, {seen, isNear}, {}, "seen");
}

/// The mask that leaves what is seen.
Value *ModelDeriver::hide(Value *seen, const PositionValue &wanted,
                          llvm::StringRef name) {
  DType dtype = wanted.type.dtype;
  Value *shown =
      addConstant(Constant::scalar(dtype, shownScore(dtype)), "shown");
  Value *hidden =
      addConstant(Constant::scalar(dtype, hiddenScore(dtype)), "hidden");
  return builder.build(ops::Select, {seen, shown, hidden}, {}, name);
}

/// Shows where a position of the block sees what is cached: what was read
/// before it, and is inside of the window.
Value *ModelDeriver::mask(const PositionValue &wanted) {
  if (text)
    return maskOfTexts(wanted);
  int64_t block = owner.program.block, context = owner.program.context;
  Value *slots = addConstant(numbers({1, context}), "slots");
  Value *seen = builder.build(ops::Less, {slots, position}, {}, "cached");
  if (wanted.window != 0) {
    Value *queries =
        builder.build(ops::Reshape,
                      {positionValue({PositionValue::Index,
                                      TensorType(DType::Int32, {block})})},
                      Attr(param::shape, Shape{block, 1}), "queries");
    seen = inWindow(seen, slots, queries, wanted.window);
  }
  return hide(seen, wanted, "mask");
}

/// The same for several texts: a column sees slots of its own text alone.
Value *ModelDeriver::maskOfTexts(const PositionValue &wanted) {
  const DecodeProgram &program = owner.program;
  auto along = [&](Value *value, int64_t columns, llvm::StringRef name) {
    return reshaped(value, {program.read, columns, 1}, name);
  };
  Value *slots = addConstant(numbers({1, 1, program.slots()}), "slots");
  Value *end = along(slot, 1, "end");
  Value *length = addConstant(Constant::int32(program.context), "context");
  Value *first =
      along(builder.build(ops::Mul, {text, length}, {}, "first"), 1, "begin");
  Value *isEarlier = builder.build(ops::Less, {slots, end}, {}, "earlier");
  Value *isOwn = builder.build(ops::GreaterEqual, {slots, first}, {}, "own");
  Value *seen = builder.build(ops::LogicalAnd, {isEarlier, isOwn}, {}, "seen");
  // What is cached lies before all columns of a block.
  Value *queries = along(perColumn(slot), program.block, "queries");
  if (wanted.window != 0) {
    seen = inWindow(seen, slots, queries, wanted.window);
  } else {
    Value *isBefore = builder.build(ops::Less, {slots, queries}, {}, "before");
    seen = builder.build(ops::LogicalAnd, {seen, isBefore}, {}, "cached");
  }
  seen = reshaped(seen, {program.columns(), program.slots()}, "visible");
  return hide(seen, wanted, "mask");
}

/// Shows where a position of the block sees an earlier one, or itself. Computed
/// from the positions: a constant would become one of each kernel.
Value *ModelDeriver::blockMask(const PositionValue &wanted) {
  const DecodeProgram &program = owner.program;
  int64_t block = wanted.type.shape[0];
  Value *all =
      positionValue({PositionValue::Index, TensorType(DType::Int32, {block})});
  auto shaped = [&](Shape shape, llvm::StringRef name) {
    return builder.build(ops::Reshape, {all}, Attr(param::shape, shape), name);
  };
  Value *keys = shaped({1, block}, "keys");
  Value *queries = shaped({block, 1}, "queries");
  Value *seen = builder.build(ops::LessEqual, {keys, queries}, {}, "seen");
  if (wanted.window != 0)
    seen = inWindow(seen, keys, queries, wanted.window);
  if (text) {
    Value *zeros = addConstant(
        Constant::fromDoubles(TensorType(DType::Int32, {1, program.block}),
                              std::vector<double>(size_t(program.block))),
        "zeros");
    Value *texts = builder.build(
        ops::Add, {reshaped(text, {program.read, 1}, "own_text"), zeros}, {},
        "texts");
    Value *isOwn = builder.build(ops::Equal,
                                 {reshaped(texts, {1, block}, "key_texts"),
                                  reshaped(texts, {block, 1}, "query_texts")},
                                 {}, "own");
    seen = builder.build(ops::LogicalAnd, {seen, isOwn}, {}, "visible");
  }
  return hide(seen, wanted, "block_mask");
}

/// Both tables are results of one op.
Value *ModelDeriver::ropeTable(const PositionValue &wanted) {
  PositionValue other = wanted;
  bool isSines = wanted.kind == PositionValue::Sines;
  other.kind = isSines ? PositionValue::Cosines : PositionValue::Sines;
  if (auto known = llvm::find(values, other); known != values.end())
    return valueParameters[size_t(known - values.begin())]
        ->definingOp()
        ->result(isSines);
  llvm::SmallVector<Attr, 8> attrs =
      sharedConstants(*wanted.rope, ops::RopeTable);
  // What the scaling is for, and so the angles, do not depend on the block.
  if (wanted.rope->get(param::positions) == 0)
    attrs.emplace_back(param::positions, owner.program.context);
  attrs.emplace_back(param::width, wanted.type.shape[1]);
  attrs.emplace_back(param::count, wanted.type.shape[2]);
  attrs.emplace_back(param::dtype, wanted.type.dtype);
  Op *table = builder.create(ops::RopeTable, {position}, attrs);
  table->result(0)->name = "cosines";
  table->result(1)->name = "sines";
  return table->result(isSines);
}

Value *ModelDeriver::build(const PositionValue &wanted) {
  switch (wanted.kind) {
  case PositionValue::Index:
    return index(wanted.type.shape[0]);
  case PositionValue::Mask:
    return mask(wanted);
  case PositionValue::BlockMask:
    return blockMask(wanted);
  case PositionValue::Cosines:
  case PositionValue::Sines:
    return ropeTable(wanted);
  }
  llvm_unreachable("a kind");
}

Value *ModelDeriver::contents(Cache &cache) {
  Value *state =
      to.addParameter(cache.type, names.unique(cache.name), ValueRole::State);
  state->holder = Holder::State;
  states.push_back(state);
  if (owner.program.starts)
    return nullptr;
  return builder.build(ops::ReadState, {state}, {}, cache.name);
}

void ModelDeriver::updateStates() {
  llvm::SmallVector<Attr, 1> groups;
  if (text)
    groups.emplace_back(param::groups, owner.program.texts);
  for (auto [state, rows] : llvm::zip_equal(states, rows))
    builder.create(ops::UpdateState, {state, rows, slot}, groups);
}
