//===- MomentsBackend.cpp - collects moments of products' inputs ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/MomentsBackend.h"
#include "TappedProgram.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Clone.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Shape.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;

//===----------------------------------------------------------------------===//
// Programs with moments as further results
//===----------------------------------------------------------------------===//

namespace {

/// The vectors that a weight multiplies: a value as a matrix.
struct InputMatrix {
  Value *value = nullptr;
  bool isByInput = false; ///< [inputs, samples] instead of [samples, inputs]
  bool isSwapped = false; ///< its last two axes are in the other order

  friend bool operator==(const InputMatrix &, const InputMatrix &) = default;
};

class Tapper {
public:
  Tapper(Function &function, InputMoments &moments, bool takesRanges)
      : function(function), seen(moments), takesRanges(takesRanges),
        builder(function) {}
  std::vector<Tap> run();

private:
  void tapMoments(const WeightUse &use);
  void tapRange(const WeightUse &use);
  std::optional<InputMatrix> inputOf(const Op &op, unsigned slot) const;
  Value *momentsOf(const InputMatrix &input, int64_t inputs);
  Value *rangeOf(const ProductInput &input);

  Function &function;
  InputMoments &seen;
  bool takesRanges;
  Builder builder;
  std::vector<std::pair<InputMatrix, std::shared_ptr<SecondMoments>>> moments;
  std::vector<std::pair<ProductInput, std::shared_ptr<InputRange>>> ranges;
  std::vector<Tap> taps;
};

} // namespace

/// Of a filter of one place, stepping over no input.
static bool isPointwise(const Op &conv) {
  llvm::ArrayRef<int64_t> filter = conv.operand(1)->type.shape,
                          in = conv.operand(0)->type.shape,
                          out = conv.result()->type.shape;
  auto isOne = [](int64_t extent) { return extent == 1; };
  return filter[1] == in[1] && llvm::all_of(filter.drop_front(2), isOne) &&
         in.drop_front(2) == out.drop_front(2);
}

std::optional<InputMatrix> Tapper::inputOf(const Op &op, unsigned slot) const {
  if (op.is(ops::Conv) || op.is(ops::Linear)) {
    int input = op.def().valueSlot(param::x);
    assert(input == 0 && op.def().valueSlot(param::weight) == 1);
    if (op.is(ops::Conv) && !isPointwise(op))
      return std::nullopt;
    return InputMatrix{op.operand(unsigned(input)), op.is(ops::Conv)};
  }
  if (!op.is(ops::Matmul))
    return std::nullopt;
  bool isX = int(slot) != op.def().valueSlot(param::x);
  Value *input = op.operand(1 - slot);
  if (input->type.rank() < 2)
    return std::nullopt;
  // x has its inputs last, y second to last.
  bool isTransposed = op.get(isX ? param::transposeX : param::transposeY);
  bool isByInput = isX == isTransposed;
  int64_t batch = 1;
  for (int64_t extent : llvm::ArrayRef(input->type.shape).drop_back(2))
    batch *= extent;
  // Only whole matrices can be read as they are.
  if (isByInput && batch > 1)
    return InputMatrix{input, false, true};
  return InputMatrix{input, isByInput};
}

/// x x^T summed over all samples, in fp32, as [1, inputs, 1, inputs].
Value *Tapper::momentsOf(const InputMatrix &input, int64_t inputs) {
  Value *value = input.value;
  auto order = [&](unsigned a, unsigned b) {
    llvm::SmallVector<int64_t> axes(value->type.rank());
    for (auto [axis, from] : llvm::enumerate(axes))
      from = int64_t(axis);
    std::swap(axes[a], axes[b]);
    value = builder.build(ops::Transpose, {value},
                          {{param::perm, llvm::ArrayRef<int64_t>(axes)}});
  };
  if (value->type.dtype != DType::FP32)
    value = builder.build(ops::Cast, {value}, {{param::dtype, DType::FP32}});
  unsigned rank = value->type.rank();
  if (input.isSwapped)
    order(rank - 2, rank - 1);
  // The channels of an image are its inputs.
  if (input.isByInput && rank > 2 && value->type.shape[0] > 1 &&
      value->type.shape[1] == inputs)
    order(0, 1);
  int64_t samples = value->type.numElements() / inputs;
  llvm::SmallVector<int64_t> shape = {samples, inputs};
  if (input.isByInput)
    std::swap(shape[0], shape[1]);
  Value *matrix = builder.build(
      ops::Reshape, {value}, {{param::shape, llvm::ArrayRef<int64_t>(shape)}});
  Value *product = builder.build(ops::Matmul, {matrix, matrix},
                                 {{param::transposeX, !input.isByInput},
                                  {param::transposeY, input.isByInput}});
  int64_t result[] = {1, inputs, 1, inputs};
  return builder.build(ops::Reshape, {product},
                       {{param::shape, llvm::ArrayRef<int64_t>(result)}});
}

