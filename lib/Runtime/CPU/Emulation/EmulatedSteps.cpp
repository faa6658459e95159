//===- EmulatedSteps.cpp - ops as a chip's engine runs them ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Products, activations, sums and slices have rules of their own. Any other op
/// is computed exactly by its row's reference, and rounded to fp16 as the chip
/// rounds. Ops on other types do not run on the engine, and are computed as
/// usual.
///
//===----------------------------------------------------------------------===//

#include "EmulatedSteps.h"
#include "../Products.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Rows/Softmax.h"
#include "lib/Runtime/Elements.h"
#include "lib/Support/Half.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;
using namespace anec::cpu;

namespace {

/// Rounds `values` as `chip` does; counts what becomes infinite.
void roundAll(const Chip &chip, std::vector<double> &values,
              HazardCounter &hazards) {
  uint64_t overflows = 0;
  for (double &value : values) {
    double rounded = chip.toHalf(value);
    overflows += std::isfinite(value) && std::isinf(rounded);
    value = rounded;
  }
  hazards.overflows += overflows;
}

/// Reads the operands of an op, computes the results by `compute`, and stores
/// them.
class ElementStep {
public:
  ElementStep(const Op &op, StepContext &ctx) : def(&op.def()) {
    constants.assign(op.constants().begin(), op.constants().end());
    for (const Value *operand : op.operandValues())
      operands.push_back(operand ? place(operand, ctx) : Place());
    for (const Value *result : op.resultValues())
      results.push_back(place(result, ctx));
  }

  template <typename Compute>
  void run(Compute compute) {
    std::vector<RefTensor> in, out;
    std::vector<const RefTensor *> pointers;
    for (const Place &operand : operands) {
      in.push_back({operand.type, std::vector<double>(operand.count())});
      if (operand.words)
        loadDoubles(operand.type.dtype, operand.words, in.back().data);
    }
    for (size_t i = 0; i < in.size(); ++i)
      pointers.push_back(operands[i].words ? &in[i] : nullptr);
    for (const Place &result : results)
      out.push_back({result.type, std::vector<double>(result.count())});
    EvalContext eval{*def, constants, pointers, out};
    compute(eval);
    for (size_t i = 0; i < out.size(); ++i)
      storeDoubles(storedType(out[i].type.dtype, Rounding::None), out[i].data,
                   results[i].words);
  }

private:
  struct Place {
    TensorType type;
    uint32_t *words = nullptr;
    size_t count() const { return words ? type.numElements() : 0; }
  };
  static Place place(const Value *value, StepContext &ctx) {
    return {value->type, ctx.storage.words(value)};
  }

  const OpDef *def;
  llvm::SmallVector<ConstantRef, 4> constants;
  std::vector<Place> operands, results;
};

} // namespace

//===----------------------------------------------------------------------===//
// Hazards
//===----------------------------------------------------------------------===//

HazardCounter &HazardList::add(const Op &op) {
  Entry &entry = entries.emplace_back();
  entry.op = {op.def().name.str(), op.result()->name, op.result()->type,
              op.range()};
  return entry.counter;
}

