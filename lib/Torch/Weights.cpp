//===- Weights.cpp - the tensors of an archive ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Weights.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace anec;
using namespace anec::torch;

std::optional<DType> torch::storedType(ScalarType type) {
  switch (type) {
  case ScalarType::UInt8:
    return DType::UInt8;
  case ScalarType::Int8:
    return DType::Int8;
  case ScalarType::Int16:
    return DType::Int16;
  case ScalarType::Int32:
    return DType::Int32;
  case ScalarType::Int64:
    return DType::Int64;
  case ScalarType::Float16:
    return DType::FP16;
  case ScalarType::Float32:
    return DType::FP32;
  case ScalarType::Float64:
    return DType::FP64;
  case ScalarType::Bool:
    return DType::Bool;
  case ScalarType::BFloat16:
    return DType::BF16;
  case ScalarType::UInt16:
    return DType::UInt16;
  case ScalarType::Float8E4M3FN:
    return DType::FP8E4M3FN;
  case ScalarType::Float8E5M2:
    return DType::FP8E5M2;
  case ScalarType::UInt32:
    return DType::UInt32;
  case ScalarType::UInt64:
    return DType::UInt64;
  default:
    return std::nullopt;
  }
}

/// Of fewer elements, comparing the checksum costs nothing.
static constexpr int64_t leastCountLeft = 64;

bool torch::isComplex(ScalarType type) {
  return type >= ScalarType::Complex32 && type <= ScalarType::Complex128;
}

bool Weights::addConfig(Archive &archive, llvm::StringRef config,
                        llvm::StringRef folder, std::string &error) {
  std::optional<llvm::ArrayRef<uint8_t>> bytes = archive.read(config, error);
  if (!bytes)
    return false;
  configs.push_back(std::make_unique<JsonTree>());
  if (!configs.back()->parse(llvm::toStringRef(*bytes), error)) {
    error = "`" + config.str() + "`: " + error;
    return false;
  }
  for (const JsonMember &member : configs.back()->root()["config"].members()) {
    const JsonValue &json = member.value;
    StoredTensor tensor;
    std::string name = member.key.str();
    if (json["use_pickle"].boolean().value_or(false))
      tensor.refusal =
          "it is a Python object (a subclass of tensors, a script object); "
          "export a model of plain tensors, of torchao's by "
          "`torchao.utils.unwrap_tensor_subclass(model)`";
    else if (!readTensorMeta(json["tensor_meta"], tensor.meta) ||
             json["path_name"].text().empty()) {
      error = "`" + config.str() + "`: `" + name + "` is malformed";
      return false;
    }
    tensor.entry = (folder + json["path_name"].text()).str();
    tensor.archive = &archive;
    add(name, std::move(tensor));
  }
  return true;
}

/// The elements of a view inside of `storage`, in order, of `size` bytes each.
static std::vector<uint8_t> gather(llvm::ArrayRef<uint8_t> storage,
                                   llvm::ArrayRef<int64_t> shape,
                                   llvm::ArrayRef<int64_t> strides,
                                   int64_t offset, int64_t size) {
  std::vector<uint8_t> bytes;
  int64_t count = *checkedNumElements(shape);
  bytes.reserve(size_t(count * size));
  Shape index(shape.size(), 0);
  for (int64_t i = 0; i != count; ++i) {
    int64_t at = offset;
    for (size_t axis = 0; axis != shape.size(); ++axis)
      at += index[axis] * strides[axis];
    const uint8_t *element = storage.data() + at * size;
    bytes.insert(bytes.end(), element, element + size);
    for (size_t axis = shape.size(); axis-- != 0;) {
      if (++index[axis] != shape[axis])
        break;
      index[axis] = 0;
    }
  }
  return bytes;
}

std::string Weights::sharedWith(llvm::StringRef name) const {
  auto own = tensors.find(name);
  if (own == tensors.end())
    return "";
  for (const auto &other : tensors)
    if (other.first() != name && other.second.entry == own->second.entry &&
        other.second.archive == own->second.archive)
      return other.first().str();
  return "";
}

ConstantRef Weights::read(llvm::StringRef name, ScalarType &type,
                          std::string &error) {
  return read(name, type, Checksum::Now, error);
}

