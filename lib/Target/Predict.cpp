//===- Predict.cpp - predict the cost of a program ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/Predict.h"
#include "Rules/Predicates.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Target/Tasks.h"
#include "llvm/ADT/DenseMap.h"
#include <algorithm>

using namespace anec;

llvm::StringRef Prediction::bound() const {
  double longer = std::max(compute, move);
  if (floor >= std::max(longer, elements))
    return "dispatch";
  if (elements > longer)
    return "elements";
  return compute >= move ? "compute" : "bandwidth";
}

double Prediction::utilization(const Target &target) const {
  double flops = double(work.convFlops + work.otherFlops);
  return flops / (total * target.cost.convTeraflops * 1e6);
}

double Prediction::share(const Target &target) const {
  return double(numbers.activationPeak) /
         double(uint64_t(target.limits.sramBytes));
}

/// Visits each op that is not a constant, with its depth: the number of ops on
/// the longest path to it.
static void
eachWithDepth(const Function &function,
              llvm::function_ref<void(const Op &, unsigned)> visit) {
  llvm::DenseMap<const Op *, unsigned> depths;
  for (const Op &op : function.body()) {
    if (op.is(ops::Const) || op.is(ops::Weight) ||
        op.def().has(trait::Constexpr))
      continue;
    unsigned before = 0;
    for (const Value *operand : op.operandValues())
      if (operand && operand->definingOp())
        before = std::max(before, depths.lookup(operand->definingOp()));
    visit(op, before);
    depths[&op] = before + 1;
  }
}

static unsigned depthOf(const Function &function) {
  unsigned deepest = 0;
  eachWithDepth(function, [&](const Op &, unsigned before) {
    deepest = std::max(deepest, before + 1);
  });
  return deepest;
}

static double computeMicroseconds(const Op &op, const Target &target) {
  int64_t flops = countFlops(op);
  Work work;
  (op.is(ops::Conv) ? work.convFlops : work.otherFlops) = flops;
  work.elementBytes = elementBytes(op);
  return predictMicroseconds(target, work) - target.cost.floorMicroseconds;
}

/// Bytes of weights that are read at half the rate, to be counted twice.
static uint64_t slowWeightBytes(const Function &function,
                                const Target &target) {
  uint64_t bytes = 0;
  if (rules::BandwidthNotch.appliesTo(target))
    for (const Op &op : function.body())
      if (rules::BandwidthNotch.ofOp(op, target))
        bytes += convWeight(op).numBytes();
  return bytes;
}

static uint64_t rowsPadded(const Target &target, const TensorType &type) {
  const SurfaceRule unpadded = {target.surface.rowAlignment,
                                {0, "", Confidence::High}};
  return surfaceBytes(unpadded, type);
}

Prediction anec::predict(const Function &function, const Target &target) {
  Prediction result;
  result.numbers = makeReport(function);
  result.depth = depthOf(function);
  result.tasks = countTasks(function, target);
  for (const Op &op : function.body()) {
    (op.is(ops::Conv) ? result.work.convFlops : result.work.otherFlops) +=
        countFlops(op);
    result.work.elementBytes += elementBytes(op);
  }

  uint64_t &bytes = result.work.bytes;
  bytes = result.numbers.weightBytes + slowWeightBytes(function, target);
  for (const auto &param : function.parameters())
    bytes += rowsPadded(target, param->type);
  for (const Value *value : function.resultValues())
    bytes += rowsPadded(target, value->type);
  // Values that do not fit on the chip are written and read again.
  uint64_t onChip = target.limits.sramBytes;
  if (result.numbers.activationPeak > onChip)
    bytes += 2 * (result.numbers.activationPeak - onChip);

  const CostAnchors &anchors = target.cost;
  result.floor = anchors.floorMicroseconds;
  result.compute = predictMicroseconds(target, {result.work.convFlops,
                                                result.work.otherFlops, 0}) -
                   result.floor;
  result.move =
      predictMicroseconds(target, {0, 0, result.work.bytes}) - result.floor;
  result.elements =
      predictMicroseconds(target, {0, 0, 0, result.work.elementBytes}) -
      result.floor;
  result.total = predictMicroseconds(target, result.work);
  result.least = result.total / anchors.errorFactor;
  result.most = result.total * anchors.errorFactor;
  return result;
}

//===----------------------------------------------------------------------===//
// Parts of a program
//===----------------------------------------------------------------------===//

double ShapeCost::utilization(const Target &target) const {
  double time = std::max(compute, stream);
  return time > 0 ? double(flops) / (time * target.cost.convTeraflops * 1e6)
                  : 0;
}

