//===- FunctionDeriver.cpp - derives one function -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FunctionDeriver.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Calls.h"
#include "lib/Ops/Params/Attention.h"
#include "lib/Ops/Params/Rope.h"
#include "lib/Ops/RopeAngles.h"
#include "lib/Ops/Rows/CachedAttention.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Rope.h"
#include "lib/Ops/Rows/Sdpa.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Values from outside
//===----------------------------------------------------------------------===//

Value *FunctionDeriver::operand(const Value *original, int64_t) {
  return original ? map.lookup(original) : nullptr;
}

Value *FunctionDeriver::positionValue(const PositionValue &wanted) {
  auto known = llvm::find(values, wanted);
  if (known != values.end())
    return valueParameters[size_t(known - values.begin())];
  values.push_back(wanted);
  for (const auto &param : to.parameters())
    names.unique(param->name);
  valueParameters.push_back(
      to.addParameter(wanted.type, names.unique(wanted.name())));
  return valueParameters.back();
}

Value *FunctionDeriver::contents(Cache &cache) {
  for (const auto &param : to.parameters())
    names.unique(param->name);
  cache.name = names.unique(cache.name).str();
  if (owner.program.starts)
    return nullptr;
  return to.addParameter(cache.type, cache.name);
}

Value *FunctionDeriver::addConstant(ConstantRef constant,
                                    llvm::StringRef name) {
  return builder.build(ops::Const, {}, Attr(param::val, std::move(constant)),
                       name);
}

/// Adds a cache, and its contents to `operands`, unless a text starts.
void FunctionDeriver::addCache(Cache cache,
                               llvm::SmallVectorImpl<Value *> &operands) {
  if (Value *read = contents(cache)) {
    cacheParameters.push_back(read);
    operands.push_back(read);
  }
  caches.push_back(std::move(cache));
}

