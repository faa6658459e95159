//===- ValueReader.cpp - types and values of ML programs ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ValueReader.h"
#include "ElementTypes.h"
#include "lib/CoreML/Diags.h"
#include "lib/IR/Diags.h"
#include "lib/IR/Elements.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/Spelling.h"
#include "lib/Ops/Diags.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include <cstring>
#include <limits>

using namespace anec;
using namespace anec::coreml;
using llvm::ArrayRef;
using llvm::StringRef;
using mil::ParsedType;
using mil::unknownExtent;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns nothing for an extent that is missing or too large.
static std::optional<int64_t> extentOf(const proto::Dimension &dimension) {
  if (dimension.chosen == proto::Dimension::Unknown &&
      !dimension.unknown->variadic)
    return unknownExtent;
  uint64_t size = dimension.constant->size;
  if (dimension.chosen != proto::Dimension::Constant ||
      size > uint64_t(std::numeric_limits<int64_t>::max()))
    return std::nullopt;
  return int64_t(size);
}

bool ValueReader::readTensorType(const proto::TensorType &message,
                                 StringRef name, SourceRange range,
                                 ParsedType &type) {
  std::optional<DType> dtype = elementType(message.dataType);
  if (!dtype) {
    diags.report(range, diag::TypeMissing, name);
    return false;
  }
  type.kind = ParsedType::Tensor;
  type.tensor = TensorType(*dtype);
  if (message.rank != int64_t(message.dimensions.size()) ||
      message.dimensions.size() > mil::maxNesting) {
    diags.report(range, diag::TypeRank, name, message.rank,
                 message.dimensions.size());
    return false;
  }
  Shape known;
  for (const proto::Dimension &dimension : message.dimensions) {
    std::optional<int64_t> extent = extentOf(dimension);
    if (!extent) {
      diags.report(range, diag::TypeMissing, name);
      return false;
    }
    type.unknownExtents |= *extent == unknownExtent;
    type.tensor.shape.push_back(*extent);
    known.push_back(*extent == unknownExtent ? 1 : *extent);
  }
  if (!checkedNumElements(known)) {
    diags.report(range, diag::TypeTooLarge, mil::spellType(type.tensor));
    return false;
  }
  return true;
}

bool ValueReader::readType(const proto::ValueType &message, StringRef name,
                           SourceRange range, ParsedType &type) {
  type = ParsedType();
  type.range = range;
  switch (message.chosen) {
  case proto::ValueType::Tensor:
    return readTensorType(*message.tensorType, name, range, type);
  case proto::ValueType::State: {
    const proto::ValueType &held = *message.stateType->wrappedType;
    if (held.chosen != proto::ValueType::Tensor) {
      diags.report(range, diag::Unsupported,
                   "a state of anything but a tensor");
      return false;
    }
    bool read = readTensorType(*held.tensorType, name, range, type);
    type.kind = ParsedType::State;
    return read;
  }
  case proto::ValueType::List: {
    const proto::ListType &list = *message.listType;
    if (list.type->chosen != proto::ValueType::Tensor) {
      type.kind = ParsedType::List;
      return true;
    }
    std::optional<int64_t> length = extentOf(*list.length);
    if (!length) {
      diags.report(range, diag::TypeMissing, name);
      return false;
    }
    if (!readTensorType(*list.type->tensorType, name, range, type))
      return false;
    type.kind = ParsedType::List;
    type.unknownExtents |= *length == unknownExtent;
    type.tensor.shape.insert(type.tensor.shape.begin(), *length);
    return true;
  }
  case proto::ValueType::Dictionary:
    type.kind = ParsedType::Dictionary;
    return true;
  case proto::ValueType::Tuple:
    type.kind = ParsedType::Tuple;
    return true;
  }
  diags.report(range, diag::TypeMissing, name);
  return false;
}