/// `768 to 2048 over 256`
static std::string productShape(int64_t inputs, int64_t outputs,
                                int64_t columns) {
  return llvm::formatv("{0} to {1} over {2}", inputs, outputs, columns);
}

static std::string shapeOf(const Op &op) {
  const TensorType &type = op.result()->type;
  if (op.is(ops::Conv)) {
    const Shape &weight = convWeight(op).shape;
    std::string text =
        productShape(weight[1], weight[0], type.numElements() / weight[0]);
    Shape kernel(weight.begin() + 2, weight.end());
    bool isPointwise =
        llvm::all_of(kernel, [](int64_t extent) { return extent == 1; });
    return isPointwise ? text : text + ", kernel " + shapeToString(kernel);
  }
  if (!op.is(ops::Matmul) || type.rank() < 2)
    return shapeToString(type.shape);
  int64_t rows = extentFromEnd(type, 1), columns = extentFromEnd(type, 0);
  std::string text = productShape(contraction(op), rows, columns);
  int64_t batch = type.numElements() / (rows * columns);
  return batch == 1 ? text : text + ", " + std::to_string(batch) + " times";
}

std::vector<ShapeCost> anec::costByShape(const Function &function,
                                         const Target &target) {
  std::vector<ShapeCost> costs;
  for (const Op &op : function.body()) {
    int64_t flops = countFlops(op);
    if (flops == 0 || op.numResults() == 0)
      continue;
    std::string shape = shapeOf(op);
    auto it = llvm::find_if(costs, [&](const ShapeCost &cost) {
      return cost.def == &op.def() && cost.shape == shape;
    });
    if (it == costs.end())
      it = costs.insert(costs.end(), {&op.def(), shape});
    ++it->count;
    it->flops += flops;
    it->compute += computeMicroseconds(op, target);
    for (const Value *operand : op.operandValues())
      if (operand && isConstant(operand))
        it->weightBytes += operand->type.numBytes();
  }
  for (ShapeCost &cost : costs)
    cost.stream = predictMicroseconds(target, {0, 0, cost.weightBytes}) -
                  target.cost.floorMicroseconds;
  llvm::stable_sort(costs, [](const ShapeCost &lhs, const ShapeCost &rhs) {
    return std::max(lhs.compute, lhs.stream) >
           std::max(rhs.compute, rhs.stream);
  });
  return costs;
}

std::vector<DepthCost> anec::costByDepth(const Function &function,
                                         const Target &target) {
  std::vector<DepthCost> costs;
  eachWithDepth(function, [&](const Op &op, unsigned before) {
    if (before >= costs.size())
      costs.resize(before + 1);
    ++costs[before].ops;
    costs[before].flops += countFlops(op);
    costs[before].compute += computeMicroseconds(op, target);
  });
  return costs;
}

//===----------------------------------------------------------------------===//
// Several programs
//===----------------------------------------------------------------------===//

unsigned RunCost::dispatches() const {
  unsigned count = 0;
  for (const Program &program : programs)
    count += program.runs;
  return count;
}

Prediction RunCost::sum() const {
  Prediction total;
  for (const auto &[function, name, runs, one] : programs) {
    total.work.convFlops += runs * one.work.convFlops;
    total.work.otherFlops += runs * one.work.otherFlops;
    total.work.bytes += runs * one.work.bytes;
    total.work.elementBytes += runs * one.work.elementBytes;
    total.tasks += runs * one.tasks;
    total.numbers.ops += runs * one.numbers.ops;
    total.numbers.activationPeak =
        std::max(total.numbers.activationPeak, one.numbers.activationPeak);
    total.depth = std::max(total.depth, one.depth);
    for (auto time :
         {&Prediction::floor, &Prediction::compute, &Prediction::move,
          &Prediction::elements, &Prediction::total, &Prediction::least,
          &Prediction::most})
      total.*time += runs * one.*time;
  }
  return total;
}

void RunCost::add(const Function &function, llvm::StringRef name, unsigned runs,
                  const Target &target) {
  programs.push_back({&function, name.str(), runs, predict(function, target)});
  llvm::stable_sort(programs, [](const Program &lhs, const Program &rhs) {
    return lhs.total() > rhs.total();
  });
}

RunCost anec::predictOnce(const Module &module, const Target &target) {
  RunCost run;
  run.name = "all, once each";
  for (const auto &function : module.functions)
    if (function->kind != FunctionKind::Host)
      run.add(*function, function->name, 1, target);
  return run;
}
