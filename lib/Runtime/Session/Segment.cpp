//===- Segment.cpp - host ops that run as one -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Segment.h"
#include "anec/Passes/PassManager.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Weights.h"
#include "lib/Runtime/CPU/HostProgram.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/DenseMap.h"

using namespace anec;
using namespace anec::session;

namespace {

class SegmentBuilder {
public:
  SegmentBuilder() {
    segment.module = std::make_unique<Module>();
    segment.function =
        segment.module->addFunction(FunctionKind::Kernel, "host");
    segment.parameters.clear();
  }
  void add(const Item &item);
  Segment finish();

private:
  Value *valueOf(Slot *slot);
  Value *storedValue(Slot *slot);
  Value *unpackedValue(Slot *slot);

  Segment segment;
  llvm::DenseMap<Slot *, Value *> values;
  std::vector<Slot *> made;
};

} // namespace

/// A part of a weight as a constant, and the type that it is read as.
Value *SegmentBuilder::storedValue(Slot *slot) {
  int64_t offset = 0;
  for (const Slot *part = slot; part->base; part = part->base)
    offset += part->offset;
  Builder builder(*segment.function);
  Value *value = builder.build(
      ops::Const, {},
      {{param::val, slot->root().constant->part(offset, slot->type.shape)}},
      "weight");
  if (value->type.dtype == slot->type.dtype)
    return value;
  return builder.build(ops::Cast, {value}, {{param::dtype, slot->type.dtype}},
                       "weight");
}

/// A quantized weight: the op that reads it takes it apart.
Value *SegmentBuilder::unpackedValue(Slot *slot) {
  llvm::SmallVector<Value *, 3> parts;
  for (Slot *part : slot->packed)
    parts.push_back(part ? valueOf(part) : nullptr);
  Builder builder(*segment.function);
  return builder
      .createWithSlots(slot->unpack->def(), parts, slot->unpack->constants(),
                       {"weight"})
      ->result();
}

/// The value of a slot: computed here, a weight, or a parameter.
Value *SegmentBuilder::valueOf(Slot *slot) {
  if (!slot)
    return nullptr;
  // Its parts are values too, which the map gets meanwhile.
  if (slot->unpack && !values.lookup(slot)) {
    Value *unpacked = unpackedValue(slot);
    return values[slot] = unpacked;
  }
  Value *&value = values[slot];
  if (!value && slot->root().constant)
    return value = storedValue(slot);
  if (!value) {
    value = segment.function->addParameter(
        slot->type, "p" + std::to_string(segment.parameters.size()));
    segment.parameters.push_back(slot);
  }
  return value;
}

void SegmentBuilder::add(const Item &item) {
  Builder builder(*segment.function);
  if (item.kind == Item::Gather) {
    llvm::SmallVector<Value *, 4> parts;
    for (Slot *slot : item.in)
      parts.push_back(valueOf(slot));
    segment.ops += (segment.ops.empty() ? "" : ", ") + std::string("stack");
    values[item.out[0]] =
        builder.build(ops::Stack, parts, {{param::axis, 0}}, "stack");
    made.push_back(item.out[0]);
    return;
  }
  builder.setRange(item.op->range());
  llvm::StringRef name = item.op->def().name;
  segment.ops += (segment.ops.empty() ? "" : ", ") + name.str();
  if (item.op->is(ops::Weight)) {
    values[item.out[0]] =
        buildView(builder, valueOf(item.in[0]), viewOf(*item.op).array);
    made.push_back(item.out[0]);
    return;
  }
  if (item.scatter) {
    Value *sum =
        builder
            .createWithSlots(item.scatter->def(),
                             {valueOf(item.gradient), valueOf(item.in[0]),
                              valueOf(item.in[1])},
                             item.scatter->constants(), {"sum"})
            ->result();
    segment.scatters.push_back({&item, sum});
    return;
  }
  llvm::SmallVector<Value *, 4> operands;
  if (item.kind == Item::Accumulate) {
    operands.push_back(nullptr); // the index
    segment.accumulations.push_back(&item);
  }
  for (Slot *slot : item.in)
    operands.push_back(valueOf(slot));
  llvm::SmallVector<llvm::StringRef, 2> names(item.out.size(), "v");
  Op *op = builder.createWithSlots(item.op->def(), operands,
                                   item.op->constants(), names);
  for (auto [slot, value] : llvm::zip_equal(item.out, op->resultValues())) {
    values[slot] = value;
    made.push_back(slot);
  }
}

Segment SegmentBuilder::finish() {
  llvm::SmallVector<Value *, 4> results;
  llvm::SmallVector<std::string, 4> names;
  for (Slot *slot : made)
    if (!slot->internal) {
      segment.results.push_back(slot);
      results.push_back(values[slot]);
      names.push_back("r" + std::to_string(names.size()));
    }
  // The sum is written to the gradient's memory.
  for (auto &[item, sum] : segment.scatters) {
    segment.results.push_back(item->gradient);
    results.push_back(sum);
    names.push_back("r" + std::to_string(names.size()));
  }
  llvm::SmallVector<llvm::StringRef, 4> views(names.begin(), names.end());
  segment.function->setResults(results, views);
  return std::move(segment);
}

/// MIL ops run faster than other ops, which only have a reference
/// implementation: rewrites the latter as MIL ops, except those with a
/// processor implementation.
static void decompose(Function &function) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Op &op : llvm::make_early_inc_range(function.body())) {
      if (!op.def().decompose || cpu::hasStep(op.def()))
        continue;
      Builder builder(function);
      builder.setInsertionPoint(&op);
      llvm::SmallVector<Value *, 2> results;
      op.def().decompose(builder, op, results);
      for (auto [old, value] : llvm::zip_equal(op.resultValues(), results))
        old->replaceAllUsesWith(value);
      op.erase();
      changed = true;
    }
  }
}

std::optional<Segment> session::makeSegment(llvm::ArrayRef<const Item *> items,
                                            Diagnostics &diags) {
  SegmentBuilder builder;
  for (const Item *item : items)
    builder.add(*item);
  Segment segment = builder.finish();
  decompose(*segment.function);
  PassManagerOptions passes;
  passes.passes = {&passes::Canonicalize, &passes::CSE, &passes::DCE};
  if (!runPasses(*segment.module, passes, diags))
    return std::nullopt;
  for (const Op &op : segment.function->body())
    if (!op.def().eval && !op.is(ops::Accumulate)) {
      diags.report(op.range(), diag::BackendLacksOp, "cpu", op.def().name);
      return std::nullopt;
    }
  return segment;
}
