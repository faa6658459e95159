//===- ChannelsFirstChoice.cpp - ops whose channels come first ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AttentionHeads.h"
#include "ChannelsFirst.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Rows/Softmax.h"
#include "lib/Support/MinimumCut.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Whether values of this rank can have channels first.
static bool isSequence(const Value &value) {
  return value.type.rank() == 3 || value.type.rank() == 4;
}

bool anec::isSequenceConstant(const Value &value) {
  const Op *op = value.definingOp();
  return op && op->is(ops::Const) && bitWidth(value.type.dtype) >= 8 &&
         op->constant(param::val)->storedDType() == value.type.dtype;
}

/// Whether all operands have the rank of the result, but for constants that
/// are broadcast to it and scalars.
static bool hasSameRanks(const Op &op) {
  unsigned rank = op.result(0)->type.rank();
  return llvm::all_of(op.operandValues(), [&](const Value *value) {
    if (!value || value->type.isScalar())
      return true;
    return isSequenceConstant(*value)
               ? value->type.rank() <= rank
               : value->type.rank() == rank && isFloat(value->type.dtype);
  });
}

/// Whether the op has the same meaning on renamed axes.
static bool onlyNamesAxes(const Op &op) {
  if (op.def().has(trait::Elementwise))
    return hasSameRanks(op);
  if (op.is(ops::Softmax) || op.is(ops::Concat) || op.is(ops::Split))
    return hasSameRanks(op);
  if (op.is(ops::LayerNorm))
    return op.get(param::axes).size() == 1;
  if (op.def().has(trait::Reduction) &&
      op.def().constantSlot(param::axes) >= 0 && op.constant(param::axes) &&
      op.def().constantSlot(param::keepDims) >= 0)
    return op.get(param::keepDims);
  return op.is(ops::SliceBySize) && op.constant(param::begin) &&
         op.constant(param::size);
}

/// Whether the op multiplies sequences by a constant.
static bool isProduct(const Op &op) {
  auto isMatrix = [&](const Value *value) {
    return value && isSequenceConstant(*value) && value->type.rank() == 2 &&
           value->type.dtype == op.result()->type.dtype;
  };
  if (op.result()->type.rank() != 3 || op.operand(0u)->type.rank() != 3 ||
      isSequenceConstant(*op.operand(0u)))
    return false;
  if (op.is(ops::Linear)) {
    const Value *bias = op.operand(param::bias);
    return isMatrix(op.operand(param::weight)) &&
           (!bias || isSequenceConstant(*bias));
  }
  return op.is(ops::Matmul) && isMatrix(op.operand(1u)) &&
         !op.get(param::transposeX);
}

/// Whether a transpose exchanges the last two axes of sequences.
static bool exchangesLast(const Op &op) {
  if (!op.is(ops::Transpose))
    return false;
  Shape perm = op.get(param::perm);
  for (int64_t &axis : perm)
    axis += axis < 0 ? int64_t(perm.size()) : 0;
  return perm == Shape{0, 2, 1};
}

