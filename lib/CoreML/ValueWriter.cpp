//===- ValueWriter.cpp - types and values to messages ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ValueWriter.h"
#include "lib/IR/Elements.h"

using namespace anec;
using namespace anec::coreml;
using llvm::StringRef;
using proto::TensorValue;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

proto::ValueType coreml::tensorType(const TensorType &type) {
  proto::ValueType message;
  message.chosen = proto::ValueType::Tensor;
  proto::TensorType &tensor = message.tensorType.make();
  tensor.dataType = dataType(type.dtype);
  tensor.rank = int64_t(type.rank());
  for (int64_t extent : type.shape) {
    proto::Dimension &dimension = tensor.dimensions.emplace_back();
    dimension.chosen = proto::Dimension::Constant;
    dimension.constant.make().size = uint64_t(extent);
  }
  return message;
}

proto::ValueType coreml::typeOf(const mil::WrittenDeclaration &declaration) {
  proto::ValueType tensor = tensorType(declaration.type);
  if (declaration.isDictionary) {
    proto::ValueType dictionary;
    dictionary.chosen = proto::ValueType::Dictionary;
    dictionary.dictionaryType.make().keyType.make() = std::move(tensor);
    dictionary.dictionaryType.make().valueType.make() =
        tensorType({DType::FP64});
    return dictionary;
  }
  if (declaration.holder() != Holder::State)
    return tensor;
  proto::ValueType state;
  state.chosen = proto::ValueType::State;
  state.stateType.make().wrappedType.make() = std::move(tensor);
  return state;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The elements as they are in a file, rounded to the declared type.
static std::string rawBytes(const Constant &constant) {
  DType dtype = constant.dtype();
  if (constant.storedDType() == dtype)
    return {reinterpret_cast<const char *>(constant.bytes().data()),
            constant.bytes().size()};
  std::string bytes(constant.type().numBytes(), '\0');
  for (int64_t i = 0; i < constant.numElements(); ++i)
    storeElement(dtype, reinterpret_cast<uint8_t *>(bytes.data()), i,
                 constant.doubleAt(i));
  return bytes;
}

static TensorValue elementsOf(const Constant &constant) {
  TensorValue message;
  message.chosen = fieldOf(constant.dtype());
  auto forEachElement = [&](auto add) {
    for (int64_t i = 0; i < constant.numElements(); ++i)
      add(i);
  };
  switch (message.chosen) {
  case TensorValue::Floats: {
    auto &values = message.floats.make().values;
    forEachElement(
        [&](int64_t i) { values.push_back(float(constant.doubleAt(i))); });
    break;
  }
  case TensorValue::Doubles: {
    auto &values = message.doubles.make().values;
    forEachElement([&](int64_t i) { values.push_back(constant.doubleAt(i)); });
    break;
  }
  case TensorValue::Bools: {
    auto &values = message.bools.make().values;
    forEachElement(
        [&](int64_t i) { values.push_back(constant.doubleAt(i) != 0); });
    break;
  }
  case TensorValue::Strings:
    message.strings.make().values = constant.asStrings();
    break;
  case TensorValue::Ints: {
    auto &values = message.ints.make().values;
    forEachElement(
        [&](int64_t i) { values.push_back(int32_t(constant.intAt(i))); });
    break;
  }
  case TensorValue::LongInts: {
    auto &values = message.longInts.make().values;
    forEachElement([&](int64_t i) { values.push_back(constant.intAt(i)); });
    break;
  }
  default:
    message.bytes.make().values = rawBytes(constant);
  }
  return message;
}

proto::Value coreml::valueOf(const Constant &constant) {
  proto::Value message;
  message.type.make() = tensorType(constant.type());
  message.chosen = proto::Value::Immediate;
  proto::ImmediateValue &immediate = message.immediate.make();
  immediate.chosen = proto::ImmediateValue::Tensor;
  immediate.tensor.make() = elementsOf(constant);
  return message;
}

proto::Value coreml::valueOf(const mil::WrittenConstant &constant) {
  if (constant.value)
    return valueOf(*constant.value);
  proto::Value message;
  message.type.make() = tensorType(constant.type);
  message.chosen = proto::Value::BlobFile;
  proto::BlobFileValue &file = message.blobFile.make();
  file.fileName = constant.path.str();
  file.offset = constant.offset;
  return message;
}

proto::Value coreml::listOf(const Constant &values) {
  proto::Value message;
  proto::ValueType &type = message.type.make();
  type.chosen = proto::ValueType::List;
  type.listType.make().type.make() = tensorType({values.dtype()});
  proto::Dimension &length = type.listType.make().length.make();
  length.chosen = proto::Dimension::Constant;
  length.constant.make().size = uint64_t(values.numElements());
  message.chosen = proto::Value::Immediate;
  proto::ImmediateValue &immediate = message.immediate.make();
  immediate.chosen = proto::ImmediateValue::List;
  for (int64_t i = 0; i < values.numElements(); ++i)
    immediate.list.make().values.push_back(
        values.dtype() == DType::String
            ? stringValue(values.asStrings()[size_t(i)])
            : valueOf(*values.part(i, {})));
  return message;
}

proto::Value coreml::stringValue(StringRef text) {
  return valueOf(*Constant::string(text));
}
