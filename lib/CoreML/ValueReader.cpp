//===- ValueReader.cpp - types and values of ML programs ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ValueReader.h"
#include "anec/CoreML/Diags.h"
#include "anec/IR/Diags.h"
#include "anec/IR/Elements.h"
#include "anec/MIL/Diags.h"
#include "anec/MIL/Spelling.h"
#include "anec/Ops/Diags.h"
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
// Element types
//===----------------------------------------------------------------------===//

static std::optional<DType> elementType(proto::DataType type) {
  switch (type) {
  case proto::UNUSED_TYPE:
    return std::nullopt;
  case proto::BOOL:
    return DType::Bool;
  case proto::STRING:
    return DType::String;
  case proto::FLOAT16:
    return DType::FP16;
  case proto::FLOAT32:
    return DType::FP32;
  case proto::FLOAT64:
    return DType::FP64;
  case proto::BFLOAT16:
    return DType::BF16;
  case proto::INT8:
    return DType::Int8;
  case proto::INT16:
    return DType::Int16;
  case proto::INT32:
    return DType::Int32;
  case proto::INT64:
    return DType::Int64;
  case proto::INT4:
    return DType::Int4;
  case proto::UINT8:
    return DType::UInt8;
  case proto::UINT16:
    return DType::UInt16;
  case proto::UINT32:
    return DType::UInt32;
  case proto::UINT64:
    return DType::UInt64;
  case proto::UINT4:
    return DType::UInt4;
  case proto::UINT2:
    return DType::UInt2;
  case proto::UINT1:
    return DType::UInt1;
  case proto::UINT6:
    return DType::UInt6;
  case proto::UINT3:
    return DType::UInt3;
  case proto::FLOAT8E4M3FN:
    return DType::FP8E4M3FN;
  case proto::FLOAT8E5M2:
    return DType::FP8E5M2;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns nothing for an extent that is missing or too large.
static std::optional<int64_t> extentOf(const proto::Dimension &dimension) {
  if (dimension.has_unknown() && !dimension.unknown().variadic())
    return unknownExtent;
  uint64_t size = dimension.constant().size();
  if (!dimension.has_constant() ||
      size > uint64_t(std::numeric_limits<int64_t>::max()))
    return std::nullopt;
  return int64_t(size);
}

bool ValueReader::readTensorType(const proto::TensorType &message,
                                 StringRef name, SourceRange range,
                                 ParsedType &type) {
  std::optional<DType> dtype = elementType(message.datatype());
  if (!dtype) {
    diags.report(range, diag::TypeMissing, name);
    return false;
  }
  type.kind = ParsedType::Tensor;
  type.tensor = TensorType(*dtype);
  if (message.rank() != message.dimensions_size() ||
      message.dimensions_size() > int(mil::maxNesting)) {
    diags.report(range, diag::TypeRank, name, message.rank(),
                 message.dimensions_size());
    return false;
  }
  Shape known;
  for (const proto::Dimension &dimension : message.dimensions()) {
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
  switch (message.type_case()) {
  case proto::ValueType::kTensorType:
    return readTensorType(message.tensortype(), name, range, type);
  case proto::ValueType::kStateType: {
    const proto::ValueType &held = message.statetype().wrappedtype();
    if (!held.has_tensortype()) {
      diags.report(range, diag::Unsupported,
                   "a state of anything but a tensor");
      return false;
    }
    bool read = readTensorType(held.tensortype(), name, range, type);
    type.kind = ParsedType::State;
    return read;
  }
  case proto::ValueType::kListType: {
    const proto::ListType &list = message.listtype();
    if (!list.type().has_tensortype()) {
      type.kind = ParsedType::List;
      return true;
    }
    std::optional<int64_t> length = extentOf(list.length());
    if (!length) {
      diags.report(range, diag::TypeMissing, name);
      return false;
    }
    if (!readTensorType(list.type().tensortype(), name, range, type))
      return false;
    type.kind = ParsedType::List;
    type.unknownExtents |= *length == unknownExtent;
    type.tensor.shape.insert(type.tensor.shape.begin(), *length);
    return true;
  }
  case proto::ValueType::kDictionaryType:
    type.kind = ParsedType::Dictionary;
    return true;
  case proto::ValueType::kTupleType:
    type.kind = ParsedType::Tuple;
    return true;
  case proto::ValueType::TYPE_NOT_SET:
    break;
  }
  diags.report(range, diag::TypeMissing, name);
  return false;
}

bool ValueReader::readValueType(const proto::ValueType &message, StringRef name,
                                SourceRange range, ParsedType &type) {
  if (!readType(message, name, range, type))
    return false;
  if (!type.isValue())
    diags.report(range, diag::Unsupported, "a value that is no tensor");
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

/// The field that has the elements of a tensor of `dtype`.
static proto::TensorValue::ValueCase fieldOf(DType dtype) {
  switch (dtype) {
  case DType::FP32:
    return proto::TensorValue::kFloats;
  case DType::FP64:
    return proto::TensorValue::kDoubles;
  case DType::Bool:
    return proto::TensorValue::kBools;
  case DType::String:
    return proto::TensorValue::kStrings;
  case DType::Int16:
  case DType::UInt16:
  case DType::Int32:
    return proto::TensorValue::kInts;
  case DType::Int64:
  case DType::UInt64:
    return proto::TensorValue::kLongInts;
  default:
    return proto::TensorValue::kBytes;
  }
}

static StringRef spellField(proto::TensorValue::ValueCase field) {
  switch (field) {
  case proto::TensorValue::kFloats:
    return "floats";
  case proto::TensorValue::kInts:
    return "ints";
  case proto::TensorValue::kBools:
    return "bools";
  case proto::TensorValue::kStrings:
    return "strings";
  case proto::TensorValue::kLongInts:
    return "longInts";
  case proto::TensorValue::kDoubles:
    return "doubles";
  default:
    return "bytes";
  }
}

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
  proto::TensorValue::ValueCase field = fieldOf(type.dtype);
  // A writer may leave out the field of an empty tensor.
  bool isEmpty = message.value_case() == proto::TensorValue::VALUE_NOT_SET &&
                 type.numElements() == 0;
  if (message.value_case() != field && !isEmpty) {
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
  case proto::TensorValue::kStrings: {
    const auto &strings = message.strings().values();
    if (!hasCount(strings.size()))
      return false;
    value = Constant::strings(type, {strings.begin(), strings.end()});
    return true;
  }
  case proto::TensorValue::kFloats:
    bytes = bytesOfField(message.floats().values());
    break;
  case proto::TensorValue::kDoubles:
    bytes = bytesOfField(message.doubles().values());
    break;
  case proto::TensorValue::kBools:
    static_assert(sizeof(bool) == 1);
    bytes = bytesOfField(message.bools().values());
    break;
  case proto::TensorValue::kLongInts:
    bytes = bytesOfField(message.longints().values());
    break;
  case proto::TensorValue::kInts: {
    const auto &ints = message.ints().values();
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
    const std::string &raw = message.bytes().values();
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
  for (const proto::Value &element : message.values()) {
    if (!element.immediatevalue().has_tensor())
      return true;
    ConstantRef scalar;
    if (!readTensor(element.immediatevalue().tensor(), TensorType(dtype), name,
                    range, scalar))
      return false;
    if (dtype == DType::String)
      strings.push_back(scalar->asString().str());
    else
      bytes.insert(bytes.end(), scalar->bytes().begin(), scalar->bytes().end());
  }
  TensorType type(dtype, {int64_t(message.values_size())});
  value = dtype == DType::String ? Constant::strings(type, std::move(strings))
                                 : Constant::copy(type, bytes);
  return true;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Of the path in the message, `@model_path/weights/weight.bin`, only the name
/// of the file is used, as in coremltools.
bool ValueReader::readBlob(const proto::Value::BlobFileValue &message,
                           const TensorType &type, SourceRange range,
                           ConstantRef &value) {
  StringRef path = message.filename();
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
  value = files.read(type, path, range, message.offset(), range);
  return value != nullptr;
}

bool ValueReader::readValue(const proto::Value &message, StringRef name,
                            SourceRange range, mil::ArgumentValue &value) {
  value.range = range;
  ParsedType type;
  if (!readType(message.type(), name, range, type))
    return false;
  const proto::Value::ImmediateValue &immediate = message.immediatevalue();
  if (type.kind == ParsedType::List && immediate.has_list()) {
    value.isList = true;
    DType dtype = type.tensor.dtype;
    bool isScalars = type.tensor.rank() == 1 &&
                     (dtype == DType::String || bitWidth(dtype) >= 8);
    return !isScalars ||
           readList(immediate.list(), dtype, name, range, value.constant);
  }
  if (type.kind != ParsedType::Tensor)
    return true;
  if (type.unknownExtents) {
    diags.report(range, diag::Unsupported, "a tensor of unknown extents");
    return false;
  }
  if (message.has_blobfilevalue())
    return readBlob(message.blobfilevalue(), type.tensor, range,
                    value.constant);
  if (immediate.has_tensor())
    return readTensor(immediate.tensor(), type.tensor, name, range,
                      value.constant);
  diags.report(range, diag::ValueMissing, name);
  return false;
}
