//===- Storage.cpp - memory of values during a run ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Storage.h"
#include "Arena.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Evaluate.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Runtime/Elements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace anec;
using namespace anec::cpu;

/// The words of a cache line, and of the widest vector.
static constexpr uint64_t alignmentWords = 16;

static uint64_t sizeInWords(const Value *value) {
  return llvm::alignTo(std::max<int64_t>(value->type.numElements(), 1),
                       alignmentWords);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

void Storage::findStoredWeights(const Schedule &schedule,
                                const llvm::DenseSet<const Op *> &expanding) {
  for (const Step &step : schedule.steps)
    for (const Op *op : step.ops)
      if (!step.hasFoldedNorm() && !expanding.contains(op))
        if (auto weight = storedWeightOf(*op, schedule))
          storedWeights[op] = std::move(weight);
}

uint64_t Storage::constantBytes() const {
  uint64_t bytes = constantWords * 4;
  for (const auto &entry : storedWeights)
    bytes += entry.second->bytes();
  return bytes;
}

/// The roots of operands of steps that are read as words, and of results.
/// Operands of folded ops are not included.
llvm::DenseSet<const Value *>
Storage::neededRoots(const Function &function, const Schedule &schedule,
                     const PortParts &parts) const {
  llvm::DenseSet<const Value *> needed;
  for (const Step &step : schedule.steps) {
    if (step.hasFoldedNorm()) {
      needed.insert(schedule.root(step.ops.front()->operand(param::x)));
      continue;
    }
    for (const Op *op : step.ops) {
      std::shared_ptr<const StoredWeight> weight = stored(*op);
      for (unsigned slot = 0; slot < op->numOperands(); ++slot)
        if (op->operand(slot) && !(weight && weight->slot == slot))
          needed.insert(schedule.root(op->operand(slot)));
    }
  }
  for (const Value *result : function.resultValues())
    needed.insert(schedule.root(result));
  for (const PortPart &part : parts.outputs)
    needed.insert(schedule.root(part.value));
  return needed;
}

Storage::Storage(const Function &function, const Schedule &schedule,
                 const PortParts &parts, Numerics numerics,
                 const Places &external, Workspace &workspace,
                 const llvm::DenseSet<const Op *> &expanding)
    : places(external) {
  if (!isEmulated(numerics))
    findStoredWeights(schedule, expanding);
  llvm::DenseSet<const Value *> needed = neededRoots(function, schedule, parts);
  placeConstants(function, needed, numerics);
  foldConstants(schedule, needed, numerics);
  foldNorms(schedule);
  placePorts(schedule, parts);
  placeActivations(schedule, workspace);
  for (auto [value, root] : schedule.roots)
    if (value != root)
      if (uint32_t *place = places.lookup(root))
        places[value] = place + schedule.offsets.lookup(value);
  placeMerged(schedule);
}

/// What an op of two computes is the result of both.
void Storage::placeMerged(const Schedule &schedule) {
  for (const Step &step : schedule.steps) {
    if (!step.isMerged())
      continue;
    places[step.ops[0]->result()] = places.lookup(step.ops[1]->result());
    if (!step.hasFoldedNorm())
      matmulBiases[step.ops[0]] = floats(biasOf(*step.ops[1]));
  }
}

/// Allocates memory for a constant.
uint32_t *Storage::addConstant(const Value *value) {
  uint64_t words = sizeInWords(value);
  constantWords += words;
  if (words > chunkLeft) {
    // Many weights are slightly too small for huge pages, so they share chunks.
    // A chunk as large as all constants so far keeps the number of chunks low,
    // and chunks of small programs small.
    constexpr uint64_t mostWords = uint64_t(8) << 20;
    chunkLeft = std::max(words, std::min(constantWords, mostWords));
    constants.push_back(makeAlignedArray(chunkLeft));
    chunk = reinterpret_cast<uint32_t *>(constants.back().get());
  }
  uint32_t *place = chunk;
  chunk += words;
  chunkLeft -= words;
  return place;
}

void Storage::placeConstants(const Function &function,
                             const llvm::DenseSet<const Value *> &needed,
                             Numerics numerics) {
  llvm::DenseMap<const Constant *, uint32_t *> seen;
  for (const Op &op : function.body()) {
    if (!op.is(ops::Const) || op.result()->type.dtype == DType::String ||
        !needed.contains(op.result()))
      continue;
    const Constant *constant = op.constant(param::val);
    uint32_t *&place = seen[constant];
    if (!place) {
      place = addConstant(op.result());
      if (isFloat(constant->dtype())) {
        auto *floats = reinterpret_cast<float *>(place);
        numerics == Numerics::FP32 ? copyExactToFloats(*constant, floats)
                                   : constant->copyToFloats(floats);
      } else {
        int32_t *ints = reinterpret_cast<int32_t *>(place);
        for (int64_t i = 0, n = constant->numElements(); i < n; ++i)
          ints[i] = int32_t(constant->doubleAt(i));
      }
    }
    places[op.result()] = place;
  }
}

namespace {
/// Computes ops on constants. A computed value is kept in double precision only
/// while another op still needs it: unpacked weights are large.
class Folding {
public:
  /// Of the results of folded ops, those in `needed` are wanted.
  Folding(const Schedule &schedule, const llvm::DenseSet<const Value *> &needed,
          Numerics numerics)
      : schedule(schedule), widensHalf(numerics == Numerics::FP32) {
    for (const Op *op : llvm::reverse(schedule.folded)) {
      if (llvm::none_of(op->resultValues(), [&](const Value *result) {
            return needed.contains(result) || uses.contains(result);
          }))
        continue;
      computed.push_back(op);
      for (const Value *operand : op->operandValues())
        if (operand)
          ++uses[schedule.root(operand)];
    }
    std::reverse(computed.begin(), computed.end());
  }

  /// The ops to compute, in order.
  llvm::ArrayRef<const Op *> ops() const { return computed; }

  std::vector<RefTensor> compute(const Op &op) {
    std::vector<RefTensor> operands, results;
    for (const Value *operand : op.operandValues())
      operands.push_back(operand ? valueOf(operand) : RefTensor());
    llvm::SmallVector<const RefTensor *, 4> in;
    for (unsigned slot = 0; slot < op.numOperands(); ++slot)
      in.push_back(op.operand(slot) ? &operands[slot] : nullptr);
    results = evaluate(op, in);
    for (auto [value, tensor] : llvm::zip_equal(op.resultValues(), results))
      if (uses.lookup(value) != 0)
        kept[value] = tensor;
    return results;
  }

private:
  /// Unpacked weights are not rounded to fp16 in between.
  std::vector<RefTensor>
  evaluate(const Op &op, llvm::ArrayRef<const RefTensor *> operands) const {
    if (!op.def().has(trait::Constexpr) && !op.def().has(trait::DataMovement))
      return evaluateRounded(op, operands, widensHalf);
    return evaluateExactly(op, operands);
  }

  RefTensor valueOf(const Value *operand) {
    const Value *root = schedule.root(operand);
    bool last = --uses[root] == 0;
    if (root->definingOp()->is(ops::Const)) {
      const Constant &constant = *root->definingOp()->constant(param::val);
      return {operand->type,
              widensHalf ? exactElements(constant) : constant.asDoubles()};
    }
    RefTensor tensor = last ? std::move(kept[root]) : kept[root];
    if (last)
      kept.erase(root);
    tensor.type = operand->type;
    return tensor;
  }

  const Schedule &schedule;
  const bool widensHalf;
  std::vector<const Op *> computed;
  llvm::DenseMap<const Value *, unsigned> uses;
  std::map<const Value *, RefTensor> kept;
};
} // namespace

void Storage::foldConstants(const Schedule &schedule,
                            const llvm::DenseSet<const Value *> &needed,
                            Numerics numerics) {
  Folding folding(schedule, needed, numerics);
  Rounding rounding =
      numerics == Numerics::FP32 ? Rounding::None : Rounding::FP16;
  for (const Op *op : folding.ops()) {
    std::vector<RefTensor> results = folding.compute(*op);
    for (auto [value, tensor] : llvm::zip_equal(op->resultValues(), results)) {
      if (!needed.contains(value))
        continue;
      places[value] = addConstant(value);
      storeDoubles(storedType(value->type.dtype, rounding), tensor.data,
                   places[value]);
    }
  }
}

void Storage::foldNorms(const Schedule &schedule) {
  for (const Step &step : schedule.steps)
    if (step.hasFoldedNorm()) {
      auto folded =
          std::make_shared<FoldedConv>(*step.ops[0], *step.ops[1], schedule);
      constantWords += folded->count;
      foldedConvs[step.ops[0]] = std::move(folded);
    }
}

const float *Storage::convWeight(const Op &conv) const {
  auto folded = foldedConvs.find(&conv);
  return folded != foldedConvs.end() ? folded->second->weights.get()
                                     : floats(conv.operand(param::weight));
}

const float *Storage::convBias(const Op &conv) const {
  auto folded = foldedConvs.find(&conv);
  if (folded != foldedConvs.end())
    return folded->second->biases.get();
  const Value *bias = conv.operand(param::bias);
  return bias ? floats(bias) : nullptr;
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// Inputs and outputs have memory of their own, because they keep their
/// elements between runs.
void Storage::placePorts(const Schedule &schedule, const PortParts &parts) {
  std::vector<const Value *> ports;
  for (const Value *state : parts.states)
    if (!places.contains(state))
      ports.push_back(state);
  for (const auto *list : {&parts.inputs, &parts.outputs})
    for (const PortPart &part : *list) {
      const Value *value = schedule.root(part.value);
      if (places.try_emplace(value, nullptr).second)
        ports.push_back(value);
    }
  for (const Value *value : ports)
    ownWords += sizeInWords(value);
  own = makeAlignedArray(ownWords);
  std::fill_n(own.get(), ownWords, 0.0f);
  uint32_t *next = reinterpret_cast<uint32_t *>(own.get());
  for (const Value *value : ports) {
    places[value] = next;
    next += sizeInWords(value);
  }
}

void Storage::placeActivations(const Schedule &schedule, Workspace &workspace) {
  // The number of the last step that reads a value; results are read after all
  // steps.
  llvm::DenseMap<const Value *, size_t> lastUse;
  for (auto [number, step] : llvm::enumerate(schedule.steps))
    for (const Op *op : step.ops)
      for (const Value *operand : op->operandValues())
        if (operand)
          lastUse[schedule.root(operand)] = number;
  size_t end = schedule.steps.size();

  Arena memory;
  llvm::DenseMap<const Value *, uint64_t> offsets;
  std::vector<std::vector<const Value *>> freedAfter(end + 1);
  for (auto [number, step] : llvm::enumerate(schedule.steps)) {
    for (const Op *op : step.ops)
      for (const Value *result : op->resultValues()) {
        if (schedule.internal.contains(result) || places.contains(result) ||
            schedule.root(result) != result)
          continue;
        offsets[result] = memory.allocate(sizeInWords(result));
        freedAfter[std::max<size_t>(lastUse.lookup(result), number)].push_back(
            result);
      }
    for (const Value *dead : freedAfter[number])
      memory.release(offsets.lookup(dead), sizeInWords(dead));
  }
  arenaWords = memory.size();
  uint32_t *base = workspace.atLeast(arenaWords);
  for (auto [value, offset] : offsets)
    places[value] = base + offset;
}
