//===- PlanPlacing.cpp - grouping of steps and placing of values ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../CPU/Arena.h"
#include "PlanBuilder.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Weights.h"
#include "lib/Package/ScheduleWalk.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace anec;
using namespace anec::session;

/// A cache line.
static constexpr uint64_t alignmentWords = 16;

static uint64_t sizeInWords(const Slot &slot) {
  return llvm::alignTo(std::max<uint64_t>(slot.count(), 1), alignmentWords);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

Slot *PlanBuilder::weightSlot(const Op &op, std::optional<int64_t> instance) {
  if (const PackagedHostPart *part =
          context.package.findHostPart(op.get(param::name))) {
    Slot *&slot = slotOfWeight[{part->name, false}];
    if (!slot) {
      slot = schedule.addSlot(part->quantized.type);
      slot->staged = slot->lasting = true;
    }
    return slot;
  }
  const PackagedWeight &weight =
      *context.package.findWeight(op.get(param::name));
  std::string name = instanceName(weight.name, instance);
  bool rounded = context.options.load.numerics != Numerics::FP32 &&
                 op.result()->type.dtype == DType::FP16;
  Slot *&source = slotOfWeight[{name, rounded}];
  if (!source) {
    source = schedule.addSlot(
        TensorType(op.result()->type.dtype, weight.type.shape));
    source->staged = source->lasting = true;
  }
  if (std::optional<int64_t> offset = viewOf(op).array.contiguousOffset())
    return schedule.addPart(source, *offset, op.result()->type);
  Item &item = weightItems.emplace_back(Item{Item::Compute, &op});
  item.in = {source};
  item.out = {schedule.addSlot(op.result()->type)};
  item.out[0]->staged = true;
  return item.out[0];
}

/// Expands the weights that kernels take, results are, or other values follow
/// from without inputs. Others stay as they are stored.
void PlanBuilder::expandWeights() {
  llvm::DenseSet<const Slot *> expanded;
  auto expand = [&](llvm::ArrayRef<Slot *> slots) {
    for (Slot *slot : slots)
      if (slot)
        expanded.insert(&slot->root());
  };
  expand(schedule.outputs);
  for (const Item &item : weightItems)
    expand(item.in);
  for (const Item &item : schedule.items)
    if (item.kind == Item::Call || (item.kind == Item::Compute &&
                                    !item.out.empty() && item.out[0]->staged))
      expand(item.in);
  for (auto &[key, slot] : slotOfWeight) {
    if (!expanded.contains(slot) && !context.arrays.canChange(key.first))
      slot->constant = context.arrays.stored(key.first, slot->type.dtype,
                                             context.options.load.numerics);
    if (slot->constant) {
      plan->readsStored = true;
      continue;
    }
    slot->words = reinterpret_cast<uint32_t *>(
        context.arrays.reading(key.first, key.second));
  }
}

/// Whether all of them have values; reports those that have none.
bool PlanBuilder::hasWeights(Diagnostics &diags) const {
  bool hasAll = true;
  for (const auto &[key, slot] : slotOfWeight)
    if (!slot->words && !slot->constant) {
      diags.report({}, diag::WeightNotHere, key.first);
      hasAll = false;
    }
  return hasAll;
}

/// Assigns every accumulation its gradient.
bool PlanBuilder::findGradients(Diagnostics &diags) {
  for (Item &item : schedule.items) {
    if (item.kind != Item::Accumulate)
      continue;
    llvm::StringRef weight = item.op->get(param::name);
    std::string name = instanceName(weight, item.instance);
    float *memory = context.arrays.gradient(name);
    if (!memory) {
      diags.report(item.op->range(), diag::WeightNotHere, name);
      return false;
    }
    item.gradient = schedule.addSlot(TensorType(
        DType::FP32, context.package.findWeight(weight)->type.shape));
    item.gradient->words = reinterpret_cast<uint32_t *>(memory);
    item.gradient->lasting = true;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Host ops up to the next call run as one. Staged ops run separately, and the
/// loss and each metric end a group: the backward follows them.
void PlanBuilder::group() {
  for (const Item &item : weightItems)
    stagedItems.push_back(&item);
  llvm::DenseSet<const Slot *> made; // in the group so far
  bool open = false;
  llvm::DenseSet<const Slot *> results; // that are no gradients
  for (Slot *slot : schedule.measures)
    results.insert(&slot->root());
  for (const Item &item : schedule.items) {
    if (item.kind == Item::Compute && !item.out.empty() &&
        item.out[0]->staged) {
      stagedItems.push_back(&item);
      continue;
    }
    // A part is read from memory, so the whole has to be computed first.
    bool readsPart = llvm::any_of(item.in, [&](Slot *slot) {
      return slot && slot->base && made.contains(&slot->root());
    });
    bool isUpdate = item.kind == Item::Update;
    bool follows = !groups.empty() && groups.back().isUpdate() == isUpdate &&
                   (open || isUpdate);
    if (!follows || readsPart || item.kind == Item::Call) {
      groups.emplace_back();
      made.clear();
    }
    open = item.kind != Item::Call && !isUpdate;
    groups.back().items.push_back(&item);
    for (const Slot *slot : item.out) {
      made.insert(slot);
      if (results.contains(slot)) {
        lastForwardGroup = groups.size() - 1;
        open = false;
      }
    }
  }
}

/// Moves items that only gradients depend on to separate groups, after their
/// original ones.
void PlanBuilder::separateGradients() {
  llvm::DenseSet<const Slot *> needed; // by something else
  llvm::DenseSet<const Item *> separate;
  for (const Item &item : llvm::reverse(schedule.items)) {
    bool gradient = item.kind == Item::Accumulate;
    if (item.kind == Item::Compute || item.kind == Item::Gather)
      gradient = llvm::none_of(item.out, [&](Slot *slot) {
        return slot->root().isOutput || needed.contains(&slot->root());
      });
    if (gradient) {
      separate.insert(&item);
      continue;
    }
    for (Slot *slot : item.in)
      if (slot)
        needed.insert(&slot->root());
  }
  std::vector<Group> all = std::move(groups);
  groups.clear();
  for (auto [number, group] : llvm::enumerate(all)) {
    Group rest, gradients;
    gradients.overlaps = true;
    for (const Item *item : group.items)
      (separate.contains(item) ? gradients : rest).items.push_back(item);
    bool wasLastForward = number == lastForwardGroup;
    if (!rest.items.empty())
      groups.push_back(std::move(rest));
    if (wasLastForward)
      lastForwardGroup = groups.size() - 1;
    if (!gradients.items.empty())
      groups.push_back(std::move(gradients));
  }
}

static void noteUse(Slot *slot, int group) {
  if (!slot)
    return;
  Slot &root = slot->root();
  root.lastGroup = std::max(root.lastGroup, group);
  if (slot->base || root.firstGroup != group)
    root.internal = false;
}

void PlanBuilder::findLifetimes() {
  constexpr int stagingGroup = -1;
  auto noteGroup = [&](llvm::ArrayRef<const Item *> items, int group,
                       bool isCall) {
    for (const Item *item : items)
      for (Slot *slot : item->out) {
        slot->firstGroup = slot->lastGroup = group;
        if (isCall)
          slot->internal = false;
      }
    for (const Item *item : items)
      for (Slot *slot : item->in)
        noteUse(slot, group);
  };
  noteGroup(stagedItems, stagingGroup, false);
  for (auto [number, group] : llvm::enumerate(groups))
    noteGroup(group.items, int(number), group.isCall());
  // Slots that no item computes.
  for (Slot &slot : schedule.slots)
    if (slot.lasting || slot.number)
      slot.internal = false;
  for (Slot *slot : schedule.outputs)
    slot->root().internal = false;
}

/// Keeps the inputs and outputs of an overlapping group until it has been
/// waited for, which is when `mostOverlapping` more of them have been
/// submitted.
void PlanBuilder::prolongLifetimes() {
  std::vector<size_t> overlapping;
  for (auto [number, group] : llvm::enumerate(groups))
    if (group.overlaps)
      overlapping.push_back(number);
  for (auto [order, number] : llvm::enumerate(overlapping)) {
    size_t waiting = order + mostOverlapping;
    int last = int(waiting < overlapping.size() ? overlapping[waiting]
                                                : groups.size() - 1);
    for (const Item *item : groups[number].items)
      for (const auto *slots : {&item->in, &item->out})
        for (Slot *slot : *slots)
          if (slot) {
            Slot &root = slot->root();
            root.lastGroup = std::max(root.lastGroup, last);
          }
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint32_t *PlanBuilder::allocate(uint64_t words) {
  plan->memory.push_back(makeAlignedArray(words));
  float *floats = plan->memory.back().get();
  // Touch the pages now rather than in the first run.
  std::fill_n(floats, words, 0.0f);
  plan->memoryBytes += words * 4;
  return reinterpret_cast<uint32_t *>(floats);
}

void PlanBuilder::placeSlots() {
  // Values that live as long as the session.
  for (Slot &slot : schedule.slots) {
    bool lasts = slot.lasting || slot.staged || slot.number || slot.isOutput;
    if (slot.base || slot.words || slot.constant || !lasts || slot.internal ||
        !slot.stack.empty())
      continue;
    slot.words = allocate(sizeInWords(slot));
    if (slot.number)
      *slot.words = uint32_t(int32_t(*slot.number));
  }
  // The other values, by lifetime.
  cpu::Arena arena;
  std::vector<std::vector<Slot *>> begins(groups.size()), ends(groups.size());
  std::vector<std::pair<Slot *, uint64_t>> offsets;
  for (Slot &slot : schedule.slots)
    if (!slot.base && !slot.words && !slot.internal && slot.firstGroup >= 0) {
      begins[slot.firstGroup].push_back(&slot);
      ends[slot.lastGroup].push_back(&slot);
    }
  llvm::DenseMap<Slot *, uint64_t> offsetOf;
  for (size_t number = 0; number < groups.size(); ++number) {
    for (Slot *slot : begins[number])
      offsetOf[slot] = arena.allocate(sizeInWords(*slot));
    for (Slot *slot : ends[number])
      arena.release(offsetOf.lookup(slot), sizeInWords(*slot));
  }

  uint32_t *base = allocate(arena.size());
  for (auto [slot, offset] : offsetOf)
    slot->words = base + offset;
  for (Slot &slot : schedule.slots)
    if (slot.base) {
      int64_t offset = 0;
      Slot *root = &slot;
      for (; root->base; root = root->base)
        offset += root->offset;
      slot.words = root->words ? root->words + offset : nullptr;
    }
}
