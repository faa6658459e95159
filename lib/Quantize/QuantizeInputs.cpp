//===- QuantizeInputs.cpp - rounds the inputs of products -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Puts `quantize` and `dequantize` between an activation and the products of
/// quantized weights that read it: once for all products of a program that sum
/// over the same axis of it. Other readers keep the activation as it is, so
/// that no branch of a `mul` is rounded.
///
//===----------------------------------------------------------------------===//

#include "InputUse.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Quantization.h"
#include "lib/Ops/Weights.h"
#include "lib/Quantize/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace anec;

ProductInput anec::productInput(const Op &op, unsigned slot) {
  if (!op.is(ops::Matmul)) {
    Value *input = op.operand(param::x);
    return {input, op.is(ops::Linear) ? input->type.rank() - 1 : 1};
  }
  bool isX = int(slot) != op.def().valueSlot(param::x);
  Value *input = op.operand(1 - slot);
  unsigned rank = input->type.rank();
  if (rank < 2)
    return {input, 0};
  // x has its inputs last, y second to last.
  bool isTransposed = op.get(isX ? param::transposeX : param::transposeY);
  return {input, isX == isTransposed ? rank - 2 : rank - 1};
}

/// Whether products read `input` rounded to int8: what is rounded already
/// stays, and so do constants.
static bool isRounded(const ProductInput &input) {
  const Op *maker = input.value->definingOp();
  return !maker ||
         !(maker->is(ops::Dequantize) || maker->def().has(trait::Stored) ||
           maker->def().has(trait::Constexpr));
}

int64_t QuantizedWeights::channelsOfInput(llvm::ArrayRef<Product> products) {
  ProductInput input =
      productInput(*products.front().op, products.front().slot);
  return isRounded(input) ? input.value->type.shape[input.axis] : 0;
}

void QuantizedWeights::noteInputs(llvm::ArrayRef<Product> products,
                                  WeightView view, ConstantRef known,
                                  llvm::StringRef name, SourceRange range) {
  for (const Product &product : products) {
    ProductInput input = productInput(*product.op, product.slot);
    if (isRounded(input))
      inputUses.push_back(
          {product.op, input, product.axes, name.str(), view, known, range});
  }
}

bool QuantizedWeights::findRange(llvm::ArrayRef<std::string> digests,
                                 llvm::StringRef name, SourceRange range,
                                 std::optional<InputRange> &found,
                                 Diagnostics &diags) const {
  for (const std::string &digest : digests)
    if ((found = options.moments->findRange(digest)))
      break;
  if (!found || std::isfinite(found->whole()))
    return true;
  diags.report(range, diag::InputsNotFinite, name);
  return false;
}

static std::string labelOf(const ProductInput &input) {
  return input.value->name.empty() ? "input" : input.value->name;
}

/// quantize and dequantize of `input` at the insertion point. Scales for each
/// channel need the axis.
static Value *throughInt8(Builder &builder, ProductInput input, Value *scale) {
  std::string name = labelOf(input);
  std::vector<Attr> toInt8 = {{param::outputDtype, DType::Int8}}, back;
  if (!scale->type.isScalar()) {
    toInt8.emplace_back(param::axis, int64_t(input.axis));
    back.emplace_back(param::axis, int64_t(input.axis));
  }
  Value *numbers = builder.build(ops::Quantize, {input.value, scale}, toInt8,
                                 name + "_int8");
  return builder.build(ops::Dequantize, {numbers, scale}, back,
                       name + "_rounded");
}

/// Scales as they are written: one number, or one for each channel.
static ConstantRef scaleConstant(const InputRange &range,
                                 const ActivationQuantization &form,
                                 const TensorType &type) {
  std::vector<double> scales = activationScales(range, form);
  // Those of a layer are in its weight file, as an array.
  if (!type.isScalar())
    scales.resize(size_t(type.numElements()), scales.front());
  return Constant::fromDoubles(type, scales);
}