bool ValueReader::readValueType(const proto::ValueType &message, StringRef name,
                                SourceRange range, ParsedType &type) {
  if (!readType(message, name, range, type))
    return false;
  if (!type.isValue())
    diags.report(range, diag::Unsupported, "a value that is not a tensor");
  else if (type.unknownExtents && type.kind != ParsedType::Tensor)
    diags.report(range, diag::Unsupported,
                 (describe(type.holder()) + " of unknown extents").str());
  else
    return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Immediate values
//===----------------------------------------------------------------------===//

/// The elements of a packed field, which are in memory as they are in a
/// constant.
template <typename Elements>
static Bytes bytesOfField(const Elements &values) {
  return {reinterpret_cast<const uint8_t *>(values.data()),
          size_t(values.size()) * sizeof(*values.data())};
}

/// Stores 32-bit integers as 16-bit ones; returns the first that does not fit.
static std::optional<int64_t> narrow(ArrayRef<int32_t> values, DType dtype,
                                     llvm::SmallVectorImpl<uint8_t> &bytes) {
  int64_t least = dtype == DType::Int16 ? -32768 : 0;
  int64_t most = dtype == DType::Int16 ? 32767 : 65535;
  bytes.resize(byteSize(dtype, int64_t(values.size())));
  for (auto [index, value] : llvm::enumerate(values)) {
    if (value < least || value > most)
      return value;
    storeBits(dtype, bytes.data(), int64_t(index), uint64_t(int64_t(value)));
  }
  return std::nullopt;
}

bool ValueReader::readTensor(const proto::TensorValue &message,
                             const TensorType &type, StringRef name,
                             SourceRange range, ConstantRef &value) {
  int field = fieldOf(type.dtype);
  // A writer may leave out the field of an empty tensor.
  bool isEmpty = message.chosen == 0 && type.numElements() == 0;
  if (message.chosen != field && !isEmpty) {
    diags.report(range, diag::ValueField, name, mil::spellType(type),
                 spellField(field));
    return false;
  }
  auto hasCount = [&](int64_t count) {
    if (count != type.numElements())
      diags.report(range, diag::ElementCount, mil::spellType(type),
                   type.numElements(), count);
    return count == type.numElements();
  };
  llvm::SmallVector<uint8_t, 64> narrowed;
  Bytes bytes;
  switch (field) {
  case proto::TensorValue::Strings: {
    const auto &strings = message.strings->values;
    if (!hasCount(strings.size()))
      return false;
    value = Constant::strings(type, {strings.begin(), strings.end()});
    return true;
  }
  case proto::TensorValue::Floats:
    bytes = bytesOfField(message.floats->values);
    break;
  case proto::TensorValue::Doubles:
    bytes = bytesOfField(message.doubles->values);
    break;
  case proto::TensorValue::Bools:
    bytes = bytesOfField(message.bools->values);
    break;
  case proto::TensorValue::LongInts:
    bytes = bytesOfField(message.longInts->values);
    break;
  case proto::TensorValue::Ints: {
    const auto &ints = message.ints->values;
    bytes = bytesOfField(ints);
    if (type.dtype == DType::Int32)
      break;
    if (std::optional<int64_t> misfit =
            narrow({ints.data(), size_t(ints.size())}, type.dtype, narrowed)) {
      diags.report(range, diag::ValueRange, *misfit, name,
                   spelling(type.dtype));
      return false;
    }
    bytes = narrowed;
    break;
  }
  default: {
    const std::string &raw = message.bytes->values;
    bytes = {reinterpret_cast<const uint8_t *>(raw.data()), raw.size()};
    if (bytes.size() != type.numBytes()) {
      diags.report(range, diag::ValueBytes, name, bytes.size(),
                   mil::spellType(type), type.numBytes());
      return false;
    }
    value = Constant::copy(type, bytes);
    return true;
  }
  }
  if (!hasCount(int64_t(bytes.size() * 8 / bitWidth(type.dtype))))
    return false;
  value = Constant::copy(type, bytes);
  return true;
}

/// A list of scalars of one type becomes a tensor of rank 1. Leaves `value`
/// null for other lists.
bool ValueReader::readList(const proto::ListValue &message, DType dtype,
                           StringRef name, SourceRange range,
                           ConstantRef &value) {
  std::vector<std::string> strings;
  std::vector<uint8_t> bytes;
  for (const proto::Value &element : message.values) {
    if (element.immediate->chosen != proto::ImmediateValue::Tensor)
      return true;
    ConstantRef scalar;
    if (!readTensor(*element.immediate->tensor, TensorType(dtype), name, range,
                    scalar))
      return false;
    if (dtype == DType::String)
      strings.push_back(scalar->asString().str());
    else
      bytes.insert(bytes.end(), scalar->bytes().begin(), scalar->bytes().end());
  }
  TensorType type(dtype, {int64_t(message.values.size())});
  value = dtype == DType::String ? Constant::strings(type, std::move(strings))
                                 : Constant::copy(type, bytes);
  return true;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Of the path in the message, `@model_path/weights/weight.bin`, only the name
/// of the file is used, as in coremltools.
bool ValueReader::readBlob(const proto::BlobFileValue &message,
                           const TensorType &type, SourceRange range,
                           ConstantRef &value) {
  StringRef path = message.fileName;
  auto [entry, inserted] = options.weightFiles.try_emplace(path);
  if (inserted) {
    StringRef name = llvm::sys::path::filename(path);
    llvm::SmallString<128> where(folderPath);
    llvm::sys::path::append(where, name);
    entry->second.path = where.str().str();
    if (folder && folder->has(name)) {
      entry->second.contents = mapFile(*folder, name, diags);
      if (!entry->second.contents)
        entry->second.path.clear();
    }
  }
  if (entry->second.path.empty()) // reported at the first use of the file
    return false;
  value = files.read(type, path, range, message.offset, range);
  return value != nullptr;
}

bool ValueReader::readValue(const proto::Value &message, StringRef name,
                            SourceRange range, mil::ArgumentValue &value) {
  value.range = range;
  ParsedType type;
  if (!readType(*message.type, name, range, type))
    return false;
  const proto::ImmediateValue &immediate = *message.immediate;
  if (type.kind == ParsedType::List &&
      immediate.chosen == proto::ImmediateValue::List) {
    value.isList = true;
    DType dtype = type.tensor.dtype;
    bool isScalars = type.tensor.rank() == 1 &&
                     (dtype == DType::String || bitWidth(dtype) >= 8);
    return !isScalars ||
           readList(*immediate.list, dtype, name, range, value.constant);
  }
  if (type.kind != ParsedType::Tensor)
    return true;
  if (type.unknownExtents) {
    diags.report(range, diag::Unsupported, "a tensor of unknown extents");
    return false;
  }
  if (message.chosen == proto::Value::BlobFile)
    return readBlob(*message.blobFile, type.tensor, range, value.constant);
  if (immediate.chosen == proto::ImmediateValue::Tensor)
    return readTensor(*immediate.tensor, type.tensor, name, range,
                      value.constant);
  diags.report(range, diag::ValueMissing, name);
  return false;
}
