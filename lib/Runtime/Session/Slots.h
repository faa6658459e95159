//===- Slots.h - the values of a flat schedule ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An entry with every `repeat` written out: a list of items, each an op with
/// slots for what it reads and gives. A slot is a value of one turn, and has a
/// place in memory unless it passes between ops of one segment only.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SESSION_SLOTS_H
#define ANEC_LIB_RUNTIME_SESSION_SLOTS_H

#include "anec/IR/IR.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <functional>
#include <list>
#include <optional>

namespace anec::session {

struct Slot {
  TensorType type;
  uint32_t *words = nullptr;
  /// The elements of a weight that only host ops read, as stored; it has no
  /// words then.
  ConstantRef constant;
  /// The op that unpacks this from `packed`, parts of a quantized weight, where
  /// the value is read; null for any other value.
  const Op *unpack = nullptr;
  std::vector<Slot *> packed;
  /// Known as soon as the weights are: computed when they change, not in runs.
  bool staged = false;
  /// Has a place for good: weights, inputs, what is staged.
  bool lasting = false;
  /// Not null for a part of another slot, so many elements into it.
  Slot *base = nullptr;
  int64_t offset = 0;
  /// The number of a turn.
  std::optional<int64_t> number;
  /// The values that a `repeat` collected, by turn; they need not lie together.
  std::vector<Slot *> stack;

  bool isOutput = false;
  // The groups of items that give it and use it last; -1 for none.
  int firstGroup = -1, lastGroup = -1;
  /// Ops of one group alone see it, and none sees a part of it.
  bool internal = true;

  uint64_t count() const { return uint64_t(type.numElements()); }
  Slot &root() { return base ? base->root() : *this; }
};

struct Item {
  enum Kind : uint8_t {
    Call,
    Compute,    ///< an op with a reference
    Accumulate, ///< to a gradient
    Gather,     ///< parts of a stack next to each other
    Update,     ///< of the state `in[0]`: rows `in[1]`, at position `in[2]`
  } kind;
  const Op *op = nullptr;
  std::vector<Slot *> in, out; ///< null where an operand is absent
  std::optional<int64_t> instance;
  /// Of an accumulation: adds `in[1]` to rows `in[0]` of `gradient`, by this
  /// op.
  const Op *scatter = nullptr;
  Slot *gradient = nullptr;
  /// The number of the turn of the outermost `repeat`, different for each turn;
  /// null outside of all.
  const Slot *turn = nullptr;
};

/// A `weight` op's array, as the schedule reads it.
using WeightSlot =
    std::function<Slot *(const Op &weight, std::optional<int64_t> instance)>;

struct FlatSchedule {
  std::deque<Slot> slots;
  std::list<Item> items;
  std::vector<Slot *> inputs, outputs, states;
  /// An op that reads a state after it was updated; null for none. States are
  /// updated at the end of a run.
  const Op *lateRead = nullptr;
  std::vector<Slot *> measures; ///< outputs: the loss and metrics

  Slot *addSlot(TensorType type) {
    slots.emplace_back().type = std::move(type);
    return &slots.back();
  }
  Slot *addPart(Slot *base, int64_t offset, TensorType type) {
    Slot *part = addSlot(std::move(type));
    part->base = base;
    part->offset = offset;
    part->staged = base->staged;
    return part;
  }
};

/// Writes out `entry`, and marks what is staged.
void flatten(const Module &module, const Function &entry,
             const WeightSlot &weightSlot, FlatSchedule &schedule);

/// Moves each accumulation to where its value is made, and takes sums apart:
///
///   accumulate(add(a, b))  ==>  accumulate(a); accumulate(b)
///   accumulate(scatter(zeros, rows, x))  ==>  adds x to rows of the gradient
///
/// so that gradients are computed in their place. Drops what nothing uses then.
void sinkAccumulations(FlatSchedule &schedule);

/// Computes values of the forward again in the backward, one turn of a `repeat`
/// after the other, instead of keeping those of all turns.
void recomputeForward(FlatSchedule &schedule);

} // namespace anec::session

#endif // ANEC_LIB_RUNTIME_SESSION_SLOTS_H
