//===- Flatten.cpp - a schedule without loops and calls -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Slots.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Ops/Weights.h"
#include "lib/Package/ScheduleWalk.h"
#include "llvm/ADT/DenseMap.h"

using namespace anec;
using namespace anec::session;

namespace {

class Flattener {
public:
  Flattener(const Module &module, const WeightSlot &weightSlot,
            FlatSchedule &out)
      : module(module), weightSlot(weightSlot), out(out) {}

  /// Appends the items of `function`; returns its results.
  std::vector<Slot *> add(const Function &function,
                          llvm::ArrayRef<Slot *> arguments,
                          KnownIntegers known);

  /// `slot`, or for a stack, its parts next to each other.
  Slot *contiguous(Slot *slot);
  /// Appends the updates of states, after all other items.
  void finish() { out.items.splice(out.items.end(), updates); }

private:
  std::vector<Slot *> addRepeat(const Op &op, llvm::ArrayRef<Slot *> in,
                                const KnownIntegers &known);
  std::vector<Slot *> addOp(const Op &op, std::vector<Slot *> in,
                            const KnownIntegers &known);
  void addUpdate(const Op &op, Slot *state, Slot *rows, Slot *position);
  Slot *addNumber(int64_t number) {
    Slot *slot = out.addSlot(DType::Int32);
    slot->number = number;
    slot->staged = true;
    return slot;
  }

  const Module &module;
  const WeightSlot &weightSlot;
  FlatSchedule &out;
  std::list<Item> updates;
  llvm::SmallVector<const Slot *, 4> updated;
  const Slot *turn = nullptr; ///< of the outermost repeat
};

} // namespace

/// Rows that a `repeat` collected go to their parts of the state.
void Flattener::addUpdate(const Op &op, Slot *state, Slot *rows,
                          Slot *position) {
  if (rows->stack.empty()) {
    Item &item = updates.emplace_back(Item{Item::Update, &op});
    item.in = {state, rows, position};
    return;
  }
  TensorType part = state->type;
  part.shape.erase(part.shape.begin());
  for (auto [turn, slot] : llvm::enumerate(rows->stack))
    addUpdate(op, out.addPart(state, int64_t(turn) * part.numElements(), part),
              slot, position);
}

Slot *Flattener::contiguous(Slot *slot) {
  if (!slot || slot->stack.empty())
    return slot;
  Item item{Item::Gather};
  item.in = slot->stack;
  item.out = {out.addSlot(slot->type)};
  out.items.push_back(std::move(item));
  // For other uses of the stack.
  Slot *whole = out.items.back().out[0];
  slot->stack.clear();
  slot->base = whole;
  return whole;
}

std::vector<Slot *> Flattener::addOp(const Op &op, std::vector<Slot *> in,
                                     const KnownIntegers &known) {
  if (op.is(ops::Weight))
    return {weightSlot(op, instanceOf(op, known))};
  if (unpacksWeight(op)) {
    Slot *slot = out.addSlot(op.result()->type);
    slot->unpack = &op;
    slot->packed = std::move(in);
    return {slot};
  }
  for (const Slot *slot : in)
    if (slot && llvm::is_contained(updated, slot))
      out.lateRead = &op;
  if (op.is(ops::ReadState))
    return {in[0]};
  if (op.is(ops::UpdateState) || op.is(ops::WriteState)) {
    updated.push_back(in[0]);
    addUpdate(op, in[0], in[1], in.size() > 2 ? in[2] : nullptr);
    return {};
  }
  Item item;
  item.op = &op;
  item.kind = op.is(ops::Call)         ? Item::Call
              : op.is(ops::Accumulate) ? Item::Accumulate
                                       : Item::Compute;
  // The index selects the instance; it is not used in computations.
  if (item.kind != Item::Compute) {
    item.instance = instanceOf(op, known);
    in.erase(in.begin());
  }
  for (Slot *&slot : in)
    slot = contiguous(slot);
  item.in = std::move(in);
  bool staged =
      item.kind == Item::Compute && !op.def().has(trait::SideEffect) &&
      llvm::all_of(item.in,
                   [](const Slot *slot) { return !slot || slot->staged; });
  for (const Value *result : op.resultValues()) {
    item.out.push_back(out.addSlot(result->type));
    item.out.back()->staged = staged;
  }
  item.turn = turn;
  std::vector<Slot *> results = item.out;
  out.items.push_back(std::move(item));
  return results;
}

