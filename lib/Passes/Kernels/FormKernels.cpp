//===- FormKernels.cpp - from layers to engine programs -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A layer becomes one kernel, unless it has products of activations that
/// gradients run through: the backward of attention. These, and the ops between
/// them, have no weights, so that one program serves all layers; they are split
/// from the projections before and after:
///
///   @attention.backward:  matmul(wo) | dp, ds, dq, dk, dv | matmul(wq), ...
///   ==> @attention.backward.wo, @attention.backward,
///       @attention.backward.wk_wq_wv
///
/// A forward is not split, whether it attends with `sdpa` or with products.
///
//===----------------------------------------------------------------------===//

#include "OpenedModule.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/Names.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Matmul.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace anec;

namespace {

/// Cuts the ops of a group in three, in an order in which each part can run as
/// a unit. No value leads back, because of what the parts are:
///
///   before  ops that feed a product with weights which feeds the core, unless
///           they follow the core: closed under operands
///   after   ops that do not feed the core and follow a product with weights
///           which follows the core, or are independent of the core, as long
///           as all their users are in this part: closed under users
///   core    the rest
class CoreCut {
public:
  CoreCut(const OpenedBody &body, int group) : ops(body.ops(group)) {
    findDerived();
    findFollowers();
    findFeeders();
    findAfter();
  }

  bool hasCore() const {
    return llvm::any_of(ops, [&](const Op *op) { return isCore(*op); });
  }
  enum Part { Before, Core, After };
  Part partOf(const Op *op) const {
    if (feedsWeighted.contains(op) && !isCore(*op) && !follows.contains(op))
      return Before;
    return after.contains(op) ? After : Core;
  }
  const std::vector<Op *> &all() const { return ops; }

private:
  /// Computed only from weights and constants, such as a transposed weight.
  bool isDerived(const Value *value) const {
    const Op *def = value ? value->definingOp() : nullptr;
    return def && (isRematerialized(*def) || derived.contains(def));
  }
  bool isWeighted(const Op &op) const {
    return llvm::any_of(op.operandValues(), [&](const Value *operand) {
      const Op *def = operand ? operand->definingOp() : nullptr;
      return def && (def->is(ops::Weight) || derived.contains(def));
    });
  }
  /// A product of activations.
  bool isCore(const Op &op) const {
    return op.is(ops::Matmul) && !isDerived(op.operand(0u)) &&
           !isDerived(op.operand(1u));
  }

  void findDerived() {
    for (const Op *op : ops)
      if (op->numOperands() != 0 &&
          llvm::all_of(op->operandValues(), [&](const Value *operand) {
            return !operand || isDerived(operand);
          }))
        derived.insert(op);
  }
  void findFollowers() {
    for (const Op *op : ops) {
      for (const Value *operand : op->operandValues())
        if (const Op *def = operand ? operand->definingOp() : nullptr) {
          if (isCore(*def) || follows.contains(def))
            follows.insert(op);
          if (followsWeighted.contains(def))
            followsWeighted.insert(op);
        }
      if (isWeighted(*op) && follows.contains(op))
        followsWeighted.insert(op);
    }
  }
  void findFeeders() {
    for (const Op *op : llvm::reverse(ops)) {
      if (isWeighted(*op) && feeds.contains(op))
        feedsWeighted.insert(op);
      for (const Value *operand : op->operandValues())
        if (const Op *def = operand ? operand->definingOp() : nullptr) {
          if (isCore(*op) || feeds.contains(op))
            feeds.insert(def);
          if (feedsWeighted.contains(op))
            feedsWeighted.insert(def);
        }
    }
  }
  void findAfter() {
    llvm::DenseSet<const Op *> used; // by an op that is not in this part
    for (const Op *op : llvm::reverse(ops)) {
      bool independent = !follows.contains(op);
      if (!isCore(*op) && !feeds.contains(op) && !used.contains(op) &&
          (independent || followsWeighted.contains(op))) {
        after.insert(op);
        continue;
      }
      for (const Value *operand : op->operandValues())
        if (operand && operand->definingOp())
          used.insert(operand->definingOp());
    }
  }

  std::vector<Op *> ops;
  llvm::DenseSet<const Op *> derived;
  llvm::DenseSet<const Op *> follows, feeds; ///< the core
  llvm::DenseSet<const Op *> followsWeighted, feedsWeighted;
  llvm::DenseSet<const Op *> after;
};

} // namespace

/// What a kernel is called by a weight of it: `wq`. A list of the names of
/// instances is no part of a name.
static std::string partOfName(const Op &weight) {
  llvm::StringRef member = memberOf(weight.get(param::name));
  return sanitizeName(canBeInstance(member) ? member : weight.result()->name,
                      "weight");
}

/// Longer names of kernels are hard to read, and long ones no file can have.
static constexpr size_t mostCharacters = 60;

/// `wk_wq_wv`: the matrices that the ops multiply with; `4_matrices` where
/// their names are long, as those of programs that others wrote can be.
static std::string matrixNames(llvm::ArrayRef<Op *> ops) {
  std::set<std::string> names;
  for (const Op *op : ops)
    for (const Value *operand : op->operandValues()) {
      const Op *def = operand ? operand->definingOp() : nullptr;
      if (def && def->is(ops::Weight) && op->is(ops::Matmul))
        names.insert(partOfName(*def));
    }
  if (names.empty())
    return "rest";
  std::string joined = llvm::join(names, "_");
  return joined.size() <= mostCharacters
             ? joined
             : std::to_string(names.size()) + "_matrices";
}

static void cut(OpenedBody &body, int group, PassContext &ctx) {
  if (body.group(group).role != FunctionRole::Backward)
    return;
  CoreCut parts(body, group);
  if (!parts.hasCore())
    return;
  std::vector<Op *> before, after;
  for (Op *op : parts.all()) {
    CoreCut::Part part = parts.partOf(op);
    if (part == CoreCut::Before)
      before.push_back(op);
    else if (part == CoreCut::After)
      after.push_back(op);
  }
  std::string name = body.group(group).name;
  for (auto *part : {&before, &after}) {
    if (part->empty() || part->size() == parts.all().size())
      continue;
    int number = body.addPart(group, name + "." + matrixNames(*part));
    for (Op *op : *part)
      body.assign(op, number);
    ctx.count("cuts");
  }
}

static bool formKernels(OpenedModule &opened, PassContext &ctx) {
  bool changed = false;
  for (OpenedBody &body : opened.bodies()) {
    int groups = body.numGroups();
    for (int group = 0; group < groups; ++group) {
      if (body.group(group).kind != FunctionKind::Layer)
        continue;
      body.group(group).kind = FunctionKind::Kernel;
      cut(body, group, ctx);
      changed = true;
    }
  }
  return changed;
}

constinit const PassDef passes::FormKernels = {
    .name = "form-kernels",
    .summary = "Split layers into kernels around the products of activations "
               "that gradients pass through",
    .description = "layer @l.backward { projection, attention, projections }\n"
                   "  ==>  kernel @l.backward.wo, kernel @l.backward, kernel "
                   "@l.backward.wk_wq_wv",
    .stats = {{{"cuts", "kernels split off"}}},
    .tolerance = 0,
    .needs = Need::Bodies,
    .runOnOpened = formKernels,
};