/// Adds the cache of operand `slot`, whose new elements are rows of it.
void FunctionDeriver::addCacheOf(const Op &op, unsigned slot,
                                 llvm::SmallVectorImpl<Value *> &operands) {
  Cache cache{op.def().parameters()[slot].name.str() + "_cache",
              op.operand(slot)->type};
  addCache(cache.with(owner.program.slots()), operands);
  rows.push_back(map.lookup(op.operand(slot)));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

bool FunctionDeriver::fail(const Op &op, llvm::StringRef problem) {
  auto report = owner.ctx.diags.report(op.range(), diag::MixesPositions,
                                       op.def().name, problem, owner.model);
  for (const Value *operand : op.operandValues())
    if (PositionAxis axis = axisOf(operand)) {
      report.note(operand->range(), diag::PositionsFrom, *axis,
                  displayName(*operand), operand->type.str());
      break;
    }
  report.note(op.range(), diag::OnlySdpaMixes);
  return false;
}

//===----------------------------------------------------------------------===//
// Ops by their rules
//===----------------------------------------------------------------------===//

void FunctionDeriver::finish(const Op &op, Op &made,
                             llvm::ArrayRef<PositionAxis> found) {
  for (unsigned i = 0; i < op.numResults(); ++i) {
    made.result(i)->name = op.result(i)->name;
    set(op.result(i), made.result(i), found[i]);
  }
}

/// The elements of an operand that lie at the positions of the block, along
/// `axis`.
std::optional<Value *> FunctionDeriver::readAt(const Op &op, unsigned slot,
                                               unsigned axis, int64_t count) {
  const Value *original = op.operand(slot);
  int64_t extent = original->type.shape[axis];
  if (extent < owner.program.context) {
    owner.ctx.diags.report(op.range(), diag::TooFewPositions,
                           displayName(*original), extent,
                           owner.program.context);
    return std::nullopt;
  }
  Value *index =
      positionValue({PositionValue::Index, TensorType(DType::Int32, {count})});
  return builder.build(ops::Gather, {map.lookup(original), index},
                       Attr(param::axis, int64_t(axis)),
                       displayName(*original));
}

bool FunctionDeriver::deriveByRule(const Op &op, int64_t count) {
  llvm::SmallVector<PositionAxis, 4> in;
  for (const Value *value : op.operandValues())
    in.push_back(axisOf(value));
  PositionFlow flow(op, in, count);
  if (!findPositionAxis(flow))
    return fail(op, flow.problem);
  llvm::SmallVector<Value *, 4> operands;
  for (const Value *value : op.operandValues())
    operands.push_back(operand(value, count));
  for (auto [slot, axis] : flow.varying) {
    std::optional<Value *> read = readAt(op, slot, axis, count);
    if (!read)
      return false;
    operands[slot] = *read;
  }
  llvm::SmallVector<ConstantRef, 4> constants(op.constants());
  for (const Attr &attr : flow.changed)
    constants[op.def().constantSlot(attr.param)] = attr.value;
  llvm::SmallVector<llvm::StringRef, 2> none(op.numResults());
  Op *made = builder.createWithSlots(op.def(), operands, constants, none);
  for (unsigned i = 0; i < op.numResults(); ++i) {
    TensorType expected = op.result(i)->type;
    expected.shape[*flow.out] = count;
    if (made->result(i)->type != expected)
      return fail(op, "changes the positions");
  }
  finish(op, *made,
         llvm::SmallVector<PositionAxis, 2>(op.numResults(), flow.out));
  return true;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

bool FunctionDeriver::deriveAttention(const Op &op, int64_t count) {
  const Value *q = op.operand(param::q), *k = op.operand(param::k),
              *v = op.operand(param::v), *mask = op.operand(param::mask);
  unsigned last = q->type.rank() - 1;
  auto isAlong = [&](const Value *value) { return axisOf(value) == last; };
  int64_t window = op.get(param::window);
  bool causal = op.get(param::causal);
  if (!axisOf(k) && !axisOf(v) && !axisOf(mask) && isAlong(q) && !causal &&
      window == 0 &&
      (!mask || mask->type.rank() < 2 ||
       mask->type.shape[mask->type.rank() - 2] == 1)) {
    // Every query sees the same keys.
    Op *made = builder.createWithSlots(op.def(),
                                       {operand(q, count), map.lookup(k),
                                        map.lookup(v),
                                        mask ? map.lookup(mask) : nullptr},
                                       op.constants(), {""});
    finish(op, *made, {PositionAxis(last)});
    return true;
  }
  if (!isAlong(q) || !isAlong(k) || !isAlong(v))
    return fail(op, "attends to what is not a sequence of positions");
  if (!causal)
    return fail(op, "attends to later positions");
  if (mask)
    return fail(op, "has a mask over the positions");
  if (q->type.shape.back() != k->type.shape.back())
    return fail(op, "has other positions of queries than of keys");

  llvm::SmallVector<Value *, 8> operands = {
      operand(q, count), operand(k, count), operand(v, count)};
  Value *hiding = nullptr, *blockHiding = nullptr;
  if (!owner.program.starts) {
    bool isBounded = window != 0 && window < owner.program.context + count;
    // Of several texts, each column sees those of its own.
    bool isPerColumn = isBounded || owner.program.texts > 1;
    TensorType maskType(q->type.dtype,
                        {isPerColumn ? count : 1, owner.program.slots()});
    hiding =
        positionValue({PositionValue::Mask, maskType, isBounded ? window : 0});
  }
  if (count > 1)
    blockHiding = positionValue({PositionValue::BlockMask,
                                 TensorType(q->type.dtype, {count, count}),
                                 window < count ? window : 0});
  addCacheOf(op, 1, operands);
  addCacheOf(op, 2, operands);
  operands.resize(5);
  operands.append({hiding, blockHiding});
  llvm::SmallVector<Attr, 2> attrs;
  attrs.emplace_back(param::softcap, op.constant(param::softcap));
  if (const Constant *scale = op.constant(param::scoreScale))
    attrs.emplace_back(param::scoreScale, scale);
  Op *made = builder.create(ops::SdpaCached, operands, attrs);
  finish(op, *made, {PositionAxis(last)});
  return true;
}

llvm::SmallVector<Attr, 8> anec::sharedConstants(const Op &from,
                                                 const OpDef &to) {
  llvm::SmallVector<Attr, 8> attrs;
  for (const ParamDef &param : from.def().parameters())
    if (param.isConstant() && to.findConstantParam(param.name) >= 0 &&
        from.constant(param.asConstant()))
      attrs.emplace_back(param.asConstant(), from.constant(param.asConstant()));
  return attrs;
}

/// Whether `op` divides angles by the same numbers in texts of any length.
static bool hasOneFactor(const Op &op) {
  const Constant *shortFactors = op.constant(param::shortFactors),
                 *longFactors = op.constant(param::longFactors);
  return shortFactors && longFactors && shortFactors->equals(*longFactors);
}

/// Whether no position of a text has angles that depend on the length of the
/// text: those of earlier ones are in the cached keys.
bool FunctionDeriver::hasFixedAngles(const Op &op) {
  RopeScalingKind kind = op.get(param::scaling);
  int64_t original = op.get(param::originalPositions);
  if ((kind != RopeScalingKind::Dynamic && kind != RopeScalingKind::LongRope) ||
      op.get(param::positions) != 0 || owner.program.context <= original ||
      hasOneFactor(op))
    return true;
  owner.ctx.diags
      .report(op.range(), diag::RopeOfLength, spelling(kind), original,
              owner.model, owner.program.context)
      .note(op.range(), diag::RopeLengthHelp, original, owner.program.context);
  return false;
}

bool FunctionDeriver::deriveRope(const Op &op, int64_t count) {
  const Value *x = op.operand(0u);
  unsigned last = x->type.rank() - 1;
  if (axisOf(x) != last)
    return fail(op, "turns along another axis than that of the positions");
  if (!hasFixedAngles(op))
    return false;
  int64_t channels = RopeAngles(op).channels();
  if (channels == 0) {
    set(op.result(), operand(x, count), axisOf(x));
    return true;
  }
  TensorType table(x->type.dtype, {1, channels, count});
  Value *cosines = positionValue({PositionValue::Cosines, table, 0, &op});
  Value *sines = positionValue({PositionValue::Sines, table, 0, &op});
  Op *made = builder.create(ops::Rotate, {operand(x, count), cosines, sines},
                            sharedConstants(op, ops::Rotate));
  finish(op, *made, {PositionAxis(last)});
  return true;
}

//===----------------------------------------------------------------------===//
// Applied functions
//===----------------------------------------------------------------------===//

static ConstantRef typeList(llvm::ArrayRef<std::string> types) {
  return Constant::strings(TensorType(DType::String, {int64_t(types.size())}),
                           types.vec());
}

bool FunctionDeriver::deriveCall(const Op &op, int64_t count) {
  const Function &callee = *owner.module.findFunction(op.get(param::callee));
  llvm::SmallVector<PositionAxis, 4> in;
  llvm::SmallVector<Value *, 8> operands = {operand(op.operand(0u), count)};
  // The first operand is the index of the instance.
  const llvm::SmallVector<Value *, 4> given = op.operandValues();
  for (const Value *value : llvm::drop_begin(given)) {
    in.push_back(axisOf(value));
    operands.push_back(operand(value, count));
  }
  const DerivedFunction &derived = owner.derive(callee, in, count);
  if (!derived.function)
    return false;
  for (const PositionValue &value : derived.values)
    operands.push_back(positionValue(value));
  for (const Cache &cache : derived.caches)
    addCache(cache.with(owner.program.slots()), operands);
  Op *made = buildCall(builder, *derived.function, operands);
  finish(op, *made, derived.results);
  for (size_t i = 0; i < derived.caches.size(); ++i) {
    rows.push_back(made->result(unsigned(op.numResults() + i)));
    rows.back()->name = derived.function->resultNames()[op.numResults() + i];
  }
  return true;
}

/// The values of the position become invariant arguments of the body, and the
/// caches sliced ones, whose new rows are collected.
bool FunctionDeriver::deriveRepeat(const Op &op, int64_t count) {
  const Function &body = *owner.module.findFunction(op.get(param::body));
  size_t carried = op.get(param::carried), sliced = op.get(param::sliced);
  size_t whole = op.numOperands() - sliced;
  int64_t turns = op.get(param::to) - op.get(param::from);
  llvm::SmallVector<PositionAxis, 4> in = {std::nullopt}; // the index
  for (auto [slot, value] : llvm::enumerate(op.operandValues())) {
    PositionAxis axis = axisOf(value);
    if (axis && slot >= whole && (*axis)-- == 0)
      return fail(op, "runs once for each position");
    in.push_back(axis);
  }
  const DerivedFunction &derived = owner.derive(body, in, count, sliced);
  if (!derived.function)
    return false;
  for (size_t i = 0; i < carried; ++i)
    if (derived.results[i] != in[i + 1])
      return fail(op, "moves the positions to another axis");

  llvm::SmallVector<Value *, 8> operands;
  for (auto [slot, value] : llvm::enumerate(op.operandValues())) {
    if (slot == whole)
      for (const PositionValue &value : derived.values)
        operands.push_back(positionValue(value));
    operands.push_back(operand(value, count));
  }
  if (sliced == 0)
    for (const PositionValue &value : derived.values)
      operands.push_back(positionValue(value));
  size_t invariant = operands.size();
  for (const Cache &cache : derived.caches) {
    Cache stack = cache.with(owner.program.slots());
    stack.type.shape.insert(stack.type.shape.begin(), turns);
    addCache(std::move(stack), operands);
  }
  std::vector<std::string> collected;
  for (size_t i = carried; i < derived.function->numResults(); ++i)
    collected.push_back(derived.function->result(i)->type.str());
  llvm::SmallVector<ConstantRef, 8> constants(op.constants());
  auto set = [&](const ConstantParam &param, ConstantRef value) {
    constants[op.def().constantSlot(param)] = std::move(value);
  };
  set(param::body, Constant::string(derived.function->name));
  set(param::sliced,
      Constant::int32(int64_t(sliced + operands.size() - invariant)));
  if (!collected.empty())
    set(param::collected, typeList(collected));
  llvm::SmallVector<llvm::StringRef, 4> none(carried + collected.size());
  Op *made = builder.createWithSlots(op.def(), operands, constants, none);
  llvm::SmallVector<PositionAxis, 2> found = derived.results;
  for (size_t i = carried; i < found.size(); ++i)
    if (found[i])
      ++*found[i];
  finish(op, *made, found);
  for (size_t i = 0; i < derived.caches.size(); ++i) {
    rows.push_back(made->result(unsigned(op.numResults() + i)));
    rows.back()->name = derived.function->resultNames()[op.numResults() + i];
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Any op
//===----------------------------------------------------------------------===//

bool FunctionDeriver::derive(const Op &op, int64_t count) {
  builder.setRange(op.range());
  bool applies = op.def().has(trait::Call) || op.is(ops::Repeat);
  bool isOfText = llvm::any_of(op.operandValues(), [&](const Value *value) {
    return axisOf(value).has_value();
  });
  if (!isOfText && !applies) {
    cloneOp(op, to, map);
    for (const Value *result : op.resultValues())
      axes[result] = std::nullopt;
    return true;
  }
  if (op.is(ops::Sdpa))
    return deriveAttention(op, count);
  if (op.is(ops::Rope))
    return deriveRope(op, count);
  if (op.is(ops::Repeat))
    return deriveRepeat(op, count);
  return applies ? deriveCall(op, count) : deriveByRule(op, count);
}
