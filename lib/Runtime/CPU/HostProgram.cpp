//===- HostProgram.cpp - ops between kernels ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CPU/HostProgram.h"
#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Matmul.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace anec;
using namespace anec::cpu;

namespace {

/// How an `accumulate` op adds its value to the gradient.
enum class Way : uint8_t {
  InPlace, ///< the value is computed in the gradient
  Add,
  Copy,
};

/// Decides where results and gradients are computed.
class Placing {
public:
  Placing(const Function &function, const HostMemory &memory,
          const Schedule &schedule, Numerics numerics)
      : schedule(schedule), numerics(numerics) {
    for (auto [param, words] :
         llvm::zip_equal(function.parameters(), memory.parameters))
      places[param.get()] = words;
    unsigned number = 0;
    for (const Op &op : function.body())
      if (op.is(ops::Accumulate))
        ways[&op] = placeGradient(op, memory.gradients[number++]);
    for (auto [value, words] :
         llvm::zip_equal(function.resultValues(), memory.results))
      if (!placeResult(value, words))
        copies.push_back({value, words});
  }

  struct Copy {
    const Value *value;
    uint32_t *to;
  };
  Storage::Places places;
  llvm::DenseMap<const Op *, std::pair<Way, float *>> ways;
  llvm::DenseSet<const Op *> accumulating; ///< products added to gradients
  std::vector<Copy> copies;                ///< made at the end

private:
  bool isComputed(const Value *root) const {
    return root->definingOp() && !schedule.isConstant(root) &&
           !places.contains(root);
  }
  bool placeResult(const Value *value, uint32_t *words) {
    const Value *root = schedule.root(value);
    if (!isComputed(root))
      return false;
    places[root] = words;
    return true;
  }
  std::pair<Way, float *> placeGradient(const Op &op,
                                        const HostMemory::Gradient &gradient);

  const Schedule &schedule;
  Numerics numerics;
  /// The last op that adds to each gradient.
  llvm::DenseMap<const float *, const Op *> lastTo;
};

} // namespace

std::pair<Way, float *>
Placing::placeGradient(const Op &op, const HostMemory::Gradient &gradient) {
  const Value *value = op.operand(param::value);
  const Value *root = schedule.root(value);
  while (value != root && value->hasOneUse())
    value = value->definingOp()->operand(0u);
  Way other = gradient.overwrite ? Way::Copy : Way::Add;
  const Op *before = std::exchange(lastTo[gradient.memory], &op);
  if (value != root || !root->hasOneUse() || !isComputed(root))
    return {other, gradient.memory};
  if (!gradient.overwrite) {
    // What is added before stays before.
    if (before && before->position() > root->definingOp()->position())
      return {other, gradient.memory};
    // A product can add to the gradient itself, if it is not rounded first.
    const Op *maker = root->definingOp();
    bool rounds = root->type.dtype == DType::FP16 && numerics == Numerics::FP16;
    if (!maker->is(ops::Matmul) || rounds || root->type.rank() != 2)
      return {other, gradient.memory};
    accumulating.insert(maker);
  }
  places[root] = reinterpret_cast<uint32_t *>(gradient.memory);
  return {Way::InPlace, gradient.memory};
}

struct HostProgram::State {
  State(const Function &function, const HostMemory &memory, Numerics numerics,
        std::shared_ptr<Workspace> shared)
      : workspace(std::move(shared)), schedule(function, parts, numerics),
        placing(function, memory, schedule, numerics),
        storage(function, schedule, parts, numerics, placing.places, *workspace,
                placing.accumulating) {}

  std::shared_ptr<Workspace> workspace;
  PortParts parts;
  Schedule schedule;
  Placing placing;
  Storage storage;
};

static StepFn makeTransfer(Way way, const float *from, float *to, size_t count,
                           Executor &pool) {
  return [=, &pool] {
    pool.parallelRanges(count, 65536, [&](size_t begin, size_t end, unsigned) {
      if (way == Way::Add)
        binary(Binary::Add, end - begin, to + begin, 1, from + begin, 1,
               to + begin, Rounding::None);
      else
        std::memcpy(to + begin, from + begin, (end - begin) * sizeof(float));
    });
  };
}

/// Host ops do not run on an emulated engine.
static Numerics hostNumerics(Numerics numerics) {
  return isEmulated(numerics) ? Numerics::FP16 : numerics;
}

HostProgram::HostProgram(const Function &function, const HostMemory &memory,
                         Numerics wanted, std::shared_ptr<Workspace> workspace)
    : HostProgram(hostNumerics(wanted), function, memory,
                  std::move(workspace)) {}

HostProgram::HostProgram(Numerics numerics, const Function &function,
                         const HostMemory &memory,
                         std::shared_ptr<Workspace> workspace)
    : state(std::make_unique<State>(function, memory, numerics,
                                    std::move(workspace))) {
  Executor &pool = state->workspace->executor();
  const Placing &placing = state->placing;
  StepContext ctx{state->storage, state->schedule, pool, numerics,
                  bestProducts()};
  ctx.accumulating = &placing.accumulating;
  for (const Step &step : state->schedule.steps) {
    const Op &op = *step.ops.front();
    if (!op.is(ops::Accumulate)) {
      steps.push_back(makeStep(step, ctx));
      continue;
    }
    auto [way, gradient] = placing.ways.lookup(&op);
    const Value *value = op.operand(param::value);
    if (way != Way::InPlace)
      steps.push_back(makeTransfer(way, state->storage.floats(value), gradient,
                                   size_t(value->type.numElements()), pool));
  }
  for (const Placing::Copy &copy : placing.copies)
    steps.push_back(makeTransfer(Way::Copy, state->storage.floats(copy.value),
                                 reinterpret_cast<float *>(copy.to),
                                 size_t(copy.value->type.numElements()), pool));
}

HostProgram::~HostProgram() = default;