ConstantRef Weights::locate(llvm::StringRef name, ScalarType &type,
                            std::string &error) {
  return read(name, type, Checksum::Later, error);
}

std::string Weights::check(const Constant &constant, std::string &error) {
  const uint8_t *begin = constant.bytes().data();
  auto found = unchecked.upper_bound(begin);
  if (found == unchecked.begin() || begin >= (--found)->second.end)
    return "";
  std::string name = std::move(found->second.name);
  unchecked.erase(found);
  const StoredTensor &tensor = tensors.find(name)->second;
  return tensor.archive->read(tensor.entry, error) ? "" : name;
}

/// Whether elements of the type are read only to compute with them: integers
/// decide shapes, and others are rewritten in a type that ops have.
static bool isOnlyComputedWith(ScalarType type) {
  return type == ScalarType::Float32 || type == ScalarType::Float16;
}

ConstantRef Weights::read(llvm::StringRef name, ScalarType &type,
                          Checksum checksum, std::string &error) {
  auto fail = [&](const llvm::Twine &why) {
    error = why.str();
    return ConstantRef();
  };
  auto found = tensors.find(name);
  if (found == tensors.end())
    return fail("the archive does not have it");
  StoredTensor &tensor = found->second;
  if (!tensor.refusal.empty())
    return fail(tensor.refusal);
  type = tensor.meta.type;
  ScalarType part = type == ScalarType::Complex64 ? ScalarType::Float32 : type;
  std::optional<DType> dtype = storedType(part);
  std::optional<Shape> shape = numbersOf(tensor.meta.sizes),
                       strides = numbersOf(tensor.meta.strides);
  std::optional<int64_t> offset = tensor.meta.offset.value;
  if (!dtype)
    return fail("elements of type " + spelling(type) + " are not supported");
  if (!tensor.meta.isStrided || !shape || !strides || !offset ||
      shape->size() != strides->size() || !checkedNumElements(*shape))
    return fail("it is not a dense tensor of a known shape");
  int64_t count = *checkedNumElements(*shape);
  Shape inOrder = rowMajorStrides(*shape);
  bool isInOrder = true;
  for (size_t axis = 0; axis != shape->size(); ++axis)
    isInOrder &= (*shape)[axis] == 1 || (*strides)[axis] == inOrder[axis];
  bool isLeft = checksum == Checksum::Later && isInOrder &&
                count >= leastCountLeft && isOnlyComputedWith(type);
  if (tensor.archive) {
    std::optional<llvm::ArrayRef<uint8_t>> bytes =
        isLeft ? tensor.archive->locate(tensor.entry, error)
               : tensor.archive->read(tensor.entry, error);
    if (!bytes)
      return nullptr;
    tensor.storage = *bytes;
  }
  if (count != 0 && tensor.storage.empty())
    return fail("it has no elements in the file: the model was exported with "
                "fake tensors (FakeTensorMode, the device `meta`); load the "
                "weights before the export");
  int64_t size = int64_t(bitWidth(*dtype) + 7) / 8 * (part == type ? 1 : 2);
  int64_t last = *offset, elements = int64_t(tensor.storage.size()) / size;
  bool inside = *offset >= 0 && count >= 0;
  for (size_t axis = 0; axis != shape->size() && count != 0; ++axis) {
    int64_t reach = 0;
    inside &= (*strides)[axis] >= 0 &&
              !llvm::MulOverflow((*shape)[axis] - 1, (*strides)[axis], reach) &&
              !llvm::AddOverflow(last, reach, last);
  }
  if (!inside || (count != 0 && last >= elements))
    return fail("its view leaves the stored elements");
  Shape full = *shape;
  if (part != type)
    full.push_back(2);
  TensorType result(*dtype, full);
  if (count == 0)
    return Constant::copy(result, {});
  if (isInOrder) {
    llvm::ArrayRef<uint8_t> bytes =
        tensor.storage.slice(size_t(*offset * size), size_t(count * size));
    if (isLeft && tensor.archive)
      unchecked.try_emplace(bytes.data(), Unchecked{bytes.end(), name.str()});
    return Constant::view(result, *dtype, bytes, file);
  }
  // A stride of 0 makes any number of elements of one.
  if (count > elements)
    return fail("its view has more elements than are stored");
  return Constant::copy(
      result, gather(tensor.storage, *shape, *strides, *offset, size));
}
