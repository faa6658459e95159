//===- Constant.cpp - immutable typed arrays ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/Constant.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/Elements.h"
#include "lib/Support/Half.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace anec;

ConstantRef Constant::view(TensorType type, DType stored,
                           llvm::ArrayRef<uint8_t> bytes,
                           std::shared_ptr<const void> owner,
                           std::optional<BlobOrigin> origin) {
  assert(bytes.size() == byteSize(stored, type.numElements()));
  assert((stored == type.dtype || (isFloat(stored) && isFloat(type.dtype))) &&
         "only floats may be stored wider");
  auto *constant = new Constant;
  constant->tensorType = std::move(type);
  constant->stored = stored;
  constant->data = bytes;
  constant->owner = std::move(owner);
  constant->blobOrigin = std::move(origin);
  return constant;
}

ConstantRef Constant::copy(TensorType type, llvm::ArrayRef<uint8_t> bytes) {
  assert(bytes.size() == type.numBytes());
  auto *constant = new Constant;
  constant->stored = type.dtype;
  constant->tensorType = std::move(type);
  uint8_t *storage = reinterpret_cast<uint8_t *>(&constant->inlineBytes);
  if (bytes.size() > sizeof(inlineBytes)) {
    auto heap = std::make_shared_for_overwrite<uint8_t[]>(bytes.size());
    storage = heap.get();
    constant->owner = std::move(heap);
  }
  if (!bytes.empty())
    std::memcpy(storage, bytes.data(), bytes.size());
  constant->data = {storage, bytes.size()};
  return constant;
}

ConstantRef Constant::fromDoubles(TensorType type,
                                  llvm::ArrayRef<double> values) {
  assert(int64_t(values.size()) == type.numElements());
  llvm::SmallVector<uint8_t, 64> bytes(type.numBytes());
  storeDoubles(type.dtype, values, bytes.data());
  return copy(std::move(type), bytes);
}

ConstantRef Constant::boolean(bool value) {
  return copy({DType::Bool}, uint8_t(value));
}

ConstantRef Constant::int32(int64_t value) {
  return scalar(DType::Int32, double(value));
}

ConstantRef Constant::int32s(llvm::ArrayRef<int64_t> values) {
  llvm::SmallVector<double, 8> doubles(values.begin(), values.end());
  return fromDoubles({DType::Int32, {int64_t(values.size())}}, doubles);
}

ConstantRef Constant::booleans(llvm::ArrayRef<bool> values) {
  llvm::SmallVector<double, 8> doubles(values.begin(), values.end());
  return fromDoubles({DType::Bool, {int64_t(values.size())}}, doubles);
}

ConstantRef Constant::string(llvm::StringRef value) {
  return strings({DType::String}, {value.str()});
}

ConstantRef Constant::strings(TensorType type,
                              std::vector<std::string> values) {
  assert(type.dtype == DType::String &&
         int64_t(values.size()) == type.numElements());
  auto *constant = new Constant;
  constant->tensorType = std::move(type);
  constant->stored = DType::String;
  constant->text = std::move(values);
  return constant;
}

ConstantRef Constant::scalar(DType dtype, double value) {
  return fromDoubles({dtype}, value);
}

ConstantRef Constant::reshaped(llvm::ArrayRef<int64_t> shape) const {
  TensorType newType(dtype(), shape);
  assert(newType.numElements() == numElements());
  if (dtype() == DType::String)
    return strings(std::move(newType), text);
  if (!owner) {
    // The stored type can be wider than the declared one.
    auto bytes = std::make_shared_for_overwrite<uint8_t[]>(data.size());
    std::copy(data.begin(), data.end(), bytes.get());
    return view(std::move(newType), stored, {bytes.get(), data.size()}, bytes,
                blobOrigin);
  }
  return view(std::move(newType), stored, data, owner, blobOrigin);
}

ConstantRef Constant::part(int64_t begin, llvm::ArrayRef<int64_t> shape) const {
  TensorType newType(dtype(), shape);
  if (newType.numElements() == numElements())
    return shape == llvm::ArrayRef(tensorType.shape) ? this : reshaped(shape);
  uint64_t width = bitWidth(stored) / 8;
  assert(width != 0 && begin + newType.numElements() <= numElements());
  llvm::ArrayRef<uint8_t> bytes = data.slice(
      uint64_t(begin) * width, uint64_t(newType.numElements()) * width);
  if (owner)
    return view(std::move(newType), stored, bytes, owner);
  auto copied = std::make_shared_for_overwrite<uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copied.get());
  return view(std::move(newType), stored, {copied.get(), bytes.size()}, copied);
}

