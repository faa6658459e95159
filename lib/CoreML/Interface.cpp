//===- Interface.cpp - inputs and outputs that Core ML takes --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Interface.h"
#include "anec/IR/Builder.h"
#include "anec/Ops/Ops.h"

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
  return builder.build(ops::Cast, {value}, Attr(param::dtype, spelling(dtype)),
                       name);
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
}

static void fitOutput(Function &function, unsigned index, DType dtype) {
  Value *value = function.result(index);
  std::string name = function.resultNames()[index];
  // The feature keeps the name.
  if (value->name == name)
    value->name = name + "_" + spelling(value->type.dtype).str();
  Builder builder(function);
  builder.setRange(value->range());
  function.setResult(index, cast(builder, value, dtype, name));
}

void coreml::fitInterface(Function &function, const Deployment &deployment,
                          std::optional<DType> floats,
                          const Classifier *classifier) {
  for (const auto &param : function.parameters()) {
    DType dtype = portType(param->type.dtype, deployment, floats);
    bool fits = dtype == param->type.dtype && !param->type.isScalar();
    if (param->holder == Holder::Tensor && !fits)
      fitInput(function, *param, dtype);
  }
  for (unsigned index = 0; index < function.numResults(); ++index) {
    const Value *value = function.result(index);
    if (classifier && classifier->has(function.resultNames()[index]))
      continue;
    DType dtype = portType(value->type.dtype, deployment, floats);
    if (value->holder == Holder::Tensor && dtype != value->type.dtype)
      fitOutput(function, index, dtype);
  }
}
