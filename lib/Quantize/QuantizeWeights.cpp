//===- QuantizeWeights.cpp - quantizes the weights of programs ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "InputUse.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Elements.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "lib/Ops/Rows/ConstexprLookup.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Weights.h"
#include "lib/Quantize/Diags.h"

using namespace anec;

bool anec::canUnpack(const Quantization &quantization, UnpackingOps ops) {
  if (ops == UnpackingOps::Blockwise)
    return true;
  if (quantization.form == QuantizedForm::Int8)
    return quantization.granularity != Granularity::Group;
  return ops == UnpackingOps::Packed && quantization.isPalette() &&
         quantization.granularity == Granularity::Tensor;
}

llvm::StringRef anec::spelling(WeightPart part,
                               const Quantization &quantization) {
  if (part == WeightPart::Data)
    return "data";
  if (part == WeightPart::Input)
    return "input_scale";
  return quantization.isPalette() ? "palette" : "scale";
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::optional<ProductAxes> anec::productAxes(const Op &op, unsigned slot) {
  if (op.is(ops::Conv) || op.is(ops::Linear)) {
    if (op.def().valueSlot(param::weight) == int(slot))
      return ProductAxes{0, 1};
    return std::nullopt;
  }
  if (op.is(ops::ConvTranspose)) {
    if (op.def().valueSlot(param::weight) == int(slot))
      return ProductAxes{1, 0};
    return std::nullopt;
  }
  unsigned rank = op.operand(slot)->type.rank();
  if (!op.is(ops::Matmul) || rank < 2)
    return std::nullopt;
  bool isX = op.def().valueSlot(param::x) == int(slot);
  bool swapped = isX == op.get(isX ? param::transposeX : param::transposeY);
  // x is [outputs, inputs], and y is [inputs, outputs].
  return swapped ? ProductAxes{rank - 1, rank - 2}
                 : ProductAxes{rank - 2, rank - 1};
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

QuantizedWeights::QuantizedWeights(QuantizeOptions options, Executor &executor)
    : options(std::move(options)), executor(executor) {}

QuantizedWeights::~QuantizedWeights() = default;

bool QuantizedWeights::isDivided(const TensorType &type,
                                 ProductAxes axes) const {
  const Quantization &form = options.quantization;
  unsigned axis = form.isPalette() ? axes.outputs : axes.inputs;
  return form.granularity != Granularity::Group ||
         type.shape[axis] % form.group == 0;
}

bool QuantizedWeights::checkShape(llvm::StringRef name, const TensorType &type,
                                  ProductAxes axes, SourceRange range,
                                  Diagnostics &diags) const {
  if (isDivided(type, axes))
    return true;
  const Quantization &form = options.quantization;
  bool isPalette = form.isPalette();
  int64_t extent = type.shape[isPalette ? axes.outputs : axes.inputs];
  diags.report(range, diag::GroupSize, name, shapeToString(type.shape), extent,
               isPalette ? "outputs" : "inputs", form.group);
  return false;
}

bool QuantizedWeights::checkElements(llvm::StringRef name,
                                     const Constant &value, SourceRange range,
                                     Diagnostics &diags) const {
  int64_t wrong = countNotFinite(value);
  if (wrong)
    diags.report(range, diag::NotFinite, wrong, value.numElements(), name,
                 spelling(value.dtype()));
  return wrong == 0;
}

/// Nothing, with the reason reported, when the moments of the inputs are not
/// finite.
std::optional<QuantizedArray>
QuantizedWeights::quantize(llvm::StringRef name, const Constant &value,
                           ProductAxes axes, const Quantization &form,
                           SourceRange range, Diagnostics &diags) const {
  QuantizedArray array = quantizeArray(value, axes, form, executor);
  if (!options.moments || form.isExact)
    return array;
  std::optional<WeightMatrix> matrix = WeightMatrix::of(value, axes);
  std::optional<SecondMoments> moments;
  if (matrix)
    moments = options.moments->find(*matrix);
  if (!moments) {
    // Of activations, those of all products are seen.
    if (!options.quantization.activations)
      diags.report(range, diag::NotCalibrated, name);
    return array;
  }
  if (!roundForOutputs(array, *matrix, value, axes, form, *moments, executor)) {
    diags.report(range, diag::InputsNotFinite, name);
    return std::nullopt;
  }
  return array;
}

TensorType QuantizedWeights::typeOf(const TensorType &weight, ProductAxes axes,
                                    WeightPart part,
                                    const Quantization &form) const {
  bool isPalette = form.isPalette();
  int64_t entries = int64_t(1) << form.bits();
  if (options.ops != UnpackingOps::Blockwise && part == WeightPart::Data)
    return isPalette
               ? TensorType(
                     DType::UInt8,
                     {int64_t(byteSize(form.dataType(), weight.numElements()))})
               : TensorType(form.dataType(), weight.shape);
  if (part == WeightPart::Data)
    return {form.dataType(), weight.shape};
  Shape shape = form.blocks(weight.shape, axes);
  if (options.ops == UnpackingOps::Blockwise) {
    if (isPalette)
      shape.append({entries, 1});
    return {weight.dtype, shape};
  }
  if (isPalette)
    return {weight.dtype, {entries}};
  return form.granularity == Granularity::Tensor
             ? TensorType(weight.dtype)
             : TensorType(weight.dtype, {weight.shape[axes.outputs]});
}

ConstantRef QuantizedWeights::constantOf(const QuantizedArray &array,
                                         const TensorType &type,
                                         WeightPart part,
                                         const Quantization &form) const {
  if (part == WeightPart::Table)
    return Constant::fromDoubles(type, array.tables);
  return Constant::copy(type, packNumbers(array.numbers, form.bits()));
}

/// Builds the op that unpacks `data` and `table` to `type`.
static Value *unpack(Builder &builder, UnpackingOps ops,
                     const Quantization &form, const TensorType &type,
                     ProductAxes axes, Value *data, Value *table,
                     llvm::StringRef name) {
  bool isBlockwise = ops == UnpackingOps::Blockwise;
  if (!form.isPalette()) {
    if (isBlockwise)
      return builder.build(ops::ConstexprBlockwiseShiftScale, {data, table}, {},
                           name);
    Value *zero = builder.build(
        ops::Const, {}, {{param::val, Constant::scalar(DType::Int8, 0)}},
        (name + "_zero_point").str());
    return builder.build(ops::ConstexprAffineDequantize, {data, zero, table},
                         {{param::axis, int64_t(axes.outputs)}}, name);
  }
  if (isBlockwise)
    return builder.build(ops::ConstexprLutToDense, {data, table}, {}, name);
  std::vector<double> extents(type.shape.begin(), type.shape.end());
  ConstantRef shape =
      Constant::fromDoubles({DType::UInt32, {int64_t(type.rank())}}, extents);
  return builder.build(ops::ConstexprLutToDense, {data, table},
                       {{param::shape, shape}}, name);
}

/// The value of `source` if it is quantized at once; null otherwise, or with
/// the reason reported when it is not available.
ConstantRef QuantizedWeights::valueAtOnce(const Op &source, ProductAxes axes,
                                          const Quantization &form,
                                          WeightValue value) const {
  if (source.is(ops::Const))
    return source.constant(param::val);
  // Arrays with fewer elements are in texts; see WeightLayout.
  constexpr int64_t fewestInFile = 10;
  TensorType table =
      typeOf(source.result()->type, axes, WeightPart::Table, form);
  return value && table.numElements() < fewestInFile ? value(viewOf(source))
                                                     : nullptr;
}

/// The form of a weight; nothing for one that keeps its type.
std::optional<Quantization> QuantizedWeights::formOf(const Op &source,
                                                     ProductAxes axes) const {
  Quantization form = options.quantization;
  if (!form.isExact)
    return form;
  std::optional<QuantizedForm> exact;
  if (source.is(ops::Const))
    exact = exactForm(*source.constant(param::val), axes, form, executor);
  else if (options.exactForm)
    exact = options.exactForm(viewOf(source), axes);
  if (!exact)
    return std::nullopt;
  form.form = *exact;
  return form;
}

void QuantizedWeights::noteSkipped(llvm::StringRef name) {
  if (options.report &&
      !llvm::is_contained(options.report->skipped, name.str()))
    options.report->skipped.push_back(name.str());
}

/// Whether the view has parts already, with outputs and inputs along others of
/// its axes.
bool QuantizedWeights::hasOtherAxes(const WeightView &view,
                                    ProductAxes axes) const {
  return llvm::any_of(parts, [&](const auto &entry) {
    const QuantizedPart &part = entry.second;
    return part.view == view && (part.axes.outputs != axes.outputs ||
                                 part.axes.inputs != axes.inputs);
  });
}

/// Replaces `source`, a `const` or a `weight`, in its products.
bool QuantizedWeights::replace(Op &source, llvm::ArrayRef<Product> products,
                               WeightValue value, Diagnostics &diags) {
  const TensorType type = source.result()->type;
  ProductAxes axes = products.front().axes;
  bool isWeight = source.is(ops::Weight);
  WeightView view = isWeight ? viewOf(source) : WeightView();
  std::string name = isWeight ? view.weight : source.result()->name;
  std::optional<Quantization> form = formOf(source, axes);
  // Functions of the host share the parts of a weight.
  if (!form || (isWeight && hasOtherAxes(view, axes))) {
    noteSkipped(name);
    return true;
  }
  if (!checkShape(name, type, axes, source.range(), diags))
    return false;
  int64_t inputChannels = channelsOfInput(products);
  std::optional<QuantizedArray> array;
  size_t errors = diags.errorCount();
  ConstantRef known = valueAtOnce(source, axes, *form, value);
  if (diags.errorCount() != errors)
    return false;
  if (known) {
    if (known->origin() && known->origin()->missing)
      return true; // which writing it reports
    if (!checkElements(name, *known, source.range(), diags))
      return false;
    array = quantize(name, *known, axes, *form, source.range(), diags);
    if (!array)
      return false;
    report(name, *known, axes, *form, inputChannels, *array);
  }
  Builder builder(*source.parent());
  builder.setInsertionPoint(&source);
  auto build = [&](WeightPart part) {
    TensorType partType = typeOf(type, axes, part, *form);
    llvm::StringRef word = spelling(part, *form);
    std::string label = source.result()->name + "_" + word.str();
    if (array)
      return builder.build(
          ops::Const, {},
          {{param::val, constantOf(*array, partType, part, *form)}}, label);
    std::string key = (word + " of " + view.str()).str();
    parts[key] = {view,  axes,           part,         partType,
                  *form, source.range(), inputChannels};
    return builder.build(ops::Weight, {nullptr},
                         {{param::name, llvm::StringRef(key)},
                          {param::dtype, partType.dtype},
                          {param::shape, partType.shape}},
                         label);
  };
  Value *data = build(WeightPart::Data), *table = build(WeightPart::Table);
  Value *unpacked = unpack(builder, options.ops, *form, type, axes, data, table,
                           source.result()->name);
  for (const Product &product : products)
    product.op->setOperand(product.slot, unpacked);
  ++replaced;
  if (options.quantization.activations)
    noteInputs(products, view, known, name, source.range());
  if (!source.result()->hasUses())
    source.erase();
  return true;
}

static bool isCandidate(const Op &op, const QuantizeOptions &options) {
  int64_t fewestElements = options.quantization.fewestElements;
  bool isSource = op.is(ops::Weight) ? !op.operand(param::index)
                                     : op.is(ops::Const) && !options.onHost;
  return isSource && isFloat(op.result()->type.dtype) &&
         op.result()->type.rank() >= 2 &&
         op.result()->type.numElements() >= fewestElements &&
         (op.result()->type.dtype == DType::FP16 ||
          op.result()->type.dtype == DType::FP32);
}

bool QuantizedWeights::rewrite(Function &function, WeightValue value,
                               Diagnostics &diags) {
  bool ok = true;
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (!isCandidate(op, options))
      continue;
    std::vector<Product> products;
    for (Operand *use = op.result()->firstUse(); use; use = use->nextUse()) {
      Op *user = use->owner();
      if (!user)
        continue;
      for (unsigned slot = 0; slot < user->numOperands(); ++slot)
        if (user->operand(slot) == op.result())
          if (std::optional<ProductAxes> axes = productAxes(*user, slot))
            products.push_back({user, slot, *axes});
    }
    // The first product in the program has the choice of the axes.
    llvm::sort(products, [](const Product &a, const Product &b) {
      return std::pair(a.op->position(), a.slot) <
             std::pair(b.op->position(), b.slot);
    });
    if (products.empty() ||
        (options.onHost &&
         !isDivided(op.result()->type, products.front().axes)))
      continue;
    llvm::StringRef name = op.is(ops::Weight)
                               ? op.get(param::name)
                               : llvm::StringRef(op.result()->name);
    if (!options.quantization.skips(name, skips))
      ok &= replace(op, products, value, diags);
    else
      noteSkipped(name);
  }
  return ok && rewriteInputs(value, diags);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const QuantizedPart *QuantizedWeights::find(const Op &weight) const {
  if (!weight.is(ops::Weight))
    return nullptr;
  auto it = parts.find(weight.get(param::name));
  return it == parts.end() ? nullptr : &it->second;
}

void QuantizedWeights::report(llvm::StringRef name, const Constant &weight,
                              ProductAxes axes, const Quantization &form,
                              int64_t inputChannels,
                              const QuantizedArray &array) {
  if (!options.report)
    return;
  QuantizedWeightRow &row = options.report->weights.emplace_back();
  const TensorType &type = weight.type();
  row.name = name.str();
  row.form = form.str();
  row.type = type;
  row.bytesBefore = type.numBytes();
  row.bytesAfter = typeOf(type, axes, WeightPart::Data, form).numBytes() +
                   typeOf(type, axes, WeightPart::Table, form).numBytes();
  row.relativeError = array.relativeError();
  if (array.outputs) {
    row.outputError = array.outputs->rounded;
    row.plainOutputError = array.outputs->plain;
  }
  if (options.quantization.activations) {
    options.report->hasActivations = true;
    row.input = reportInput(weight, axes, inputChannels);
  }
}

ConstantRef QuantizedWeights::resolve(const QuantizedPart &part,
                                      llvm::StringRef array, WeightValue value,
                                      Diagnostics &diags) {
  if (part.part == WeightPart::Input)
    return resolveInput(part, array, value, diags);
  std::string key = (array + " " + part.view.str()).str();
  if (key != lastKey) {
    lastKey.clear();
    ConstantRef weight = value(part.view);
    if (!weight || !checkElements(array, *weight, part.range, diags))
      return nullptr;
    std::optional<QuantizedArray> made =
        quantize(array, *weight, part.axes, part.form, part.range, diags);
    if (!made)
      return nullptr;
    last = std::move(*made);
    lastKey = key;
    report(array, *weight, part.axes, part.form, part.inputChannels, last);
  }
  return constantOf(last, part.type, part.part, part.form);
}
