//===- LayoutChoice.cpp - the form in which ops compute -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Passes/Lower/LayoutChoice.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Rows/Softmax.h"
#include "lib/Passes/Lower/StoredValue.h"
#include "lib/Support/MinimumCut.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// The cost of a form that is not the usual one, which is that of 1 KiB.
static constexpr int64_t unusualCost = 1;

/// A reshape costs as much as 1 MiB, and its bytes: both values are live.
static int64_t reshapeCost(const Value &value) {
  constexpr int64_t start = 1024, most = int64_t(1) << 32;
  return std::min(start + int64_t(value.type.numBytes() / 1024), most);
}

static LayoutRule ruleOf(const Op &op) {
  unsigned rank =
      op.numOperands() && op.operand(0u) ? op.operand(0u)->type.rank() : 0;
  if (op.def().has(trait::Elementwise))
    return LayoutRule::Elementwise;
  if (op.is(ops::Reshape))
    return LayoutRule::Reshape;
  if (op.is(ops::Matmul) && op.result()->type.rank() >= 2 &&
      op.result()->type.rank() <= engineRank && rank >= 2)
    return LayoutRule::Matmul;
  if (rank == 0 || rank >= engineRank)
    return LayoutRule::KeepShapes;
  if (op.def().constantSlot(param::axes) >= 0 &&
      op.def().constantSlot(param::keepDims) >= 0)
    return LayoutRule::Reduction;
  if (op.is(ops::Transpose))
    return LayoutRule::Transpose;
  if (op.is(ops::SliceBySize) && op.constant(param::begin))
    return LayoutRule::SliceBySize;
  if (op.is(ops::LayerNorm))
    return LayoutRule::LayerNorm;
  if (op.is(ops::Softmax) || op.is(ops::Concat) || op.is(ops::Split))
    return LayoutRule::Axis;
  return LayoutRule::KeepShapes;
}

/// Whether values of this rank have two different forms.
static bool hasForms(const Value &value) {
  return value.type.rank() == 2 || value.type.rank() == 3;
}

/// The value that `value` is a reshape of: reshapes of reshapes become one.
static const Value &unreshaped(const Value &value) {
  const Value *origin = &value;
  while (origin->definingOp() && origin->definingOp()->is(ops::Reshape))
    origin = origin->definingOp()->operand(0u);
  return *origin;
}

static bool dropsAxes(const Op &op) { return !op.get(param::keepDims); }

namespace {

/// `Channels` is the source's side of the cut, `Rows` the sink's.
class FormChooser {
public:
  FormChooser(const Function &function, bool keepsInterface)
      : function(function), keepsInterface(keepsInterface) {}

  LayoutChoice run();

private:
  using Node = MinimumCut::Node;
  static constexpr Node channels = MinimumCut::source, rows = MinimumCut::sink;
  static Node fixedAt(LayoutForm form) {
    return form == LayoutForm::Rows ? rows : channels;
  }

  /// A node that is free to choose, with the rank of its values.
  Node freeNode(unsigned rank);
  Node nodeOf(const Op &op, LayoutRule rule);
  Node nodeOf(const Value &value) const;
  /// Whether the value has its original shape, and is reshaped to either form.
  bool isPlain(const Value &value) const;

  void addCosts(const Op &op);
  void addReduction(const Op &op);
  void addReshape(const Op &op);
  void addShapeCost(Node node, int64_t cost,
                    llvm::function_ref<Shape(LayoutForm)> shape,
                    llvm::ArrayRef<int64_t> wanted);
  /// Calls `need(node)` for the form in which each use needs the value.
  void eachNeed(const Value &value, llvm::function_ref<void(Node)> need) const;
  void addUses(const Value &value);

  const Function &function;
  bool keepsInterface;
  MinimumCut cut;
  llvm::DenseMap<const Op *, LayoutRule> rules;
  llvm::DenseMap<const Op *, Node> nodes;
  llvm::DenseMap<const Value *, Node> parameters;
};

} // namespace

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

