//===- ExposeTaps.cpp - keep or recompute values for the backward ---------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The backward needs values of the forward, and initially has a copy of the
/// ops that compute them, on the host. Each such value can be provided in three
/// ways:
///
///   tap        the forward kernel returns it as an additional result
///   recompute  the backward kernel that needs it recomputes it
///   host       the host recomputes it for its own use, in a weight's gradient
///
/// The choice is by predicted time. A tap costs moving it off the engine, the
/// host's copy from one kernel's output to another's input, and moving it back
/// onto the engine. Recomputing costs the operations, reading their weights,
/// and any operands that are not available yet. All users of a value are
/// decided together, since one tap serves all; later values are decided first,
/// since they determine which earlier ones are needed.
///
//===----------------------------------------------------------------------===//

#include "ForwardValues.h"
#include "GradientFlow.h"
#include "OpenedModule.h"
#include "RepeatInterface.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/Names.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace anec;

namespace {

/// Order-of-magnitude speed of a laptop's processor: the decisions that depend
/// on it are not close.
constexpr double hostGigabytesPerSecond = 20;
constexpr double hostTeraflops = 0.3;

/// Predicted times, in microseconds.
class TapCosts {
public:
  explicit TapCosts(const Target &target) : target(target) {}

  double moveOnEngine(const Value *value) const {
    return bytes(value) / (target.cost.gigabytesPerSecond.value * 1e3);
  }
  double moveOnHost(const Value *value) const {
    return bytes(value) / (hostGigabytesPerSecond * 1e3);
  }
  /// Copying from one kernel's output into another's input, and moving it onto
  /// the engine.
  double readTap(const Value *value) const {
    return 2 * moveOnHost(value) + moveOnEngine(value);
  }
  /// Only the op, with its operands available.
  double computeOnEngine(const Op &op) const {
    bool product = llvm::any_of(op.operandValues(), [](const Value *operand) {
      return operand && operand->definingOp() &&
             operand->definingOp()->is(ops::Weight);
    });
    double teraflops = product ? target.cost.convTeraflops.value
                               : target.cost.matmulTeraflops.value;
    return double(countFlops(op)) / (teraflops * 1e6);
  }
  double computeOnHost(const Op &op) const {
    double moved = 0;
    for (const Value *result : op.resultValues())
      moved += moveOnHost(result);
    for (const Value *operand : op.operandValues())
      if (operand)
        moved += moveOnHost(operand);
    return std::max(moved, double(countFlops(op)) / (hostTeraflops * 1e6));
  }

private:
  static double bytes(const Value *value) {
    return double(value->type.numBytes());
  }
  const Target &target;
};

/// A forward and a backward body; the same body for a model without repeats.
class TapPair {
public:
  TapPair(OpenedBody &both, GradientFlow &flow, PassContext &ctx)
      : forward(both), backward(both), flow(flow), ctx(ctx), costs(ctx.target),
        values(both.host()) {
    bool seen = false;
    for (const Op &op : both.host().body()) {
      seen |= flow.depends(op);
      if (seen)
        afterFirstGradient.insert(&op);
      if (int group = both.groupOf(&op); group != onHost && flow.depends(op))
        backwardGroups.insert(group);
    }
  }
  TapPair(RepeatPair repeats, OpenedBody &forward, OpenedBody &backward,
          GradientFlow &flow, PassContext &ctx)
      : repeats(repeats), forward(forward), backward(backward), flow(flow),
        ctx(ctx), costs(ctx.target),
        values(repeats, forward.host(), backward.host()) {}

  bool run();

private:
  static constexpr int onHost = OpenedBody::onHost;

  bool isCopy(const Op &op) const;
  bool decide(Op &op);
  llvm::SetVector<int> users(const Op &op) const;

  Value *counterpart(const Value *value) const;
  bool isThere(const Value *value, int user) const;
  /// Whether computing an op for `user` includes providing operand `value`.
  bool isComputed(const Value &value, int user) const {
    const Op *def = value.definingOp();
    return !(def && def->is(ops::Weight) && user != onHost) &&
           !isThere(&value, user);
  }
  double computeAgain(const Op &op, int user);
  double provide(Value *value, int user);
  void becameAvailable(const Value *value, int user);
  bool fits(const Value *value) const;

  Value *tap(Value *value);

  RepeatPair repeats{nullptr, nullptr};
  OpenedBody &forward, &backward;
  GradientFlow &flow;
  PassContext &ctx;
  TapCosts costs;
  ForwardValues values;
  llvm::DenseMap<const Value *, Value *> tapped; ///< by the forward's value
  /// Results of `provide` that still hold.
  llvm::DenseMap<std::pair<const Value *, int>, double> provided;
  llvm::DenseSet<int> backwardGroups;            ///< in a single function
  llvm::DenseSet<const Op *> afterFirstGradient; ///< in a single function
  /// How many values of the backward a forward value can replace.
  llvm::DenseMap<const Value *, unsigned> replaceable;
  uint64_t largest = 0; ///< the bytes of the largest of these
};

} // namespace

