//===- Recompute.cpp - the forward again in the backward ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A turn of a `repeat` in the forward gives the next one a few values, and
/// many to the backward. Of these, none is kept here: the items that compute
/// them run again where the backward needs them first, on what the turn before
/// gave.
///
///   y, tap = call @layer(x); ...; call @layer.backward(dy, tap)
///   ==>  y, _ = call @layer(x); ...;
///        _, tap = call @layer(x); call @layer.backward(dy, tap)
///
/// A kernel outside of a `repeat` is as a turn.
///
//===----------------------------------------------------------------------===//

#include "Slots.h"
#include "lib/IR/OpDef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace anec;
using namespace anec::session;

namespace {

class Recomputation {
public:
  explicit Recomputation(FlatSchedule &schedule) : schedule(schedule) {}
  void run();

private:
  using Iterator = std::list<Item>::iterator;

  bool findBackward();
  void findDropped();
  /// `slot`, or what takes its place in the backward.
  Slot *inBackward(Slot *slot, Iterator before);
  /// The item again, before another.
  void repeat(const Item *item, Iterator before);

  FlatSchedule &schedule;
  Iterator backward; ///< the first item after the loss
  llvm::DenseMap<const Slot *, const Item *> makers; ///< in the forward
  /// Given in the forward, and used by the same turn and the backward alone.
  llvm::DenseSet<const Slot *> dropped;
  llvm::DenseMap<const Slot *, Slot *> again;
};

} // namespace

bool Recomputation::findBackward() {
  llvm::DenseSet<const Slot *> measures;
  for (const Slot *slot : schedule.measures)
    measures.insert(slot);
  backward = schedule.items.end();
  for (auto it = schedule.items.begin(); it != schedule.items.end(); ++it)
    if (llvm::any_of(it->out,
                     [&](const Slot *slot) { return measures.contains(slot); }))
      backward = std::next(it);
  return backward != schedule.items.end();
}

/// The turn that an item is of; a kernel without one is a turn.
static const void *turnOf(const Item &item) {
  if (item.turn)
    return item.turn;
  return item.kind == Item::Call ? &item : nullptr;
}

static bool canRepeat(const Item &item) {
  return item.kind == Item::Call || item.kind == Item::Gather ||
         (item.kind == Item::Compute && !item.op->def().has(trait::SideEffect));
}

void Recomputation::findDropped() {
  for (auto it = schedule.items.begin(); it != backward; ++it)
    for (Slot *slot : it->out) {
      makers[slot] = &*it;
      if (turnOf(*it) && canRepeat(*it) && !slot->isOutput && !slot->lasting &&
          !slot->staged)
        dropped.insert(slot);
    }
  for (auto it = schedule.items.begin(); it != backward; ++it)
    for (Slot *slot : it->in)
      if (slot && dropped.contains(&slot->root()) &&
          turnOf(*makers.lookup(&slot->root())) != turnOf(*it))
        dropped.erase(&slot->root());
}

Slot *Recomputation::inBackward(Slot *slot, Iterator before) {
  if (!slot || !dropped.contains(&slot->root()))
    return slot;
  if (Slot *known = again.lookup(slot))
    return known;
  if (!slot->base) {
    repeat(makers.lookup(slot), before);
    return again.lookup(slot);
  }
  Slot *base = inBackward(slot->base, before);
  return again[slot] = schedule.addPart(base, slot->offset, slot->type);
}

void Recomputation::repeat(const Item *item, Iterator before) {
  Item copy = *item;
  // Before it, so that operands come first.
  for (Slot *&slot : copy.in)
    slot = inBackward(slot, before);
  for (Slot *&slot : copy.out)
    slot = again[slot] = schedule.addSlot(slot->type);
  schedule.items.insert(before, std::move(copy));
}

void Recomputation::run() {
  if (!findBackward())
    return;
  findDropped();

  for (auto it = backward; it != schedule.items.end(); ++it)
    for (Slot *&slot : it->in)
      slot = inBackward(slot, it);
}

void session::recomputeForward(FlatSchedule &schedule) {
  Recomputation(schedule).run();
}