FormChooser::Node FormChooser::freeNode(unsigned rank) {
  Node node = cut.addNode();
  if (usualForm(rank) == LayoutForm::Rows)
    cut.addEdge(node, rows, unusualCost);
  else
    cut.addEdge(channels, node, unusualCost);
  return node;
}

/// Arithmetic on matrices has their rows as channels, which the engine works on
/// in parallel. Ops that only move elements have the form that is cheapest.
FormChooser::Node FormChooser::nodeOf(const Op &op, LayoutRule rule) {
  const Value *value = op.numResults() ? op.result(0) : nullptr;
  switch (rule) {
  case LayoutRule::Matmul:
    return rows;
  case LayoutRule::Elementwise:
    if (value->type.rank() >= engineRank)
      return rows;
    return value->type.rank() == 3 ? freeNode(3) : channels;
  case LayoutRule::Reduction:
  case LayoutRule::LayerNorm:
  case LayoutRule::Axis:
    value = op.operand(0u);
    return value->type.rank() == 3 ? freeNode(3) : channels;
  case LayoutRule::Transpose:
  case LayoutRule::SliceBySize:
  case LayoutRule::Reshape:
  case LayoutRule::KeepShapes:
    return value && hasForms(*value) ? freeNode(value->type.rank()) : channels;
  }
  return channels;
}

FormChooser::Node FormChooser::nodeOf(const Value &value) const {
  const Op *op = value.definingOp();
  if (!op)
    return parameters.lookup(&value);
  if (rules.lookup(op) == LayoutRule::Reduction && dropsAxes(*op))
    return fixedAt(usualForm(value.type.rank()));
  return nodes.lookup(op);
}