std::vector<OpHazards> HazardList::found() const {
  std::vector<OpHazards> result;
  for (const Entry &entry : entries) {
    OpHazards op = entry.op;
    op.partialSums = entry.counter.partialSums;
    op.products = entry.counter.products;
    op.overflows = entry.counter.overflows;
    if (op.partialSums || op.products || op.overflows)
      result.push_back(std::move(op));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Kinds of ops
//===----------------------------------------------------------------------===//

static StepFn makeTable(const Op &op, StepContext &ctx, const Chip &chip,
                        HazardCounter &hazards, Table table) {
  auto step = std::make_shared<ElementStep>(op, ctx);
  return [=, &chip, &hazards] {
    step->run([&](EvalContext &eval) {
      for (auto [to, from] :
           llvm::zip_equal(eval.out[0].data, eval.in[0]->data))
        to = table(from);
      roundAll(chip, eval.out[0].data, hazards);
    });
  };
}

/// A sum that is accumulated in fp16, one element after the other.
static StepFn makeNarrowSum(const Op &op, StepContext &ctx, const Chip &chip,
                            HazardCounter &hazards) {
  auto step = std::make_shared<ElementStep>(op, ctx);
  const TensorType &type = op.operand(0u)->type;
  // The stride in the result of each axis of the operand; 0 for a reduced axis.
  Shape strides(type.rank(), 0);
  Shape axes = op.get(param::axes);
  for (int64_t &axis : axes)
    axis += axis < 0 ? type.rank() : 0;
  int64_t stride = 1, summed = 1;
  for (size_t axis = type.rank(); axis-- > 0;) {
    if (llvm::is_contained(axes, int64_t(axis))) {
      summed *= type.shape[axis];
      continue;
    }
    strides[axis] = stride;
    stride *= type.shape[axis];
  }
  double divisor = op.is(ops::ReduceMean) ? double(summed) : 1;
  Shape shape = type.shape;
  return [=, &chip, &hazards] {
    step->run([&](EvalContext &eval) {
      std::vector<double> &sums = eval.out[0].data;
      Shape index(shape.size(), 0);
      int64_t at = 0;
      for (double element : eval.in[0]->data) {
        sums[at] = chip.toHalf(sums[at] + element);
        for (size_t axis = shape.size(); axis-- > 0;) {
          at += strides[axis];
          if (++index[axis] < shape[axis])
            break;
          at -= strides[axis] * shape[axis];
          index[axis] = 0;
        }
      }
      for (double &sum : sums)
        sum /= divisor;
      roundAll(chip, sums, hazards);
    });
  };
}

/// A softmax of exp(x - max) from the table, with an exact sum.
static StepFn makeSoftmaxAsChip(const Op &op, StepContext &ctx,
                                const Chip &chip, HazardCounter &hazards) {
  auto step = std::make_shared<ElementStep>(op, ctx);
  const Shape &shape = op.result()->type.shape;
  int64_t axis = op.get(param::axis);
  axis += axis < 0 ? int64_t(shape.size()) : 0;
  int64_t inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i)
    inner *= shape[i];
  int64_t extent = shape[axis];
  return [=, &chip, &hazards] {
    step->run([&](EvalContext &eval) {
      const std::vector<double> &x = eval.in[0]->data;
      std::vector<double> &out = eval.out[0].data;
      for (size_t row = 0; row < x.size() / extent; ++row) {
        size_t base = row / inner * inner * extent + row % inner;
        double greatest = x[base], sum = 0;
        for (int64_t i = 1; i < extent; ++i)
          greatest = std::max(greatest, x[base + i * inner]);
        // Scores that are all hidden by -infinity have no difference to it.
        if (std::isinf(greatest))
          hazards.overflows += uint64_t(extent);
        for (int64_t i = 0; i < extent; ++i) {
          size_t at = base + i * inner;
          out[at] = chip.toHalf(tableExp(chip.toHalf(x[at] - greatest)));
          sum += out[at];
        }
        for (int64_t i = 0; i < extent; ++i)
          out[base + i * inner] /= sum;
      }
      roundAll(chip, out, hazards);
    });
  };
}

/// The greatest result that `op` has, in channel `channel`: where an
/// exponential that it computes in between is too large, the result is 0. Null
/// for other ops.
using Greatest = double (*)(const EvalContext &eval, size_t channel);
static Greatest greatestResult(const Op &op) {
  // log(1 + e^x), up to 2^15 in between.
  if (op.is(ops::Softplus))
    return [](const EvalContext &, size_t) { return std::log(0x1p15); };
  if (op.is(ops::SoftplusParametric))
    return [](const EvalContext &eval, size_t channel) {
      return eval.in[1]->data[channel] * std::log(0x1p15);
    };
  if (op.is(ops::ReduceLogSumExp))
    return [](const EvalContext &, size_t) { return std::log(halfMax); };
  return nullptr;
}

/// Computed exactly, and 0 beyond the greatest result.
static StepFn makeCollapsing(const Op &op, StepContext &ctx, const Chip &chip,
                             HazardCounter &hazards) {
  auto step = std::make_shared<ElementStep>(op, ctx);
  Greatest greatest = greatestResult(op);
  const Shape &shape = op.result()->type.shape;
  size_t channels = shape.size() > 1 ? size_t(shape[1]) : 1, inner = 1;
  for (size_t axis = 2; axis < shape.size(); ++axis)
    inner *= size_t(shape[axis]);
  return [=, &chip, &hazards] {
    step->run([&](EvalContext &eval) {
      eval.def.eval(eval);
      for (auto [index, value] : llvm::enumerate(eval.out[0].data)) {
        double most = greatest(eval, index / inner % channels);
        if (std::fabs(value) <= std::fabs(most))
          continue;
        value = 0;
        ++hazards.overflows;
      }
      roundAll(chip, eval.out[0].data, hazards);
    });
  };
}

static StepFn makeRounded(const Op &op, StepContext &ctx, const Chip &chip,
                          HazardCounter &hazards) {
  auto step = std::make_shared<ElementStep>(op, ctx);
  return [=, &chip, &hazards] {
    step->run([&](EvalContext &eval) {
      eval.def.eval(eval);
      for (RefTensor &result : eval.out)
        if (result.type.dtype == DType::FP16)
          roundAll(chip, result.data, hazards);
    });
  };
}

static std::shared_ptr<Products> productsOf(const Op &op, StepContext &ctx) {
  if (op.is(ops::Matmul))
    return matmulProducts(op, ctx);
  if (op.is(ops::Linear))
    return linearProducts(op, ctx);
  return op.is(ops::Conv) ? convProducts(op, ctx) : nullptr;
}

static StepFn makeProducts(std::shared_ptr<Products> products, StepContext &ctx,
                           const Chip &chip, HazardCounter &hazards) {
  return [=, &pool = ctx.pool, &chip, &hazards] {
    products->forEach(pool, [&](llvm::ArrayRef<GemmOperands> batch) {
      multiplyAsChip(pool, chip, products->shape, batch, hazards);
    });
  };
}

/// Whether a slice of the last axis does not start at its beginning.
static bool slicesWidth(const Op &op) {
  bool slices = op.is(ops::SliceBySize) || op.is(ops::SliceByIndex);
  return slices && op.constant(param::begin) && !op.get(param::begin).empty() &&
         op.get(param::begin).back() != 0;
}

static StepFn makeLimitedSlice(const Op &op, StepContext &ctx) {
  static constexpr double limit = 4094;
  auto step = std::make_shared<ElementStep>(op, ctx);
  return [step] {
    step->run([](EvalContext &eval) {
      eval.def.eval(eval);
      for (double &value : eval.out[0].data)
        value = std::clamp(value, -limit, limit);
    });
  };
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

static bool isHalf(const Value *value) {
  return value && value->type.dtype == DType::FP16;
}

StepFn cpu::makeEmulated(const Op &op, StepContext &ctx) {
  if (!llvm::any_of(op.resultValues(), isHalf) || !op.def().eval)
    return {};
  const Chip &chip = *emulatedChip(ctx.numerics);
  if (chip.limitsWidthSlices && slicesWidth(op))
    return makeLimitedSlice(op, ctx);
  if (op.def().has(trait::DataMovement))
    return {};
  HazardCounter &hazards = ctx.hazards->add(op);
  if (isHalf(op.operand(0u)))
    if (auto products = productsOf(op, ctx))
      return makeProducts(std::move(products), ctx, chip, hazards);
  if (auto table = activationTable(op))
    return makeTable(op, ctx, chip, hazards, *table);
  if (op.is(ops::ReduceSum) || op.is(ops::ReduceMean))
    return makeNarrowSum(op, ctx, chip, hazards);
  if (op.is(ops::Softmax))
    return makeSoftmaxAsChip(op, ctx, chip, hazards);
  if (greatestResult(op))
    return makeCollapsing(op, ctx, chip, hazards);
  return makeRounded(op, ctx, chip, hazards);
}