/// The largest magnitude of each channel, in fp32, as [1, channels, 1, 1].
Value *Tapper::rangeOf(const ProductInput &input) {
  Value *value = input.value;
  if (value->type.dtype != DType::FP32)
    value = builder.build(ops::Cast, {value}, {{param::dtype, DType::FP32}});
  llvm::SmallVector<int64_t> others;
  for (unsigned axis = 0; axis < value->type.rank(); ++axis)
    if (axis != input.axis)
      others.push_back(axis);
  auto reduce = [&](const OpDef &op, Value *of) {
    return others.empty()
               ? of
               : builder.build(op, {of},
                               {{param::axes, llvm::ArrayRef<int64_t>(others)},
                                {param::keepDims, true}});
  };
  Value *largest = reduce(ops::ReduceMax, builder.build(ops::Abs, {value}));
  // 0 times the sum is NaN when an element is not finite, which a maximum can
  // pass over.
  Value *sum = reduce(ops::ReduceSum, value);
  Value *zero = builder.build(ops::Const, {},
                              {{param::val, Constant::scalar(DType::FP32, 0)}});
  Value *marked =
      builder.build(ops::Add, {largest, builder.build(ops::Mul, {sum, zero})});
  int64_t shape[] = {1, input.value->type.shape[input.axis], 1, 1};
  return builder.build(ops::Reshape, {marked},
                       {{param::shape, llvm::ArrayRef<int64_t>(shape)}});
}

void Tapper::tapMoments(const WeightUse &use) {
  std::optional<InputMatrix> input = inputOf(*use.op, use.slot);
  std::optional<WeightMatrix> weight;
  if (input)
    weight = WeightMatrix::of(*use.value(), use.axes);
  if (!weight)
    return;
  auto known = llvm::find_if(
      moments, [&](const auto &other) { return other.first == *input; });
  if (known == moments.end()) {
    auto sums = std::make_shared<SecondMoments>();
    sums->sums.resize(size_t(weight->inputs * weight->inputs));
    known = moments.insert(moments.end(), {*input, sums});
    auto samples = uint64_t(input->value->type.numElements() / weight->inputs);
    taps.push_back({momentsOf(*input, weight->inputs),
                    [sums, samples](llvm::ArrayRef<float> more) {
                      sums->samples += samples;
                      for (auto [sum, each] : llvm::zip_equal(sums->sums, more))
                        sum += each;
                    }});
  }
  seen.add(*weight, known->second);
}

/// Keeps what is not a number.
static void raise(InputRange &range, llvm::ArrayRef<float> magnitudes) {
  ++range.runs;
  for (auto [most, value] : llvm::zip_equal(range.largest, magnitudes))
    if (!(most >= value) && !std::isnan(most))
      most = value;
}

void Tapper::tapRange(const WeightUse &use) {
  ProductInput input = productInput(*use.op, use.slot);
  if (!input.value->type.numElements())
    return;
  int64_t channels = input.value->type.shape[input.axis];
  auto known = llvm::find_if(
      ranges, [&](const auto &other) { return other.first == input; });
  if (known == ranges.end()) {
    auto range = std::make_shared<InputRange>();
    range->largest.resize(size_t(channels));
    known = ranges.insert(ranges.end(), {input, range});
    taps.push_back({rangeOf(input), [range](llvm::ArrayRef<float> magnitudes) {
                      raise(*range, magnitudes);
                    }});
  }
  seen.addRange(weightDigest(*use.value(), use.axes, channels), known->second);
}

std::vector<Tap> Tapper::run() {
  for (const WeightUse &use : constantWeights(function)) {
    tapMoments(use);
    if (takesRanges)
      tapRange(use);
  }
  return std::move(taps);
}

//===----------------------------------------------------------------------===//
// The backend
//===----------------------------------------------------------------------===//

MomentsBackend::MomentsBackend(Backend &backend, bool takesRanges)
    : Backend(backend.name(), capabilitiesWithTaps(backend)), backend(backend),
      takesRanges(takesRanges) {}

std::unique_ptr<Executable> MomentsBackend::load(const Function &function,
                                                 const LoadOptions &options,
                                                 Diagnostics &diags) {
  Module module;
  Function *copy = module.addFunction(function.kind, function.name);
  copy->opset = function.opset;
  ValueMap map;
  cloneBody(function, *copy, map);
  return loadTapped(backend, *copy, Tapper(*copy, *seen, takesRanges).run(),
                    options, diags);
}
