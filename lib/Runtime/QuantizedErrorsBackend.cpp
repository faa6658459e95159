//===- QuantizedErrorsBackend.cpp - what int8 activations change ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/QuantizedErrorsBackend.h"
#include "TappedProgram.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Clone.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Quantization.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Quantization.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

namespace {

/// A product before it is quantized.
struct Before {
  Op *product;
  unsigned slot; ///< of the weight
  ConstantRef weight;
  ProductInput input;
  std::string digest;
};

class ErrorTapper {
public:
  explicit ErrorTapper(Function &function)
      : function(function), builder(function) {}
  std::vector<Before> products() const;
  /// The sums of ActivationErrors, in its order without `elements`.
  Value *errorsOf(const Before &before);

private:
  Value *number(double value);
  Value *wide(Value *value);
  /// The sum of all elements, as fp32[1, 1, 1, 1].
  Value *sum(Value *value);
  Value *sumOfSquares(Value *value) { return sum(square(value)); }
  Value *square(Value *value) { return builder.build(ops::Square, {value}); }
  Value *difference(Value *a, Value *b) {
    return builder.build(ops::Sub, {wide(a), wide(b)});
  }
  Value *clipped(Value *change, const Op &rounded, unsigned axis);

  Function &function;
  Builder builder;
  /// The sums about an activation, by what it is rounded to.
  llvm::DenseMap<const Value *, llvm::SmallVector<Value *, 3>> ofInput;
  /// Results of products without quantization, by those with it.
  llvm::DenseMap<const Value *, Value *> plainOf;
};

} // namespace

std::vector<Before> ErrorTapper::products() const {
  std::vector<Before> products;
  for (const WeightUse &use : constantWeights(function)) {
    ProductInput input = productInput(*use.op, use.slot);
    const Op *source = use.op->operand(use.slot)->definingOp();
    int64_t channels = input.value->type.shape[input.axis];
    products.push_back({use.op, use.slot,
                        ConstantRef(source->constant(param::val)), input,
                        weightDigest(*use.value(), use.axes, channels)});
  }
  return products;
}

Value *ErrorTapper::number(double value) {
  return builder.build(ops::Const, {},
                       {{param::val, Constant::scalar(DType::FP32, value)}});
}

Value *ErrorTapper::wide(Value *value) {
  return value->type.dtype == DType::FP32
             ? value
             : builder.build(ops::Cast, {value}, {{param::dtype, DType::FP32}});
}

Value *ErrorTapper::sum(Value *value) {
  llvm::SmallVector<int64_t> axes;
  for (unsigned axis = 0; axis < value->type.rank(); ++axis)
    axes.push_back(axis);
  Value *total = builder.build(
      ops::ReduceSum, {value},
      {{param::axes, llvm::ArrayRef<int64_t>(axes)}, {param::keepDims, true}});
  int64_t one[] = {1, 1, 1, 1};
  return builder.build(ops::Reshape, {total},
                       {{param::shape, llvm::ArrayRef<int64_t>(one)}});
}

/// The number of elements that change by more than half a step, which rounding
/// does not.
Value *ErrorTapper::clipped(Value *change, const Op &rounded, unsigned axis) {
  Value *scale = wide(rounded.operand(param::scale));
  if (!scale->type.isScalar()) {
    llvm::SmallVector<int64_t> shape(change->type.rank(), 1);
    shape[axis] = scale->type.shape[0];
    scale = builder.build(ops::Reshape, {scale},
                          {{param::shape, llvm::ArrayRef<int64_t>(shape)}});
  }
  Value *most = builder.build(ops::Mul, {scale, number(0.5 + 0x1p-10)});
  Value *isClipped =
      builder.build(ops::Greater, {builder.build(ops::Abs, {change}), most});
  return sum(
      builder.build(ops::Cast, {isClipped}, {{param::dtype, DType::FP32}}));
}

Value *ErrorTapper::errorsOf(const Before &before) {
  Op &product = *before.product;
  Value *input = before.input.value;
  // Of a product before this one.
  if (Value *replaced = plainOf.lookup(input))
    input = replaced;
  // The plain product takes the place of the quantized one.
  builder.setInsertionPoint(&product);
  llvm::SmallVector<Value *> operands(product.operandValues());
  Value *rounded = nullptr;
  for (unsigned slot = 0; slot < operands.size(); ++slot) {
    if (slot == before.slot || !operands[slot])
      continue;
    const Op *maker = operands[slot]->definingOp();
    const Op *numbers = maker && maker->is(ops::Dequantize)
                            ? maker->operand(param::input)->definingOp()
                            : nullptr;
    if (!numbers || !numbers->is(ops::Quantize) ||
        numbers->operand(param::input) != input)
      continue;
    rounded = operands[slot];
    operands[slot] = input;
  }
  if (!rounded)
    return nullptr;
  operands[before.slot] =
      builder.build(ops::Const, {}, {{param::val, before.weight}});
  Op *plain = copyOp(product, operands);
  function.insert(plain, &product);
  product.result()->replaceAllUsesWith(plain->result());
  plainOf[product.result()] = plain->result();
  builder.setInsertionPoint(nullptr);

  auto &sums = ofInput[rounded];
  if (sums.empty()) {
    Value *change = difference(rounded, input);
    sums = {clipped(change, *rounded->definingOp(), before.input.axis),
            sumOfSquares(wide(input)), sumOfSquares(change)};
  }
  Value *change = difference(product.result(), plain->result());
  llvm::SmallVector<Value *> all(sums.begin(), sums.end());
  all.push_back(sumOfSquares(wide(plain->result())));
  all.push_back(sumOfSquares(change));
  return builder.build(ops::Concat, all, {{param::axis, 1}});
}

//===----------------------------------------------------------------------===//
// The backend
//===----------------------------------------------------------------------===//

QuantizedErrorsBackend::QuantizedErrorsBackend(
    Backend &backend, std::shared_ptr<InputMoments> moments,
    Quantization quantization, Executor &executor)
    : Backend(backend.name(), capabilitiesWithTaps(backend)), backend(backend),
      moments(std::move(moments)), quantization(std::move(quantization)),
      executor(executor) {}

std::unique_ptr<Executable>
QuantizedErrorsBackend::load(const Function &function,
                             const LoadOptions &options, Diagnostics &diags) {
  Module module;
  Function *copy = module.addFunction(function.kind, function.name);
  copy->opset = function.opset;
  ValueMap map;
  cloneBody(function, *copy, map);
  ErrorTapper tapper(*copy);
  std::vector<Before> products = tapper.products();
  QuantizeOptions quantize;
  quantize.quantization = quantization;
  quantize.moments = moments;
  // Quantizing for the output says again what this says.
  Diagnostics repeated;
  if (!QuantizedWeights(quantize, executor)
           .rewrite(*copy, /*value=*/nullptr, repeated))
    return backend.load(function, options, diags);
  std::vector<Tap> taps;
  for (const Before &before : products) {
    Value *errors = tapper.errorsOf(before);
    if (!errors)
      continue;
    auto sums = std::make_shared<ActivationErrors>();
    moments->addErrors(before.digest, sums);
    auto elements = double(before.input.value->type.numElements());
    taps.push_back({errors, [sums, elements](llvm::ArrayRef<float> more) {
                      sums->elements += elements;
                      sums->clipped += more[0];
                      sums->squares += more[1];
                      sums->squaredErrors += more[2];
                      sums->outputSquares += more[3];
                      sums->outputSquaredErrors += more[4];
                    }});
  }
  return loadTapped(backend, *copy, std::move(taps), options, diags);
}
