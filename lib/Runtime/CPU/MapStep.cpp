//===- MapStep.cpp - movements that are known on loading ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An op that moves elements of its first operand, and whose others are
/// constants, takes the same elements in every run. Its reference says which,
/// when it is evaluated on positions instead of elements. Positions at equal
/// distances become runs, which are copied without a table of positions.
///
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Runtime/Elements.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace anec;
using namespace anec::cpu;

namespace {

/// Elements of the result from consecutive places at a distance of `step`, or
/// `count` times the word `from` where `isFilled`.
struct Run {
  uint32_t out, from, count;
  int32_t step;
  bool isFilled;
};

/// Where an element of the result comes from.
struct Origin {
  bool isFilled;
  uint32_t from; ///< the position in the operand, or the word
};

} // namespace

/// The result of the op when element i of its first operand is `element(i)`.
/// Both have type fp64, so that nothing is limited to the range of another.
static std::vector<double> moved(const Op &op, StepContext &ctx,
                                 llvm::function_ref<double(size_t)> element) {
  auto wide = [](const Value *value) {
    return RefTensor{TensorType(DType::FP64, value->type.shape),
                     std::vector<double>(size_t(value->type.numElements()))};
  };
  std::vector<RefTensor> operands(op.numOperands()), out;
  llvm::SmallVector<const RefTensor *, 4> in(op.numOperands(), nullptr);
  for (auto [slot, operand] : llvm::enumerate(op.operandValues())) {
    if (!operand)
      continue;
    RefTensor &tensor = operands[slot] = wide(operand);
    in[slot] = &tensor;
    if (slot == 0)
      for (size_t i = 0; i < tensor.data.size(); ++i)
        tensor.data[i] = element(i);
    else
      loadDoubles(operand->type.dtype, ctx.storage.words(operand), tensor.data);
  }
  out.push_back(wide(op.result()));
  EvalContext eval{op.def(), op.constants(), in, out};
  op.def().eval(eval);
  return std::move(out.front().data);
}

/// A number for each position that is no position, and that sums and means of
/// others are not.
static double mark(size_t position) {
  uint64_t mixed = (uint64_t(position) + 1) * 0x9e3779b97f4a7c15u;
  return double((uint64_t(1) << 40) + (mixed >> 24));
}

/// The origin of each element of the result; nothing when one is computed.
static std::optional<std::vector<Origin>> findOrigins(const Op &op,
                                                      StepContext &ctx) {
  double count = double(op.operand(0u)->type.numElements());
  std::vector<double> positions =
                          moved(op, ctx, [](size_t i) { return double(i); }),
                      marks = moved(op, ctx, mark);
  std::vector<Origin> origins(positions.size());
  DType stored = storedType(op.result()->type.dtype, ctx.rounding(op.result()));
  for (auto [origin, position, marked] :
       llvm::zip_equal(origins, positions, marks)) {
    if (position >= 0 && position < count && position == std::floor(position) &&
        marked == mark(size_t(position))) {
      origin = {false, uint32_t(position)};
    } else if (position == marked ||
               (std::isnan(position) && std::isnan(marked))) {
      origin.isFilled = true;
      storeDoubles(stored, position, &origin.from);
    } else {
      return std::nullopt;
    }
  }
  return origins;
}

static std::vector<Run> findRuns(llvm::ArrayRef<Origin> origins) {
  // No longer, so that threads can share the work.
  constexpr uint32_t longest = 16384;
  std::vector<Run> runs;
  for (size_t i = 0; i < origins.size(); ++i) {
    const Origin &origin = origins[i];
    Run *last = runs.empty() ? nullptr : &runs.back();
    if (last && last->count < longest && last->isFilled == origin.isFilled) {
      int64_t distance = int64_t(origin.from) - int64_t(last->from);
      if (last->count == 1 && !origin.isFilled &&
          std::abs(distance) < std::numeric_limits<int32_t>::max())
        last->step = int32_t(distance);
      if (distance == int64_t(last->step) * last->count) {
        ++last->count;
        continue;
      }
    }
    runs.push_back({uint32_t(i), origin.from, 1, 0, origin.isFilled});
  }
  return runs;
}

static void execute(const Run &run, const uint32_t *x, uint32_t *out) {
  out += run.out;
  if (run.isFilled)
    std::fill_n(out, run.count, run.from);
  else if (run.step == 1)
    std::memcpy(out, x + run.from, size_t(run.count) * 4);
  else if (run.step == 2) // for which there are vector instructions
    for (int64_t i = 0; i < run.count; ++i)
      out[i] = x[int64_t(run.from) + 2 * i];
  else
    for (int64_t i = 0; i < run.count; ++i)
      out[i] = x[int64_t(run.from) + i * run.step];
}

StepFn cpu::makeMap(const Op &op, StepContext &ctx) {
  if (!op.def().has(trait::DataMovement) || op.numResults() != 1 ||
      op.numOperands() == 0)
    return {};
  for (unsigned slot = 1; slot < op.numOperands(); ++slot)
    if (op.operand(slot) && !ctx.schedule.isConstant(op.operand(slot)))
      return {};
  // Positions are words, and exact in fp64.
  constexpr int64_t most = int64_t(1) << 26;
  int64_t elements = op.operand(0u)->type.numElements(),
          results = op.result()->type.numElements();
  if (elements == 0 || results == 0 || elements > most || results > most)
    return {};
  std::optional<std::vector<Origin>> origins = findOrigins(op, ctx);
  if (!origins)
    return {};
  auto runs = std::make_shared<std::vector<Run>>(findRuns(*origins));
  const uint32_t *x = ctx.storage.words(op.operand(0u));
  uint32_t *out = ctx.storage.words(op.result());
  size_t grain = std::max<size_t>(1, runs->size() * 16384 / size_t(results));
  return [=, &pool = ctx.pool] {
    pool.parallelRanges(runs->size(), grain,
                        [&](size_t begin, size_t end, unsigned) {
                          for (size_t i = begin; i < end; ++i)
                            execute((*runs)[i], x, out);
                        });
  };
}
