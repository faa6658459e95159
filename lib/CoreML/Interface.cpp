//===- Interface.cpp - inputs and outputs that Core ML takes --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Interface.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Shape.h"

using namespace anec;
using namespace anec::coreml;

proto::ArrayDataType coreml::arrayType(DType dtype) {
  switch (dtype) {
  case DType::FP16:
    return proto::ArrayDataType::Float16;
  case DType::FP32:
    return proto::ArrayDataType::Float32;
  case DType::FP64:
    return proto::ArrayDataType::Double;
  case DType::Int32:
    return proto::ArrayDataType::Int32;
  case DType::Int8:
    return proto::ArrayDataType::Int8;
  default:
    return proto::ArrayDataType::Invalid;
  }
}

/// The type that a feature has for values of `dtype`.
static DType portType(DType dtype, const Deployment &deployment,
                      std::optional<DType> floats) {
  if (isFloat(dtype)) {
    bool half =
        floats.value_or(dtype) == DType::FP16 && deployment.specification >= 7;
    return half ? DType::FP16 : DType::FP32;
  }
  bool byte = dtype == DType::Int8 && deployment.specification >= 10;
  return byte ? DType::Int8 : DType::Int32;
}

static Value *cast(Builder &builder, Value *value, DType dtype,
                   llvm::StringRef name) {
  return builder.build(ops::Cast, {value}, Attr(param::dtype, dtype), name);
}

/// What computes in the type of the border reads it as it comes, and not as
/// `inner`, a cast of it, and a cast of that.
static void readUncast(Function &function, Value &param, Value *inner) {
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (!op.is(ops::Cast) || op.operand(0u) != inner ||
        op.result()->type != param.type)
      continue;
    op.result()->replaceAllUsesWith(&param);
    op.erase();
  }
  if (inner != &param && !inner->hasUses())
    inner->definingOp()->erase();
}

/// Numbers become lists of one.
static void fitInput(Function &function, Value &param, DType dtype) {
  TensorType inside = param.type;
  // Users move to a stand-in, so that the cast does not become its own.
  Op *standIn = Op::create(ops::Identity, {}, {}, {inside}, {"stand_in"}, {});
  param.replaceAllUsesWith(standIn->result());
  param.type.dtype = dtype;
  if (inside.isScalar())
    param.type.shape = {1};
  Builder builder(function);
  if (!function.body().empty())
    builder.setInsertionPoint(&function.body().front());
  builder.setRange(param.range());
  Value *value = &param;
  if (dtype != inside.dtype)
    value = cast(builder, value, inside.dtype,
                 param.name + "_" + spelling(inside.dtype).str());
  if (inside.isScalar())
    value = builder.build(ops::Squeeze, {value}, Attr(param::axes, Shape{0}),
                          param.name + "_number");
  standIn->result()->replaceAllUsesWith(value);
  delete standIn;
  if (!inside.isScalar())
    readUncast(function, param, value);
}

static void fitOutput(Function &function, unsigned index, DType dtype) {
  Value *value = function.result(index);
  std::string name = function.resultNames()[index];
  // A result that was computed in the type of the border goes out as it is.
  Op *own = value->definingOp();
  if (own && own->is(ops::Cast) && own->operand(0u)->type.dtype == dtype &&
      own->operand(0u)->definingOp()) {
    function.setResult(index, own->operand(0u));
    if (!value->hasUses())
      own->erase();
    function.result(index)->name = name;
    return;
  }
  // The feature keeps the name.
  if (value->name == name)
    value->name = name + "_" + spelling(value->type.dtype).str();
  Builder builder(function);
  builder.setRange(value->range());
  function.setResult(index, cast(builder, value, dtype, name));
}

void coreml::fitInterface(Function &function, const Deployment &deployment,
                          std::optional<DType> floats,
                          const FunctionDescription *described,
                          const Classifier *classifier) {
  auto floatsOf = [&](const FeatureDescription *feature) {
    return feature && feature->image ? std::nullopt : floats;
  };
  for (const auto &param : function.parameters()) {
    DType dtype =
        portType(param->type.dtype, deployment,
                 floatsOf(described ? described->input(param->name) : nullptr));
    bool fits = dtype == param->type.dtype && !param->type.isScalar();
    if (param->holder == Holder::Tensor && !fits)
      fitInput(function, *param, dtype);
  }
  for (unsigned index = 0; index < function.numResults(); ++index) {
    const Value *value = function.result(index);
    llvm::StringRef name = function.resultNames()[index];
    if (classifier && classifier->has(name))
      continue;
    DType dtype =
        portType(value->type.dtype, deployment,
                 floatsOf(described ? described->output(name) : nullptr));
    if (value->holder == Holder::Tensor && dtype != value->type.dtype)
      fitOutput(function, index, dtype);
  }
}
