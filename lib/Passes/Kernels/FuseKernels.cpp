//===- FuseKernels.cpp - as few dispatches as the target allows -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Fusing two kernels saves a dispatch, and values passed between them can stay
/// on the engine. Kernels stay separate when the host runs between them, when
/// the result would exceed a limit of the target, or when live values would no
/// longer fit on the chip, so that the engine would wait for memory.
///
//===----------------------------------------------------------------------===//

#include "OpChains.h"
#include "OpenedModule.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Passes/Diags.h"
#include "lib/Support/FileName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace anec;

namespace {

/// The size of a kernel of these ops.
struct Size {
  unsigned ops = 0;
  uint64_t weightBytes = 0; ///< all weights
  uint64_t inputBytes = 0;  ///< without weights
  uint64_t outputBytes = 0;
  uint64_t workingSet = 0; ///< live values and the weights of one op
};

} // namespace

static Size sizeOf(llvm::ArrayRef<Op *> ops,
                   llvm::function_ref<bool(const Op *)> inside) {
  Size size;
  llvm::DenseSet<const Value *> inputs, weights;
  llvm::DenseMap<const Value *, const Op *> lastUse;
  for (const Op *op : ops)
    for (const Value *operand : op->operandValues()) {
      if (!operand)
        continue;
      const Op *def = operand->definingOp();
      lastUse[operand] = op;
      if (def && isRematerialized(*def)) {
        if (def->is(ops::Weight) && weights.insert(operand).second)
          size.weightBytes += operand->type.numBytes();
      } else if (!inside(def) && inputs.insert(operand).second) {
        size.inputBytes += operand->type.numBytes();
      }
    }
  uint64_t live = size.inputBytes;
  for (const Op *op : ops) {
    uint64_t weightsOfOp = 0;
    for (const Value *result : op->resultValues()) {
      live += result->type.numBytes();
      for (Operand *use = result->firstUse(); use; use = use->nextUse())
        if (!use->owner() || !inside(use->owner())) {
          size.outputBytes += result->type.numBytes();
          lastUse[result] = nullptr; // live to the end
          break;
        }
    }
    for (const Value *operand : op->operandValues())
      if (operand && weights.contains(operand))
        weightsOfOp += operand->type.numBytes();
    size.workingSet = std::max(size.workingSet, live + weightsOfOp);
    llvm::SmallPtrSet<const Value *, 4> freed;
    for (const Value *operand : op->operandValues())
      if (operand && !weights.contains(operand) && freed.insert(operand).second)
        if (auto it = lastUse.find(operand);
            it != lastUse.end() && it->second == op &&
            (inputs.contains(operand) || inside(operand->definingOp())))
          live -= operand->type.numBytes();
  }
  size.ops = ops.size();
  return size;
}

/// Why the two cannot be fused; empty when they can.
static std::string reasonAgainst(const OpenedBody &body, const OpChains &chains,
                                 int lhs, int rhs, const Target &target) {
  Value *left = body.instanceOf(lhs), *right = body.instanceOf(rhs);
  if (left && right && left != right)
    return "they use the weights of different instances";
  auto inside = [&](const Op *op) {
    return op && (body.groupOf(op) == lhs || body.groupOf(op) == rhs);
  };
  std::vector<Op *> ops = body.ops({lhs, rhs});
  if (chains.returns(ops, inside) || !body.canMerge(lhs, rhs))
    return "something else comes in between";
  Size size = sizeOf(ops, inside);
  const Limits &limits = target.limits;
  auto beyond = [](const char *what, uint64_t value, uint64_t limit) {
    return value <= limit
               ? std::string()
               : std::string(what) + " would be " + std::to_string(value) +
                     ", more than the target's " + std::to_string(limit);
  };
  for (std::string reason :
       {beyond("its ops", size.ops, limits.opsPerProgram.value),
        beyond("the bytes of its weights", size.weightBytes,
               limits.weightBytes.value),
        beyond("the bytes of its input", size.inputBytes,
               limits.surfaceBytes.value),
        beyond("the bytes of its output", size.outputBytes,
               limits.surfaceBytes.value),
        beyond("the bytes live at a time", size.workingSet,
               limits.sramBytes.value)})
    if (!reason.empty())
      return reason;
  return "";
}

/// The other groups with an op that uses a result of `group` or a value that
/// `group` uses, in order.
static std::vector<int> neighboursOf(const OpenedBody &body, int group) {
  llvm::DenseSet<const Value *> seen;
  std::vector<int> result;
  auto addUsers = [&](const Value *value) {
    if (!value || !seen.insert(value).second ||
        (value->definingOp() && isRematerialized(*value->definingOp())))
      return;
    for (const Operand *use = value->firstUse(); use; use = use->nextUse()) {
      int user = use->owner() ? body.groupOf(use->owner()) : OpenedBody::onHost;
      if (user != OpenedBody::onHost && user != group)
        result.push_back(user);
    }
  };
  for (const Op *op : body.ops(group)) {
    llvm::for_each(op->operandValues(), addUsers);
    llvm::for_each(op->resultValues(), addUsers);
  }
  llvm::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// `a.b` of `a` and `b`. For parts of one layer, the shorter name: it is the
/// prefix of the others. A kernel of many layers has the names of the first: a
/// name is one of files, with what tells apart kernels that share it.
static std::string fusedName(const Group &left, const Group &right) {
  constexpr size_t longest =
      mostFileName - llvm::StringLiteral(".backward_1000000.mil").size();
  if (left.owner == right.owner && left.role == right.role)
    return left.name.size() <= right.name.size() ? left.name : right.name;
  std::string name = left.name + "." + right.name;
  return name.size() <= longest ? name : left.name;
}

/// Fuses others into group `lhs`, as many as it can take.
static bool fuseInto(OpenedBody &body, const OpChains &chains, int lhs,
                     PassContext &ctx) {
  bool changed = false;
  std::vector<int> neighbours = neighboursOf(body, lhs);
  for (size_t next = 0; next < neighbours.size();) {
    int rhs = neighbours[next++];
    std::string left = body.group(lhs).name, right = body.group(rhs).name;
    std::string reason = reasonAgainst(body, chains, lhs, rhs, ctx.target);
    SourceRange range = body.ops(rhs).front()->range();
    if (!reason.empty()) {
      ctx.remark(range, diag::KernelsNotFused, left, right, reason);
      continue;
    }
    ctx.remark(range, diag::KernelsFused, left, right);
    std::string fused = fusedName(body.group(lhs), body.group(rhs));
    body.merge(lhs, rhs);
    body.group(lhs).name = fused;
    ctx.count("fused");
    changed = true;
    neighbours = neighboursOf(body, lhs);
    next = 0;
  }
  return changed;
}

static bool fuseKernels(OpenedModule &opened, PassContext &ctx) {
  bool changed = false;
  for (OpenedBody &body : opened.bodies()) {
    OpChains chains(body.host());
    for (unsigned group = 0; group < body.numGroups(); ++group)
      changed |= fuseInto(body, chains, int(group), ctx);
  }
  return changed;
}

constinit const PassDef passes::FuseKernels = {
    .name = "fuse-kernels",
    .summary = "Fuse adjacent kernels within the limits of the target",
    .description = "%a = call @k(%x); %b = call @l(%a)\n"
                   "  ==>  %b = call @k.l(%x)",
    .stats = {{{"fused", "kernels fused into another"}}},
    .tolerance = 0,
    .needs = Need::Bodies,
    .runOnOpened = fuseKernels,
};
