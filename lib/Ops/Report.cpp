//===- Report.cpp - statistics of a function ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Ops/Report.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Rows/Constants.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static void countOps(const Function &function, FunctionReport &report) {
  llvm::MapVector<const OpDef *, OpCount> counts;
  for (const Op &op : function.body()) {
    if (op.def().has(trait::Stored))
      continue;
    OpCount &row = counts[&op.def()];
    row.def = &op.def();
    int64_t flops = countFlops(op);
    ++row.count;
    row.flops += flops;
    ++report.ops;
    report.flops += flops;
  }
  for (const auto &[def, row] : counts)
    report.histogram.push_back(row);
  llvm::sort(report.histogram, [](const OpCount &lhs, const OpCount &rhs) {
    return lhs.count != rhs.count ? lhs.count > rhs.count
                                  : lhs.def->name < rhs.def->name;
  });
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

namespace {
class WeightCounter {
public:
  explicit WeightCounter(FunctionReport &report) : report(report) {
    for (unsigned dtype = 0; dtype < numDTypes; ++dtype)
      counts[dtype].dtype = DType(dtype);
  }

  void add(const Op &op) {
    if (op.is(ops::Weight))
      return add(op.result()->type);
    if (op.is(ops::Const))
      return add(*op.constant(param::val));
    unsigned slot = 0;
    for (const ParamDef &param : op.def().parameters()) {
      if (!param.isConstant())
        continue;
      const ConstantRef &value = op.constants()[slot++];
      constexpr int8_t anyShape = -1;
      if (value && param.rank == anyShape)
        add(*value);
    }
  }

  void finish() {
    for (const WeightCount &row : counts)
      if (row.arrays)
        report.weights.push_back(row);
  }

private:
  void add(const Constant &value) {
    if (counted.insert(&value).second)
      add(value.type());
  }
  void add(const TensorType &type) {
    WeightCount &row = counts[unsigned(type.dtype)];
    ++row.arrays;
    row.elements += type.numElements();
    row.bytes += type.numBytes();
    report.parameters += type.numElements();
    report.weightBytes += type.numBytes();
  }

  FunctionReport &report;
  std::array<WeightCount, numDTypes> counts;
  llvm::DenseSet<const Constant *> counted;
};
} // namespace

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// Whether the values of the op exist before the program runs: weights, and
/// values computed only from them, at load time.
static bool isLoadedOnce(const Op &op) {
  return op.def().has(trait::Stored) || op.def().has(trait::Constexpr);
}

static bool isActivation(const Value *value) {
  return value && value->holder != Holder::State &&
         !(value->definingOp() && isLoadedOnce(*value->definingOp()));
}

static void findPeak(const Function &function, FunctionReport &report) {
  // The last op that uses each value; null for those that outlive all ops.
  llvm::DenseMap<const Value *, const Op *> lastUse;
  for (const Op &op : function.body())
    for (const Value *operand : op.operandValues())
      if (isActivation(operand))
        lastUse[operand] = &op;
  for (const Value *result : function.resultValues())
    lastUse[result] = nullptr;

  uint64_t live = report.inputBytes;
  report.activationPeak = live;
  auto release = [&](const Value *value, const Op &op) {
    // A value can be several operands of the op; release it once.
    auto it = lastUse.find(value);
    if (it == lastUse.end() || it->second != &op)
      return;
    live -= value->type.numBytes();
    lastUse.erase(it);
  };
  for (const Op &op : function.body()) {
    if (isLoadedOnce(op))
      continue;
    for (const Value *result : op.resultValues())
      live += result->type.numBytes();
    if (live > report.activationPeak || !report.peakOp) {
      report.activationPeak = live;
      report.peakOp = &op;
    }
    for (const Value *operand : op.operandValues())
      if (isActivation(operand))
        release(operand, op);
    for (const Value *result : op.resultValues())
      if (!lastUse.contains(result)) // unused
        live -= result->type.numBytes();
  }
}

FunctionReport anec::makeReport(const Function &function) {
  FunctionReport report;
  for (const auto &param : function.parameters())
    (param->holder == Holder::State ? report.stateBytes : report.inputBytes) +=
        param->type.numBytes();
  for (const Value *result : function.resultValues())
    report.outputBytes += result->type.numBytes();
  countOps(function, report);
  WeightCounter weights(report);
  for (const Op &op : function.body())
    weights.add(op);
  weights.finish();
  findPeak(function, report);
  return report;
}
