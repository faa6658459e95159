//===- ElementTypes.cpp - element types and where elements are ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ElementTypes.h"

using namespace anec;
using namespace anec::coreml;
using llvm::StringRef;

static constexpr std::pair<proto::DataType, DType> types[] = {
    {proto::DataType::Bool, DType::Bool},
    {proto::DataType::String, DType::String},
    {proto::DataType::Float16, DType::FP16},
    {proto::DataType::Float32, DType::FP32},
    {proto::DataType::Float64, DType::FP64},
    {proto::DataType::BFloat16, DType::BF16},
    {proto::DataType::Int8, DType::Int8},
    {proto::DataType::Int16, DType::Int16},
    {proto::DataType::Int32, DType::Int32},
    {proto::DataType::Int64, DType::Int64},
    {proto::DataType::Int4, DType::Int4},
    {proto::DataType::UInt8, DType::UInt8},
    {proto::DataType::UInt16, DType::UInt16},
    {proto::DataType::UInt32, DType::UInt32},
    {proto::DataType::UInt64, DType::UInt64},
    {proto::DataType::UInt4, DType::UInt4},
    {proto::DataType::UInt2, DType::UInt2},
    {proto::DataType::UInt1, DType::UInt1},
    {proto::DataType::UInt6, DType::UInt6},
    {proto::DataType::UInt3, DType::UInt3},
    {proto::DataType::Float8E4M3FN, DType::FP8E4M3FN},
    {proto::DataType::Float8E5M2, DType::FP8E5M2},
};

std::optional<DType> coreml::elementType(proto::DataType type) {
  for (auto [theirs, ours] : types)
    if (theirs == type)
      return ours;
  return std::nullopt;
}

proto::DataType coreml::dataType(DType dtype) {
  for (auto [theirs, ours] : types)
    if (ours == dtype)
      return theirs;
  return proto::DataType::Unused;
}

int coreml::fieldOf(DType dtype) {
  switch (dtype) {
  case DType::FP32:
    return proto::TensorValue::Floats;
  case DType::FP64:
    return proto::TensorValue::Doubles;
  case DType::Bool:
    return proto::TensorValue::Bools;
  case DType::String:
    return proto::TensorValue::Strings;
  case DType::Int16:
  case DType::UInt16:
  case DType::Int32:
    return proto::TensorValue::Ints;
  case DType::Int64:
  case DType::UInt64:
    return proto::TensorValue::LongInts;
  default:
    return proto::TensorValue::Bytes;
  }
}

StringRef coreml::spellField(int field) {
  switch (field) {
  case proto::TensorValue::Floats:
    return "floats";
  case proto::TensorValue::Ints:
    return "ints";
  case proto::TensorValue::Bools:
    return "bools";
  case proto::TensorValue::Strings:
    return "strings";
  case proto::TensorValue::LongInts:
    return "longInts";
  case proto::TensorValue::Doubles:
    return "doubles";
  default:
    return "bytes";
  }
}

std::optional<DType> coreml::elementType(proto::ArrayDataType type) {
  switch (type) {
  case proto::ArrayDataType::Float16:
    return DType::FP16;
  case proto::ArrayDataType::Float32:
    return DType::FP32;
  case proto::ArrayDataType::Double:
    return DType::FP64;
  case proto::ArrayDataType::Int8:
    return DType::Int8;
  case proto::ArrayDataType::Int32:
    return DType::Int32;
  case proto::ArrayDataType::Invalid:
    return std::nullopt;
  }
  return std::nullopt;
}