std::vector<Slot *> Flattener::addRepeat(const Op &op,
                                         llvm::ArrayRef<Slot *> in,
                                         const KnownIntegers &known) {
  const Function &body = *module.findFunction(op.get(param::body));
  size_t carried = op.get(param::carried);
  size_t whole = in.size() - op.get(param::sliced);
  int64_t from = op.get(param::from), turns = op.get(param::to) - from;
  std::vector<Slot *> values(in.begin(), in.begin() + carried);
  std::vector<Slot *> stacks;
  for (size_t index = carried; index < op.numResults(); ++index) {
    stacks.push_back(out.addSlot(op.result(index)->type));
    stacks.back()->stack.resize(turns);
  }
  for (int64_t index : turnsOf(op)) {
    KnownIntegers inside;
    inside[body.parameters()[0].get()] = index;
    std::vector<Slot *> arguments = {addNumber(index)};
    bool isOutermost = !turn;
    if (isOutermost)
      turn = arguments[0];
    for (size_t slot = 0; slot < in.size(); ++slot) {
      Slot *argument = slot < carried ? values[slot] : in[slot];
      if (slot >= whole) {
        const TensorType &type = body.parameters()[slot + 1]->type;
        argument = argument->stack.empty()
                       ? out.addPart(argument,
                                     (index - from) * type.numElements(), type)
                       : argument->stack[index - from];
      }
      arguments.push_back(argument);
      if (auto it = known.find(op.operand(slot)); it != known.end())
        inside[body.parameters()[slot + 1].get()] = it->second;
    }
    values = add(body, arguments, std::move(inside));
    if (isOutermost)
      turn = nullptr;
    for (size_t stack = 0; stack < stacks.size(); ++stack)
      stacks[stack]->stack[index - from] = values[carried + stack];
    values.resize(carried);
  }
  values.insert(values.end(), stacks.begin(), stacks.end());
  return values;
}

std::vector<Slot *> Flattener::add(const Function &function,
                                   llvm::ArrayRef<Slot *> arguments,
                                   KnownIntegers known) {
  llvm::DenseMap<const Value *, Slot *> slots;
  for (auto [param, slot] : llvm::zip_equal(function.parameters(), arguments))
    slots[param.get()] = slot;
  for (const Op &op : function.body()) {
    std::vector<Slot *> in;
    for (const Value *operand : op.operandValues())
      in.push_back(operand ? slots.lookup(operand) : nullptr);
    // Known integers are numbers of the schedule, as loop indices are.
    if (evaluateInteger(op, known) && !op.is(ops::Const)) {
      slots[op.result()] = addNumber(known[op.result()]);
      continue;
    }
    std::vector<Slot *> results = op.is(ops::Repeat)
                                      ? addRepeat(op, in, known)
                                      : addOp(op, std::move(in), known);
    for (auto [value, slot] : llvm::zip_equal(op.resultValues(), results))
      slots[value] = slot;
  }
  std::vector<Slot *> results;
  for (const Value *result : function.resultValues())
    results.push_back(slots.lookup(result));
  return results;
}

void session::flatten(const Module &module, const Function &entry,
                      const WeightSlot &weightSlot, FlatSchedule &schedule) {
  Flattener flattener(module, weightSlot, schedule);
  std::vector<Slot *> arguments;
  for (const auto &param : entry.parameters()) {
    arguments.push_back(schedule.addSlot(param->type));
    arguments.back()->lasting = true;
    (param->holder == Holder::State ? schedule.states : schedule.inputs)
        .push_back(arguments.back());
  }
  schedule.outputs = flattener.add(entry, arguments, KnownIntegers());
  flattener.finish();
  for (Slot *&output : schedule.outputs) {
    output = flattener.contiguous(output);
    output->root().isOutput = true;
  }
  for (auto [role, output] :
       llvm::zip_equal(entry.resultRoles(), schedule.outputs))
    if (role == ValueRole::Loss || role == ValueRole::Metric)
      schedule.measures.push_back(output);
}