//===----------------------------------------------------------------------===//
// Required values
//===----------------------------------------------------------------------===//

/// Whether `op` is a host op of the backward that depends only on values that
/// the forward has too.
bool TapPair::isCopy(const Op &op) const {
  if (backward.groupOf(&op) != onHost || flow.depends(op) ||
      isRematerialized(op) || op.def().has(trait::SideEffect))
    return false;
  // The index of a layer has to be known before running.
  if (op.numResults() == 1 && op.result()->type == TensorType(DType::Int32))
    return false;
  // In a single function, the backward starts with the first gradient.
  return repeats.forward || afterFirstGradient.contains(&op);
}

/// The groups that use a result of `op`, including the host.
llvm::SetVector<int> TapPair::users(const Op &op) const {
  llvm::SetVector<int> result;
  for (const Value *value : op.resultValues())
    for (Operand *use = value->firstUse(); use; use = use->nextUse())
      result.insert(use->owner() ? backward.groupOf(use->owner()) : onHost);
  return result;
}

/// The forward value that can replace `value`; null for none.
Value *TapPair::counterpart(const Value *value) const {
  Value *found = values.find(value);
  // A kernel of the backward may itself wait for `value`.
  return found == value ||
                 (found && backwardGroups.contains(forward.groupOf(found)))
             ? nullptr
             : found;
}

/// Whether `value` is already available to `user`.
bool TapPair::isThere(const Value *value, int user) const {
  const Op *def = value->definingOp();
  if (!def || isRematerialized(*def))
    return true;
  if (user == onHost)
    return !isCopy(*def);
  if (backward.groupOf(def) == user)
    return true;
  for (Operand *use = value->firstUse(); use; use = use->nextUse())
    if (use->owner() && backward.groupOf(use->owner()) == user)
      return true;
  return !isCopy(*def);
}