/// Rounds one activation for the products that read it.
bool QuantizedWeights::rewriteInput(llvm::ArrayRef<InputUse> uses,
                                    WeightValue value, Diagnostics &diags) {
  const ActivationQuantization &form = *options.quantization.activations;
  const InputUse &first = uses.front();
  ProductInput input = first.input;
  int64_t channels = input.value->type.shape[input.axis];
  DType dtype = input.value->type.dtype;
  bool isKnown = llvm::all_of(
      uses, [&](const InputUse &use) { return use.known || value; });
  Builder builder(*first.product->parent());
  builder.setInsertionPoint(first.product);
  std::string label = labelOf(input) + "_scale";
  Value *scale = nullptr;
  if (isKnown) {
    std::vector<std::string> digests;
    for (const InputUse &use : uses) {
      ConstantRef weight = use.known ? use.known : value(use.view);
      if (!weight)
        return false;
      digests.push_back(weightDigest(*weight, use.axes, channels));
    }
    std::optional<InputRange> range;
    if (!findRange(digests, first.name, first.range, range, diags))
      return false;
    if (!range) {
      for (const InputUse &use : uses)
        if (uncalibrated.insert(use.name).second)
          diags.report(use.range, diag::InputNotCalibrated, use.name);
      return true;
    }
    bool isOne = form.scales == ActivationQuantization::Scales::Tensor;
    TensorType type = isOne ? TensorType(dtype) : TensorType(dtype, {channels});
    scale =
        builder.build(ops::Const, {},
                      {{param::val, scaleConstant(*range, form, type)}}, label);
  } else {
    QuantizedPart part{first.view,           first.axes,
                       WeightPart::Input,    TensorType(dtype, {channels}),
                       options.quantization, first.range};
    for (const InputUse &use : uses)
      part.sharing.emplace_back(use.view, use.axes);
    std::string key =
        (spelling(part.part, options.quantization) + " of " + first.view.str())
            .str();
    scale = builder.build(ops::Weight, {nullptr},
                          {{param::name, llvm::StringRef(key)},
                           {param::dtype, part.type.dtype},
                           {param::shape, part.type.shape}},
                          label);
    parts[key] = std::move(part);
  }
  Value *rounded = throughInt8(builder, input, scale);
  for (const InputUse &use : uses)
    for (unsigned slot = 0; slot < use.product->numOperands(); ++slot)
      if (use.product->operand(slot) == input.value)
        use.product->setOperand(slot, rounded);
  return true;
}

bool QuantizedWeights::rewriteInputs(WeightValue value, Diagnostics &diags) {
  std::vector<InputUse> uses = std::move(inputUses);
  inputUses.clear();
  llvm::stable_sort(uses, [](const InputUse &a, const InputUse &b) {
    return a.product->position() < b.product->position();
  });
  bool ok = true;
  while (!uses.empty()) {
    ProductInput input = uses.front().input;
    auto others = std::stable_partition(
        uses.begin(), uses.end(),
        [&](const InputUse &use) { return use.input == input; });
    std::vector<InputUse> same(uses.begin(), others);
    uses.erase(uses.begin(), others);
    ok &= rewriteInput(same, value, diags);
  }
  return ok;
}

ConstantRef QuantizedWeights::resolveInput(const QuantizedPart &part,
                                           llvm::StringRef array,
                                           WeightValue value,
                                           Diagnostics &diags) {
  std::vector<std::string> digests;
  for (const auto &[view, axes] : part.sharing) {
    ConstantRef weight = value(view);
    if (!weight)
      return nullptr;
    digests.push_back(weightDigest(*weight, axes, part.type.shape[0]));
  }
  std::optional<InputRange> range;
  if (!findRange(digests, array, part.range, range, diags))
    return nullptr;
  if (!range) {
    diags.report(part.range, diag::LayerNotCalibrated, array);
    return nullptr;
  }
  return scaleConstant(*range, *options.quantization.activations, part.type);
}

std::optional<QuantizedInput>
QuantizedWeights::reportInput(const Constant &weight, ProductAxes axes,
                              int64_t inputChannels) const {
  if (!inputChannels)
    return std::nullopt;
  std::string digest = weightDigest(weight, axes, inputChannels);
  std::optional<InputRange> range = options.moments->findRange(digest);
  if (!range)
    return std::nullopt;
  std::vector<double> scales =
      activationScales(*range, *options.quantization.activations);
  QuantizedInput row;
  row.scales = int64_t(scales.size());
  row.leastScale = *llvm::min_element(scales);
  row.mostScale = *llvm::max_element(scales);
  row.largest = double(range->whole());
  if (std::optional<ActivationErrors> errors =
          options.moments->findErrors(digest)) {
    auto relative = [](double error, double whole) {
      return whole > 0 ? std::sqrt(error / whole) : 0.0;
    };
    row.clipped = errors->clipped / errors->elements;
    row.relativeError = relative(errors->squaredErrors, errors->squares);
    row.outputError =
        relative(errors->outputSquaredErrors, errors->outputSquares);
  }
  return row;
}