SequenceRule anec::sequenceRuleOf(const Op &op) {
  if (op.numResults() == 0 || op.numOperands() == 0 || !op.operand(0u) ||
      !llvm::all_of(op.resultValues(), [](const Value *value) {
        return isSequence(*value) && isFloat(value->type.dtype);
      }))
    return SequenceRule::ChannelsLast;
  if ((op.is(ops::Linear) || op.is(ops::Matmul)) && isProduct(op))
    return SequenceRule::Product;
  if (op.is(ops::Matmul)) {
    bool isOfActivations = hasSameRanks(op) &&
                           !isSequenceConstant(*op.operand(0u)) &&
                           !isSequenceConstant(*op.operand(1u));
    return isOfActivations ? SequenceRule::Matmul : SequenceRule::ChannelsLast;
  }
  if (splitOfHeads(op))
    return SequenceRule::SplitHeads;
  if (joinOfHeads(op))
    return SequenceRule::JoinHeads;
  if (exchangesLast(op))
    return SequenceRule::Transpose;
  bool hasAxes = op.def().has(trait::Elementwise) ||
                 op.operand(0u)->type.rank() == op.result(0)->type.rank();
  return hasAxes && onlyNamesAxes(op) ? SequenceRule::Renamed
                                      : SequenceRule::ChannelsLast;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

namespace {

/// Channels first are the source's side of the cut. Costs are in nanoseconds.
class SequenceChooser {
public:
  SequenceChooser(const Function &function, const Target &target)
      : function(function), target(target) {}

  llvm::DenseSet<const Op *> run();

private:
  using Node = MinimumCut::Node;
  static constexpr Node first = MinimumCut::source, last = MinimumCut::sink;

  int64_t transposeCost(const Value &value) const;
  int64_t productCost(const Op &op) const;
  Node nodeOf(const Value &value) const {
    return value.definingOp() ? nodes.lookup(value.definingOp()) : last;
  }
  void addCosts(const Op &op);
  void addUses(const Value &value);
  bool eachNeed(const Value &value, llvm::function_ref<void(Node)> need) const;

  const Function &function;
  const Target &target;
  MinimumCut cut;
  llvm::DenseMap<const Op *, SequenceRule> rules;
  llvm::DenseMap<const Op *, Node> nodes;
};

} // namespace

/// Reading and writing the value, and a task.
int64_t SequenceChooser::transposeCost(const Value &value) const {
  constexpr double taskNanoseconds = 1000;
  double rate = std::max(double(target.cost.elementGigabytesPerSecond), 1.0);
  return int64_t(taskNanoseconds + 2 * double(value.type.numBytes()) / rate);
}

/// What a product takes longer than a convolution.
int64_t SequenceChooser::productCost(const Op &op) const {
  const CostAnchors &cost = target.cost;
  double slower =
      1 / double(cost.matmulTeraflops) - 1 / double(cost.convTeraflops);
  return int64_t(double(countFlops(op)) * std::max(slower, 0.0) / 1000);
}

void SequenceChooser::addCosts(const Op &op) {
  Node node = nodes.lookup(&op);
  switch (rules.lookup(&op)) {
  case SequenceRule::Product:
    cut.addEdge(first, node, productCost(op));
    break;
  case SequenceRule::SplitHeads:
  case SequenceRule::JoinHeads: {
    // Nothing moves when both sides have channels first.
    const Op &inner = *op.operand(0u)->definingOp();
    Node both = cut.addNode();
    cut.addEdge(both, node, MinimumCut::infinite);
    cut.addEdge(both, nodeOf(*inner.operand(0u)), MinimumCut::infinite);
    cut.addEdge(first, both, transposeCost(*op.result()));
    break;
  }
  case SequenceRule::Transpose:
    cut.addEdge(first, node == last ? nodeOf(*op.operand(0u)) : node,
                transposeCost(*op.result()));
    break;
  case SequenceRule::ChannelsLast:
  case SequenceRule::Renamed:
  case SequenceRule::Matmul:
    break;
  }
}

/// Calls `need` for the side of every use that takes only one.
bool SequenceChooser::eachNeed(const Value &value,
                               llvm::function_ref<void(Node)> need) const {
  bool any = false;
  auto add = [&](Node node) {
    need(node);
    any = true;
  };
  for (const Operand *use = value.firstUse(); use; use = use->nextUse()) {
    const Op *user = use->owner();
    if (!user) {
      add(last);
      continue;
    }
    switch (rules.lookup(user)) {
    case SequenceRule::Renamed:
    case SequenceRule::Product:
      add(nodes.lookup(user));
      break;
    case SequenceRule::ChannelsLast: {
      // The first of two ops that cut into heads or join them takes both.
      const Op *next =
          user->numResults() == 1 ? user->result()->user() : nullptr;
      bool isPart = next && user->result()->hasOneUse() &&
                    (splitOfHeads(*next) == user || joinOfHeads(*next) == user);
      if (!isPart)
        add(last);
      break;
    }
    case SequenceRule::Transpose:
      if (nodes.lookup(user) != last)
        add(last);
      break;
    case SequenceRule::Matmul:
    case SequenceRule::SplitHeads:
    case SequenceRule::JoinHeads:
      break;
    }
  }
  return any;
}

void SequenceChooser::addUses(const Value &value) {
  if (!isSequence(value) || isSequenceConstant(value))
    return;
  Node own = nodeOf(value);
  int64_t cost = transposeCost(value);
  Node anyLast = cut.addNode(), anyFirst = cut.addNode();
  bool isUsed = eachNeed(value, [&](Node need) {
    cut.addEdge(anyLast, need, MinimumCut::infinite);
    cut.addEdge(need, anyFirst, MinimumCut::infinite);
  });
  if (!isUsed)
    return;
  cut.addEdge(own, anyLast, cost);
  cut.addEdge(anyFirst, own, cost);
}

llvm::DenseSet<const Op *> SequenceChooser::run() {
  uint64_t size = 0;
  bool hasProduct = false;
  for (const Op &op : function.body()) {
    SequenceRule rule = rules[&op] = sequenceRuleOf(op);
    bool isFree = rule != SequenceRule::ChannelsLast;
    // Of a transpose, one side is free.
    if (rule == SequenceRule::Transpose)
      isFree = nodeOf(*op.operand(0u)) == last;
    nodes[&op] = isFree ? cut.addNode() : last;
    if (isFree)
      cut.addEdge(nodes[&op], last, 1);
    hasProduct |= rule == SequenceRule::Product;
    size += 1 + op.numOperands();
  }
  llvm::DenseSet<const Op *> chosen;
  if (!hasProduct)
    return chosen;
  for (const auto &param : function.parameters())
    addUses(*param);
  for (const Op &op : function.body()) {
    addCosts(op);
    for (const Value *result : op.resultValues())
      addUses(*result);
  }
  if (!cut.solve(MinimumCut::stepsFor(size)))
    return chosen;
  for (const Op &op : function.body())
    if (nodes.lookup(&op) != last && cut.isOnSourceSide(nodes.lookup(&op)))
      chosen.insert(&op);
  return chosen;
}

llvm::DenseSet<const Op *> anec::chooseChannelsFirst(const Function &function,
                                                     const Target &target) {
  return SequenceChooser(function, target).run();
}
