//===- CostGraphs.cpp - graphs of programs and schedules ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/CostGraphs.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Matmul.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace anec;

/// Constants and weights are not drawn: there are too many.
static bool isShown(const Op &op) {
  return !op.is(ops::Const) && !op.is(ops::Weight) &&
         !op.def().has(trait::Constexpr);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static std::string titleOf(const Op &op) {
  std::string title;
  for (const Value *result : op.resultValues())
    title += result->name + ": " + result->type.str() + "; ";
  return title + std::to_string(countFlops(op)) + " FLOP";
}

LayeredDrawing anec::drawProgram(const Function &function) {
  LayeredDrawing drawing;
  llvm::DenseMap<const Value *, unsigned> makers;
  auto connect = [&](const Value *value, unsigned to) {
    if (value && makers.count(value))
      drawing.addEdge(makers.lookup(value), to);
  };
  for (const auto &param : function.parameters())
    makers[param.get()] =
        drawing.addNode({param->name, "", param->type.str(), "input"});
  for (const Op &op : function.body()) {
    if (!isShown(op))
      continue;
    bool isProduct =
        op.is(ops::Conv) || op.is(ops::ConvTranspose) || op.is(ops::Matmul);
    std::string detail =
        op.numResults() ? shapeToString(op.result()->type.shape) : "";
    unsigned node = drawing.addNode({op.def().name.str(), detail, titleOf(op),
                                     isProduct        ? "product"
                                     : countFlops(op) ? "op"
                                                      : "move"});
    for (const Value *operand : op.operandValues())
      connect(operand, node);
    for (const Value *result : op.resultValues())
      makers[result] = node;
  }
  for (unsigned i = 0; i < function.numResults(); ++i) {
    const Value *result = function.result(i);
    unsigned node = drawing.addNode(
        {function.resultNames()[i], "", result->type.str(), "output"});
    connect(result, node);
  }
  return drawing;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

namespace {

/// The graph of a host function: its calls, and groups of the ops in between.
class ScheduleGraph {
public:
  ScheduleGraph(const Function &host, const RunCost &run)
      : host(host), run(run) {
    findStages();
    for (const Op &op : host.body())
      if (isShown(op) && op.numResults() == 0)
        ++gradients[op.numOperands() ? groupOf(op) : Group()];
  }

  LayeredDrawing draw();

private:
  /// The largest number of calls on a path from an input, and whether a call or
  /// a result depends on it; otherwise only gradients do.
  using Group = std::pair<unsigned, bool>;

  static bool isCall(const Op &op) {
    return op.is(ops::Call) || op.is(ops::Repeat);
  }
  Group groupOf(const Op &op) const {
    return {stages.lookup(&op), feeds.contains(&op)};
  }
  void findStages();
  void addCall(const Op &op);
  unsigned nodeOf(const Op &op);

  const Function &host;
  const RunCost &run;
  llvm::DenseMap<const Op *, unsigned> stages;
  llvm::DenseSet<const Op *> feeds; ///< ops that a call or a result depends on
  std::map<Group, unsigned> sizes, gradients, groupNodes;
  std::map<Group, int64_t> flops;
  llvm::DenseMap<const Op *, unsigned> callNodes;
  llvm::DenseMap<const Value *, unsigned> inputs;
  LayeredDrawing drawing;
};

} // namespace

void ScheduleGraph::findStages() {
  for (const Op &op : host.body()) {
    unsigned &stage = stages[&op];
    for (const Value *operand : op.operandValues())
      if (const Op *def = operand ? operand->definingOp() : nullptr)
        stage = std::max(stages[&op], stages.lookup(def) + isCall(*def));
  }
  for (unsigned i = 0; i < host.numResults(); ++i)
    if (const Op *def = host.result(i)->definingOp())
      feeds.insert(def);
  for (const Op &op : llvm::reverse(host.body()))
    if (isCall(op) || feeds.contains(&op))
      for (const Value *operand : op.operandValues())
        if (const Op *def = operand ? operand->definingOp() : nullptr)
          feeds.insert(def);
  for (const Op &op : host.body())
    if (isShown(op) && !isCall(op)) {
      ++sizes[groupOf(op)];
      flops[groupOf(op)] += countFlops(op);
    }
}

static std::string describeWork(unsigned ops, int64_t flops) {
  std::string text = std::to_string(ops) + (ops == 1 ? " op" : " ops");
  constexpr double mega = 1e6, giga = 1e9;
  if (double(flops) >= giga)
    text += llvm::formatv(", {0:f1} GFLOP", double(flops) / giga).str();
  else if (double(flops) >= mega)
    text += llvm::formatv(", {0:f1} MFLOP", double(flops) / mega).str();
  return text;
}

/// Whether `param` is only used as the index of the repeated layer.
static bool isIndex(const Value &param) {
  for (Operand *use = param.firstUse(); use; use = use->nextUse()) {
    const Op *op = use->owner();
    if (!op || op->def().valueSlot(param::index) != 0 ||
        op->operand(0u) != &param)
      return false;
  }
  return param.hasUses();
}

static std::string milliseconds(double micro) {
  return llvm::formatv("{0:f3} ms", micro / 1000);
}

void ScheduleGraph::addCall(const Op &op) {
  if (op.is(ops::Repeat)) {
    callNodes[&op] = drawing.addNode(
        {op.get(param::body).str(),
         llvm::formatv("{0} times{1}", op.get(param::to) - op.get(param::from),
                       op.get(param::reverse) ? ", last first" : ""),
         "a host function that is repeated", "repeat"});
    return;
  }
  llvm::StringRef callee = op.get(param::callee);
  std::string detail;
  for (const RunCost::Program &program : run.programs)
    if (program.name == callee)
      detail = milliseconds(program.cost.total);
  std::string title;
  for (const Value *result : op.resultValues())
    title += result->name + ": " + result->type.str() + "\n";
  callNodes[&op] = drawing.addNode({callee.str(), detail, title, "kernel"});
}

/// The node of `op`, or of its group.
unsigned ScheduleGraph::nodeOf(const Op &op) {
  if (isCall(op))
    return callNodes.lookup(&op);
  return groupNodes.at(groupOf(op));
}

LayeredDrawing ScheduleGraph::draw() {
  for (const auto &param : host.parameters())
    if (!isIndex(*param))
      inputs[param.get()] =
          drawing.addNode({param->name, "", param->type.str(), "input"});
  // Nodes are added by stage, so that an edge starts at a node added before its
  // end.
  unsigned stageCount = 0;
  for (const Op &op : host.body())
    stageCount = std::max(stageCount, stages.lookup(&op) + 1);
  for (unsigned stage = 0; stage < stageCount; ++stage) {
    for (bool feeding : {true, false}) {
      Group group = {stage, feeding};
      auto size = sizes.find(group);
      if (size == sizes.end())
        continue;
      unsigned count = gradients[group];
      std::string label = "host";
      if (count)
        label += count == 1 ? ": 1 gradient"
                            : ": " + std::to_string(count) + " gradients";
      groupNodes[group] = drawing.addNode(
          {label, describeWork(size->second, flops[group]),
           "ops of the host, whose time is not predicted", "host"});
    }
    for (const Op &op : host.body())
      if (isCall(op) && stages.lookup(&op) == stage)
        addCall(op);
  }
  for (const Op &op : host.body()) {
    if (!isShown(op))
      continue;
    unsigned to = nodeOf(op);
    for (const Value *operand : op.operandValues()) {
      const Op *def = operand ? operand->definingOp() : nullptr;
      if (def && isShown(*def) && nodeOf(*def) != to)
        drawing.addEdge(nodeOf(*def), to);
      else if (auto input = inputs.find(operand); input != inputs.end())
        drawing.addEdge(input->second, to);
    }
  }
  for (unsigned i = 0; i < host.numResults(); ++i) {
    const Value *result = host.result(i);
    unsigned node = drawing.addNode(
        {host.resultNames()[i], "", result->type.str(), "output"});
    const Op *def = result->definingOp();
    if (def && isShown(*def))
      drawing.addEdge(nodeOf(*def), node);
    else if (auto input = inputs.find(result); input != inputs.end())
      drawing.addEdge(input->second, node);
  }
  return std::move(drawing);
}

LayeredDrawing anec::drawSchedule(const Function &host, const RunCost &run) {
  return ScheduleGraph(host, run).draw();
}
