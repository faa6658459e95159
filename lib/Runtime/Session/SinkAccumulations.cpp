//===- SinkAccumulations.cpp - accumulate next to the computation ---------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Slots.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Scatter.h"
#include "llvm/ADT/DenseMap.h"

using namespace anec;
using namespace anec::session;

namespace {

class Sinking {
public:
  explicit Sinking(FlatSchedule &schedule) : schedule(schedule) {
    for (auto it = schedule.items.begin(); it != schedule.items.end(); ++it) {
      for (Slot *slot : it->out)
        makers[slot] = it;
      for (Slot *slot : it->in)
        if (slot)
          ++uses[&slot->root()];
    }
  }

  void run() {
    for (auto it = schedule.items.begin(); it != schedule.items.end();) {
      auto next = std::next(it);
      if (it->kind == Item::Accumulate)
        sink(it);
      it = next;
    }
    dropUnused();
  }

private:
  using Iterator = std::list<Item>::iterator;

  /// The computation of `slot`, when nothing else uses it.
  Item *onlyFor(Slot *slot) {
    auto maker = makers.find(slot);
    if (slot->base || slot->isOutput || maker == makers.end() ||
        uses.lookup(slot) != 1 || maker->second->kind != Item::Compute)
      return nullptr;
    return &*maker->second;
  }
  void sink(Iterator it);
  bool splitSum(Iterator it);
  bool absorbScatter(Iterator it);
  void moveToMaker(Iterator it);
  void dropUnused();

  FlatSchedule &schedule;
  llvm::DenseMap<Slot *, Iterator> makers;
  llvm::DenseMap<Slot *, unsigned> uses;
};

} // namespace

bool Sinking::splitSum(Iterator it) {
  Slot *slot = it->in[0];
  Item *sum = onlyFor(slot);
  if (!sum || !sum->op->is(ops::Add) || !(sum->in[0]->type == slot->type) ||
      !(sum->in[1]->type == slot->type))
    return false;
  Item second = *it;
  it->in[0] = sum->in[0];
  second.in[0] = sum->in[1];
  ++uses[&it->in[0]->root()];
  ++uses[&second.in[0]->root()];
  --uses[slot];
  // The sum is removed, and with it its uses of the terms.
  for (Slot *term : sum->in)
    --uses[&term->root()];
  schedule.items.erase(makers[slot]);
  makers.erase(slot);
  sink(schedule.items.insert(std::next(it), std::move(second)));
  sink(it);
  return true;
}

static bool isZeros(const Item &item) {
  return item.op->is(ops::Fill) && item.op->constant(param::fillValue) &&
         item.op->constant(param::fillValue)->asDouble() == 0;
}

bool Sinking::absorbScatter(Iterator it) {
  Slot *slot = it->in[0];
  Item *scatter = onlyFor(slot);
  if (!scatter || !scatter->op->is(ops::Scatter) ||
      scatter->op->get(param::scatterMode) != ScatterMode::Add ||
      scatter->op->get(param::axis) != 0)
    return false;
  auto zeros = makers.find(scatter->in[0]);
  if (zeros == makers.end() || zeros->second->kind != Item::Compute ||
      !isZeros(*zeros->second))
    return false;
  it->scatter = scatter->op;
  it->in = {scatter->in[1], scatter->in[2]};
  --uses[scatter->in[0]];
  schedule.items.erase(makers[slot]);
  makers.erase(slot);
  return true;
}

void Sinking::moveToMaker(Iterator it) {
  auto maker = makers.find(it->in[0]);
  if (maker != makers.end())
    schedule.items.splice(std::next(maker->second), schedule.items, it);
}

void Sinking::sink(Iterator it) {
  // Rows are added at the accumulation's position: the gradient may have to be
  // initialized first.
  if (!splitSum(it) && !absorbScatter(it))
    moveToMaker(it);
}

void Sinking::dropUnused() {
  for (auto it = schedule.items.end(); it != schedule.items.begin();) {
    --it;
    bool used =
        it->kind != Item::Compute || llvm::any_of(it->out, [&](Slot *slot) {
          return slot->isOutput || uses.lookup(slot) != 0;
        });
    if (used)
      continue;
    for (Slot *slot : it->in)
      if (slot)
        --uses[&slot->root()];
    it = schedule.items.erase(it);
  }
}

void session::sinkAccumulations(FlatSchedule &schedule) {
  Sinking(schedule).run();
}
