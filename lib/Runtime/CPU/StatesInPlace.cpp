//===- StatesInPlace.cpp - states that are not copied ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StatesInPlace.h"
#include "Schedule.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Slices.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::cpu;

namespace {

/// A change of a state: a write and, where it can be made in place, the update
/// of what was read before.
struct Change {
  const Op *write;
  const Op *update = nullptr; ///< null when a whole array is stored
  const Op *read = nullptr;   ///< what `update` changes

  uint64_t position() const { return (update ? update : write)->position(); }
};

/// What is read of a state by one op, if it is read in place.
struct Reading {
  const Op *read;
  llvm::SmallVector<std::pair<const Op *, int64_t>, 8> parts;
  /// The last op that reads a part; null when the parts cannot be followed.
  const Op *last = nullptr;
};

} // namespace

/// How many elements of its operand precede the result of a slice without gaps;
/// nothing for other ops.
static std::optional<int64_t> placeOfSlice(const Op &op) {
  bool isBySize = op.is(ops::SliceBySize);
  if ((!isBySize && !op.is(ops::SliceByIndex)) ||
      llvm::any_of(llvm::drop_begin(op.operandValues()),
                   [](const Value *operand) { return operand; }))
    return std::nullopt;
  const Shape &whole = op.operand(0u)->type.shape,
              &part = op.result()->type.shape;
  Selection selection;
  if (isBySize) {
    selection.strides = rowMajorStrides(whole);
    for (auto [begin, extent, stride] :
         llvm::zip_equal(op.get(param::begin), whole, selection.strides))
      selection.first += (begin < 0 ? begin + extent : begin) * stride;
  } else {
    selection = selectElements(op, whole);
  }
  for (auto [extent, stride, own] :
       llvm::zip_equal(part, selection.strides, rowMajorStrides(part)))
    if (extent > 1 && stride != own)
      return std::nullopt;
  return selection.first;
}

/// The `slice_update` whose result `write` stores, if nothing else reads it,
/// and the `read_state` whose result it changes.
static void findUpdate(Change &change, Numerics numerics) {
  auto renamed = [&](const Value *value) {
    while (value->definingOp() && isAlias(*value->definingOp(), numerics))
      value = value->definingOp()->operand(0u);
    return value;
  };
  const Value *data = change.write->operand(param::data);
  if (!data->hasOneUse())
    return;
  const Op *update = data->definingOp();
  if (!update || !update->is(ops::SliceUpdate))
    return;
  const Constant *strides = update->constant(param::stride);
  if (strides && llvm::any_of(strides->asInts(),
                              [](int64_t stride) { return stride != 1; }))
    return;
  const Op *read = renamed(update->operand(param::x))->definingOp();
  if (!read || !read->is(ops::ReadState) ||
      read->operand(param::input) != change.write->operand(param::input))
    return;
  change.update = update;
  change.read = read;
}

/// Follows what `read` returns. `update` may change it, if it is not null.
static Reading follow(const Op &read, const Op *update, Numerics numerics) {
  Reading reading{&read, {{&read, 0}}, &read};
  llvm::SmallVector<const Value *, 8> values = {read.result()};
  auto give = [&] {
    reading.last = nullptr;
    return reading;
  };
  while (!values.empty()) {
    const Value *value = values.pop_back_val();
    for (const Operand *use = value->firstUse(); use; use = use->nextUse()) {
      const Op *user = use->owner();
      // Results have memory of their own, and a fused op may run later.
      if (!user || tileKernel(*user))
        return give();
      bool isFirst = user->operand(0u) == value;
      if (isFirst && isAlias(*user, numerics)) {
        values.push_back(user->result());
        continue;
      }
      if (std::optional<int64_t> place =
              isFirst ? placeOfSlice(*user) : std::nullopt) {
        reading.parts.push_back({user, *place});
        values.push_back(user->result());
        continue;
      }
      if (user == update && isFirst &&
          llvm::count(user->operandValues(), value) == 1)
        continue;
      if (user->position() > reading.last->position())
        reading.last = user;
    }
  }
  return reading;
}

void StatesInPlace::analyze(const Value &state, Numerics numerics) {
  llvm::SmallVector<const Op *, 8> reads;
  llvm::SmallVector<Change, 8> changes;
  for (const Operand *use = state.firstUse(); use; use = use->nextUse()) {
    const Op *user = use->owner();
    if (!user || (!user->is(ops::ReadState) && !user->is(ops::WriteState)))
      return;
    if (user->is(ops::ReadState))
      reads.push_back(user);
    else
      changes.push_back({user});
  }
  auto isBetween = [](const Op *op, const Op *first, const Op *last) {
    return op->position() > first->position() &&
           op->position() < last->position();
  };
  for (Change &change : changes) {
    findUpdate(change, numerics);
    if (!change.update)
      continue;
    // Others would see the update too early, or lose it.
    auto interferes = [&](const Op *other) {
      return isBetween(other, change.update, change.write);
    };
    if (llvm::any_of(reads, interferes) ||
        llvm::any_of(changes, [&](const Change &other) {
          return isBetween(other.write, change.read, change.write);
        }))
      change.update = nullptr;
  }
  // What is read must not be needed after the next change.
  llvm::DenseSet<const Op *> inPlace;
  for (const Op *read : reads) {
    const Change *next = nullptr;
    for (const Change &change : changes)
      if (change.position() > read->position() &&
          (!next || change.position() < next->position()))
        next = &change;
    const Op *update = next && next->read == read ? next->update : nullptr;
    Reading reading = follow(*read, update, numerics);
    if (!reading.last || (next && reading.last->position() >= next->position()))
      continue;
    inPlace.insert(read);
    for (auto [op, place] : reading.parts)
      parts[op] = place;
  }
  for (const Change &change : changes)
    if (change.update && inPlace.contains(change.read)) {
      updates.insert(change.update);
      writes.insert(change.write);
    }
}

StatesInPlace::StatesInPlace(const Function &function, Numerics numerics) {
  for (const auto &param : function.parameters())
    if (param->holder == Holder::State)
      analyze(*param, numerics);
}