bool Constant::asBool() const {
  assert(dtype() == DType::Bool && numElements() == 1);
  return data[0] != 0;
}

int64_t Constant::asInt() const {
  assert(isInteger(dtype()) && numElements() == 1);
  return intAt(0);
}

double Constant::asDouble() const {
  assert(numElements() == 1);
  return doubleAt(0);
}

llvm::StringRef Constant::asString() const {
  assert(dtype() == DType::String && text.size() == 1);
  return text[0];
}

/// The nearest integer towards 0; 0 for what is no number.
static int64_t integerOf(double value) {
  constexpr double most = 0x1p63;
  if (value >= most)
    return std::numeric_limits<int64_t>::max();
  if (value < -most)
    return std::numeric_limits<int64_t>::min();
  return std::isnan(value) ? 0 : int64_t(value);
}

llvm::SmallVector<int64_t, 4> Constant::asInts() const {
  llvm::SmallVector<int64_t, 4> values(numElements());
  for (size_t index = 0; index < values.size(); ++index)
    values[index] = isInteger(dtype()) ? intAt(int64_t(index))
                                       : integerOf(doubleAt(int64_t(index)));
  return values;
}

std::vector<double> Constant::asDoubles() const {
  std::vector<double> values(numElements());
  loadDoubles(stored, data.data(), values);
  if (stored != dtype())
    for (double &value : values)
      value = roundToDType(value, dtype());
  return values;
}

double Constant::doubleAt(int64_t index) const {
  double value = loadElement(stored, data.data(), index);
  return stored == dtype() ? value : roundToDType(value, dtype());
}

int64_t Constant::intAt(int64_t index) const {
  return loadInteger(dtype(), data.data(), index);
}

/// bf16 as fp32, or rounded to fp16.
static void brainFloatsTo(DType dtype, const uint8_t *in, float *out,
                          size_t count) {
  constexpr size_t block = 4096;
  uint16_t halves[block];
  for (size_t begin = 0; begin < count; begin += block) {
    size_t size = std::min(block, count - begin);
    for (size_t i = begin; i < begin + size; ++i)
      out[i] = std::bit_cast<float>(
          uint32_t(llvm::support::endian::read16le(in + 2 * i)) << 16);
    if (dtype != DType::FP16)
      continue;
    floatsToHalves(out + begin, halves, size);
    halvesToFloats(halves, out + begin, size);
  }
}

void Constant::copyToFloats(float *out) const {
  size_t count = numElements();
  if (stored == DType::FP16 && dtype() == DType::FP16)
    return halvesToFloats(reinterpret_cast<const uint16_t *>(data.data()), out,
                          count);
  if (stored == DType::FP32 && dtype() == DType::FP32) {
    if (count)
      std::memcpy(out, data.data(), count * sizeof(float));
    return;
  }
  if (stored == DType::BF16 && dtype() != DType::BF16)
    return brainFloatsTo(dtype(), data.data(), out, count);
  for (size_t index = 0; index < count; ++index)
    out[index] = float(doubleAt(int64_t(index)));
}

bool Constant::equals(const Constant &other) const {
  if (this == &other)
    return true;
  if (!(tensorType == other.tensorType) || text != other.text)
    return false;
  if (stored == other.stored)
    return data == other.data;
  // A derived constant differs from what it is rounded to.
  if (derivedNumber(*this) || derivedNumber(other))
    return false;
  for (int64_t index = 0, count = numElements(); index < count; ++index) {
    double lhs = doubleAt(index), rhs = other.doubleAt(index);
    if (std::memcmp(&lhs, &rhs, sizeof(double)) != 0)
      return false;
  }
  return true;
}

size_t Constant::hash() const {
  // Hashing the start of a large array is enough; `equals` decides.
  llvm::hash_code code =
      llvm::hash_combine(unsigned(dtype()),
                         llvm::hash_combine_range(tensorType.shape.begin(),
                                                  tensorType.shape.end()),
                         llvm::hash_combine_range(text.begin(), text.end()));
  for (int64_t index = 0,
               count = text.empty() ? std::min<int64_t>(numElements(), 16) : 0;
       index < count; ++index)
    code = llvm::hash_combine(code, std::hash<double>()(doubleAt(index)));
  return code;
}

bool anec::equalConstants(llvm::ArrayRef<ConstantRef> lhs,
                          llvm::ArrayRef<ConstantRef> rhs) {
  return llvm::equal(
      lhs, rhs, [](const ConstantRef &left, const ConstantRef &right) {
        return left == right || (left && right && left->equals(*right));
      });
}