bool FormChooser::isPlain(const Value &value) const {
  const Op *op = value.definingOp();
  return hasForms(value) &&
         (op ? rules.lookup(op) == LayoutRule::KeepShapes : keepsInterface);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Adds `cost` for each form in which `shape` is not `wanted`.
void FormChooser::addShapeCost(Node node, int64_t cost,
                               llvm::function_ref<Shape(LayoutForm)> shape,
                               llvm::ArrayRef<int64_t> wanted) {
  bool isChannels = shape(LayoutForm::Channels) == Shape(wanted);
  bool isRows = shape(LayoutForm::Rows) == Shape(wanted);
  if (isChannels && !isRows)
    cut.addEdge(channels, node, cost);
  if (isRows && !isChannels)
    cut.addEdge(node, rows, cost);
}

void FormChooser::addReduction(const Op &op) {
  if (!dropsAxes(op) || op.result()->type.isScalar())
    return;
  Shape kept = op.operand(0u)->type.shape;
  for (int64_t axis : op.get(param::axes))
    kept[axis < 0 ? axis + int64_t(kept.size()) : axis] = 1;
  const TensorType &type = op.result()->type;
  addShapeCost(
      nodes.lookup(&op), reshapeCost(*op.result()),
      [&](LayoutForm form) { return layoutShape(kept, form); },
      layoutShape(type.shape, usualForm(type.rank())));
}

/// A reshape between values whose layouts have the same shape vanishes.
void FormChooser::addReshape(const Op &op) {
  const Value &to = *op.result(), &from = unreshaped(to);
  auto isReshape = [](const Operand *use) {
    return use->owner() && use->owner()->is(ops::Reshape);
  };
  bool isUsed = false;
  for (const Operand *use = to.firstUse(); use; use = use->nextUse())
    isUsed |= !isReshape(use);
  if (!isUsed || isStored(from) || isPlain(from))
    return;
  auto formsOf = [](const Value &value) {
    return [&](LayoutForm form) { return layoutShape(value.type.shape, form); };
  };
  Node toNode = nodeOf(to), fromNode = nodeOf(from);
  bool fromForms = hasForms(from) && fromNode != channels && fromNode != rows;
  if (!fromForms) {
    LayoutForm form =
        fromNode == rows ? LayoutForm::Rows : LayoutForm::Channels;
    addShapeCost(toNode, reshapeCost(to), formsOf(to), formsOf(from)(form));
    return;
  }
  if (!hasForms(to)) {
    addShapeCost(fromNode, reshapeCost(to), formsOf(from),
                 layoutShape(to.type.shape, LayoutForm::Rows));
    return;
  }
  bool isSame = true;
  for (LayoutForm form : {LayoutForm::Channels, LayoutForm::Rows})
    isSame &= formsOf(to)(form) == formsOf(from)(form);
  if (isSame) {
    cut.addEdge(fromNode, toNode, reshapeCost(to));
    cut.addEdge(toNode, fromNode, reshapeCost(to));
  }
}

void FormChooser::addCosts(const Op &op) {
  if (rules.lookup(&op) == LayoutRule::Reduction)
    addReduction(op);
  if (op.is(ops::Reshape))
    addReshape(op);
}

void FormChooser::eachNeed(const Value &value,
                           llvm::function_ref<void(Node)> need) const {
  for (const Operand *use = value.firstUse(); use; use = use->nextUse()) {
    const Op *user = use->owner();
    if (!user) {
      if (!keepsInterface)
        need(fixedAt(usualForm(value.type.rank())));
      continue;
    }
    switch (rules.lookup(user)) {
    case LayoutRule::KeepShapes:
    case LayoutRule::Reshape:
      break;
    case LayoutRule::LayerNorm:
      if (user->operand(0u) == &value)
        need(nodes.lookup(user));
      break;
    default:
      need(nodes.lookup(user));
    }
  }
}

/// A value that some use needs in another form than its own is reshaped once.
void FormChooser::addUses(const Value &value) {
  if (!hasForms(value) || isStored(value))
    return;
  llvm::SmallVector<Node, 4> needs;
  eachNeed(value, [&](Node node) { needs.push_back(node); });
  Node own = nodeOf(value);
  int64_t cost = reshapeCost(value);
  if (needs.size() == 1) {
    cut.addEdge(own, needs[0], cost);
    cut.addEdge(needs[0], own, cost);
    return;
  }
  if (needs.empty())
    return;
  // `anyRows` is on the side of `Rows` when one of the needs is, and
  // `anyChannels` on the other.
  Node anyRows = cut.addNode(), anyChannels = cut.addNode();
  cut.addEdge(own, anyRows, cost);
  cut.addEdge(anyChannels, own, cost);
  for (Node need : needs) {
    cut.addEdge(anyRows, need, MinimumCut::infinite);
    cut.addEdge(need, anyChannels, MinimumCut::infinite);
  }
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

LayoutChoice FormChooser::run() {
  uint64_t size = 0;
  for (const auto &param : function.parameters())
    parameters[param.get()] = keepsInterface && hasForms(*param)
                                  ? freeNode(param->type.rank())
                                  : fixedAt(usualForm(param->type.rank()));
  for (const Op &op : function.body()) {
    rules[&op] = ruleOf(op);
    nodes[&op] = nodeOf(op, rules[&op]);
    size += 1 + op.numOperands();
  }
  for (const auto &param : function.parameters())
    addUses(*param);
  for (const Op &op : function.body()) {
    addCosts(op);
    for (const Value *result : op.resultValues())
      addUses(*result);
  }
  // A search that takes long ends with the usual forms.
  bool isSolved = cut.solve(MinimumCut::stepsFor(size));
  LayoutChoice choice;
  for (const Op &op : function.body()) {
    LayoutRule rule = rules.lookup(&op);
    Node node = nodes.lookup(&op);
    bool isRows = node == rows;
    if (node != rows && node != channels) {
      const Value *value =
          rule == LayoutRule::Reduction ? op.operand(0u) : op.result(0);
      isRows = isSolved ? !cut.isOnSourceSide(node)
                        : usualForm(value->type.rank()) == LayoutForm::Rows;
    }
    choice[&op] = {rule, isRows ? LayoutForm::Rows : LayoutForm::Channels};
  }
  return choice;
}

LayoutChoice anec::chooseLayout(const Function &function, bool keepsInterface) {
  return FormChooser(function, keepsInterface).run();
}