/// Whether the forward kernel can give `value`, and its output has room for it.
bool TapPair::fits(const Value *value) const {
  int group = forward.groupOf(value);
  if (group == onHost)
    return true;
  if (value->type.dtype == DType::Bool)
    return false; // it would be passed as fp16, as what it is computed from is
  return value->type.numBytes() + forward.group(group).outputBytes <=
         ctx.target.limits.surfaceBytes.value;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// The cost of recomputing `op` for `user`, operands included.
double TapPair::computeAgain(const Op &op, int user) {
  double cost =
      user == onHost ? costs.computeOnHost(op) : costs.computeOnEngine(op);
  for (Value *operand : op.operandValues()) {
    if (!operand)
      continue;
    const Op *def = operand->definingOp();
    if (def && def->is(ops::Weight) && user != onHost)
      cost += costs.moveOnEngine(operand);
    else if (isComputed(*operand, user))
      cost += provide(operand, user);
  }
  return cost;
}

/// The cost of providing `value` to `user` in the cheaper way. Operands come
/// first, without recursion: chains of ops can be long.
double TapPair::provide(Value *value, int user) {
  llvm::SmallVector<Value *, 16> pending = {value};
  while (!pending.empty()) {
    Value *next = pending.back();
    if (provided.contains({next, user})) {
      pending.pop_back();
      continue;
    }
    const Op &op = *next->definingOp();
    size_t count = pending.size();
    for (Value *operand : op.operandValues())
      if (operand && isComputed(*operand, user) &&
          !provided.contains({operand, user}))
        pending.push_back(operand);
    if (pending.size() > count)
      continue;
    double cost = computeAgain(op, user);
    Value *kept = counterpart(next);
    if (kept && fits(kept)) {
      double keep = tapped.contains(kept) ? 0 : costs.moveOnEngine(next);
      double read = user == onHost ? 0 : costs.readTap(next);
      cost = std::min(cost, keep + read);
    }
    provided[{next, user}] = cost;
  }
  return provided.lookup({value, user});
}

/// Forgets the costs that `value` is part of: it is available to `user` now.
void TapPair::becameAvailable(const Value *value, int user) {
  llvm::SmallVector<const Value *, 8> pending = {value};
  while (!pending.empty()) {
    const Value *next = pending.pop_back_val();
    for (Operand *use = next->firstUse(); use; use = use->nextUse())
      if (const Op *op = use->owner())
        for (const Value *result : op->resultValues())
          if (provided.erase({result, user}))
            pending.push_back(result);
  }
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

/// Makes a forward value available in the backward.
Value *TapPair::tap(Value *value) {
  Value *&known = tapped[value];
  if (known)
    return known;
  int group = forward.groupOf(value);
  if (group != onHost) {
    forward.giveTap(group, value);
    // There may be too little room for others now.
    if (forward.group(group).outputBytes + largest >
        ctx.target.limits.surfaceBytes.value)
      provided.clear();
  }
  if (replaceable.lookup(value) > 1)
    provided.clear();
  if (!repeats.forward)
    return known = value;
  Function &body = forward.host();
  Value *stack = nullptr;
  for (unsigned index = repeats.forward->get(param::carried);
       index < body.numResults(); ++index)
    if (body.result(index) == value)
      stack = repeats.forward->result(index);
  if (!stack)
    stack = addCollected(repeats.forward, body, value);
  for (unsigned slot = 0; slot < repeats.backward->numOperands(); ++slot)
    if (repeats.backward->operand(slot) == stack)
      return known = backward.host().parameters()[slot + 1].get();
  known = addSliced(repeats.backward, backward.host(), stack, *value);
  flow.find(); // both repeats can be others now
  return known;
}

static std::string microseconds(double time) {
  return llvm::formatv("{0:f2} us", time).str();
}

/// Decides how each user gets the results of `op`.
bool TapPair::decide(Op &op) {
  llvm::SetVector<int> groups = users(op);
  if (groups.empty())
    return false;
  llvm::SmallVector<Value *, 2> kept;
  double write = 0, read = 0;
  for (Value *result : op.resultValues()) {
    Value *value = counterpart(result);
    if (!value || !fits(value)) {
      kept.clear();
      break;
    }
    kept.push_back(value);
    read += costs.readTap(value);
    bool free = tapped.contains(value) || !value->definingOp() ||
                forward.groupOf(value) == onHost;
    write += free ? 0 : costs.moveOnEngine(value);
  }
  bool canKeep = !kept.empty();
  if (!canKeep && groups.size() == 1 && groups[0] == onHost)
    return false; // nothing to decide
  double keep = write, again = 0;
  llvm::SmallVector<std::pair<int, bool>, 4> choices;
  for (int user : groups) {
    double compute = computeAgain(op, user);
    double take = user == onHost ? 0 : read;
    again += compute;
    keep += std::min(take, compute);
    choices.push_back({user, take <= compute});
  }
  canKeep &= keep <= again;
  llvm::SmallVector<Value *, 2> given;
  if (canKeep) {
    for (Value *value : kept)
      given.push_back(tap(value));
    ctx.count("taps");
    ctx.remark(op.range(), diag::TapExposed, displayName(*kept[0]),
               forward.groupOf(kept[0]) == onHost
                   ? "the host"
                   : forward.group(forward.groupOf(kept[0])).name,
               microseconds(keep), microseconds(again));
  }
  for (auto [user, take] : choices) {
    if (canKeep && take) {
      backward.replaceUses(op, user, given);
      if (user != onHost)
        for (const Value *value : given)
          backward.takeTap(user, value);
      continue;
    }
    // The op stays on the host, for kernels too if it cannot be in theirs.
    if (user != onHost && hasEngineTypes(op)) {
      backward.computeIn(op, user);
      for (const Value *operand : op.operandValues())
        if (operand)
          becameAvailable(operand, user);
    }
    ctx.count(user == onHost ? "host" : "recomputed");
    ctx.remark(op.range(), diag::TapRecomputed, displayName(*op.result()),
               user == onHost ? "the host" : backward.group(user).name,
               microseconds(again),
               kept.empty() ? "impossible" : microseconds(keep));
  }
  return true;
}

bool TapPair::run() {
  bool changed = false;
  std::vector<Op *> copies;
  for (Op &op : backward.host().body())
    if (isCopy(op)) {
      copies.push_back(&op);
      for (const Value *result : op.resultValues())
        if (const Value *kept = counterpart(result)) {
          ++replaceable[kept];
          largest = std::max<uint64_t>(largest, kept->type.numBytes());
        }
    }
  for (Op *op : llvm::reverse(copies)) {
    changed |= decide(*op);
    bool used = llvm::any_of(op->resultValues(), [](const Value *result) {
      return result->hasUses();
    });
    if (used)
      continue;
    backward.erase(*op);
    changed = true;
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static bool exposeTaps(OpenedModule &opened, PassContext &ctx) {
  GradientFlow flow(opened.module());
  bool changed = false;
  for (OpenedBody &body : opened.bodies()) {
    if (!flow.hasBackward(body.host()))
      continue;
    for (RepeatPair pair : repeatPairs(body.host())) {
      OpenedBody *forward = opened.body(pair.forward->get(param::body));
      OpenedBody *backward = opened.body(pair.backward->get(param::body));
      changed |= TapPair(pair, *forward, *backward, flow, ctx).run();
    }
    changed |= TapPair(body, flow, ctx).run();
  }
  return changed;
}

constinit const PassDef passes::ExposeTaps = {
    .name = "expose-taps",
    .summary = "Decide for each forward value that the backward needs whether "
               "to keep or recompute it",
    .description =
        "backward: %h = exp(%x) on the host; call @k.backward(%h, %dy)\n"
        "  ==>  forward: %y, %h = call @k(%x);  backward: call "
        "@k.backward(%h, %dy)",
    .stats = {{{"taps",
                "values that kernels return because the backward needs them"},
               {"recomputed", "ops recomputed in a backward kernel"},
               {"host", "ops recomputed on the host"}}},
    .tolerance = 0,
    .needs = Need::Bodies,
    .runOnOpened = exposeTaps,
};
