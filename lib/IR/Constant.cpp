//===- Constant.cpp - immutable typed arrays ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/Constant.h"
#include "anec/Support/Half.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace anec;

// Blobs and arrays are little-endian; so are all machines anec runs on.
static_assert(llvm::endianness::native == llvm::endianness::little);

namespace {

template <typename T>
T load(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}
template <typename T>
void store(uint8_t *bytes, T value) {
  std::memcpy(bytes, &value, sizeof(T));
}

/// Reads `width` bits at bit `index * width`, low bits first.
unsigned loadPacked(const uint8_t *bytes, int64_t index, unsigned width) {
  unsigned value = 0;
  for (unsigned bit = 0; bit < width; ++bit) {
    int64_t position = index * width + bit;
    value |= unsigned(bytes[position / 8] >> (position % 8) & 1) << bit;
  }
  return value;
}
void storePacked(uint8_t *bytes, int64_t index, unsigned width,
                 unsigned value) {
  for (unsigned bit = 0; bit < width; ++bit) {
    int64_t position = index * width + bit;
    if (value >> bit & 1)
      bytes[position / 8] |= uint8_t(1u << (position % 8));
  }
}

/// An 8-bit float of `exponentBits`; E4M3FN has no infinity and one NaN.
double minifloat(uint8_t bits, unsigned exponentBits, bool finiteOnly) {
  unsigned mantissaBits = 7 - exponentBits;
  int bias = (1 << (exponentBits - 1)) - 1;
  unsigned exponent = bits >> mantissaBits & ((1u << exponentBits) - 1);
  unsigned mantissa = bits & ((1u << mantissaBits) - 1);
  double sign = bits & 0x80 ? -1.0 : 1.0;
  bool top = exponent == (1u << exponentBits) - 1;
  if (top && finiteOnly && mantissa == (1u << mantissaBits) - 1)
    return std::numeric_limits<double>::quiet_NaN();
  if (top && !finiteOnly)
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0)
    return sign * std::ldexp(double(mantissa), 1 - bias - int(mantissaBits));
  return sign * std::ldexp(double(mantissa + (1u << mantissaBits)),
                           int(exponent) - bias - int(mantissaBits));
}

double loadElement(DType dtype, const uint8_t *bytes, int64_t index) {
  switch (dtype) {
  case DType::Bool:
    return bytes[index] != 0;
  case DType::FP16:
    return halfToFloat(load<uint16_t>(bytes + 2 * index));
  case DType::BF16:
    return bfloatToFloat(load<uint16_t>(bytes + 2 * index));
  case DType::FP32:
    return load<float>(bytes + 4 * index);
  case DType::FP64:
    return load<double>(bytes + 8 * index);
  case DType::FP8E4M3FN:
    return minifloat(bytes[index], 4, /*finiteOnly=*/true);
  case DType::FP8E5M2:
    return minifloat(bytes[index], 5, /*finiteOnly=*/false);
  case DType::Int8:
    return int8_t(bytes[index]);
  case DType::Int16:
    return load<int16_t>(bytes + 2 * index);
  case DType::Int32:
    return load<int32_t>(bytes + 4 * index);
  case DType::Int64:
    return double(load<int64_t>(bytes + 8 * index));
  case DType::UInt8:
    return bytes[index];
  case DType::UInt16:
    return load<uint16_t>(bytes + 2 * index);
  case DType::UInt32:
    return load<uint32_t>(bytes + 4 * index);
  case DType::UInt64:
    return double(load<uint64_t>(bytes + 8 * index));
  case DType::Int4: {
    int value = int(loadPacked(bytes, index, 4));
    return value >= 8 ? value - 16 : value;
  }
  case DType::UInt1:
  case DType::UInt2:
  case DType::UInt3:
  case DType::UInt4:
  case DType::UInt6:
    return loadPacked(bytes, index, bitWidth(dtype));
  case DType::String:
    break;
  }
  assert(false && "strings are not numbers");
  return 0;
}

/// Converts to an integer type by truncation, clamped to its range; a NaN is 0.
template <typename T>
T toInteger(double value) {
  if (std::isnan(value))
    return 0;
  constexpr double low = double(std::numeric_limits<T>::min());
  constexpr double high = double(std::numeric_limits<T>::max());
  if (value <= low)
    return std::numeric_limits<T>::min();
  if (value >= high)
    return std::numeric_limits<T>::max();
  return T(value);
}

void storeElement(DType dtype, uint8_t *bytes, int64_t index, double value) {
  switch (dtype) {
  case DType::Bool:
    bytes[index] = value != 0;
    return;
  case DType::FP16:
    return store(bytes + 2 * index, doubleToHalf(value));
  case DType::BF16:
    return store(bytes + 2 * index, floatToBFloat(float(value)));
  case DType::FP32:
    return store(bytes + 4 * index, float(value));
  case DType::FP64:
    return store(bytes + 8 * index, value);
  case DType::Int8:
    return store(bytes + index, toInteger<int8_t>(value));
  case DType::Int16:
    return store(bytes + 2 * index, toInteger<int16_t>(value));
  case DType::Int32:
    return store(bytes + 4 * index, toInteger<int32_t>(value));
  case DType::Int64:
    return store(bytes + 8 * index, toInteger<int64_t>(value));
  case DType::UInt8:
    return store(bytes + index, toInteger<uint8_t>(value));
  case DType::UInt16:
    return store(bytes + 2 * index, toInteger<uint16_t>(value));
  case DType::UInt32:
    return store(bytes + 4 * index, toInteger<uint32_t>(value));
  case DType::UInt64:
    return store(bytes + 8 * index, toInteger<uint64_t>(value));
  case DType::Int4:
  case DType::UInt1:
  case DType::UInt2:
  case DType::UInt3:
  case DType::UInt4:
  case DType::UInt6: {
    unsigned width = bitWidth(dtype);
    bool isSigned = dtype == DType::Int4;
    int low = isSigned ? -(1 << (width - 1)) : 0;
    int high = low + (1 << width) - 1;
    int clamped = std::clamp<int>(toInteger<int8_t>(value), low, high);
    unsigned bits = unsigned(clamped) & ((1u << width) - 1);
    return storePacked(bytes, index, width, bits);
  }
  case DType::FP8E4M3FN:
  case DType::FP8E5M2:
  case DType::String:
    break;
  }
  assert(false && "no op makes such elements");
}

} // namespace

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
  for (size_t index = 0; index < values.size(); ++index)
    storeElement(type.dtype, bytes.data(), int64_t(index), values[index]);
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
    // What is stored may be wider than what is declared.
    auto bytes = std::make_shared_for_overwrite<uint8_t[]>(data.size());
    std::copy(data.begin(), data.end(), bytes.get());
    return view(std::move(newType), stored, {bytes.get(), data.size()}, bytes,
                blobOrigin);
  }
  return view(std::move(newType), stored, data, owner, blobOrigin);
}

bool Constant::asBool() const {
  assert(dtype() == DType::Bool && numElements() == 1);
  return data[0] != 0;
}

int64_t Constant::asInt() const {
  assert(isInteger(dtype()) && numElements() == 1);
  if (dtype() == DType::Int64 || dtype() == DType::UInt64)
    return load<int64_t>(data.data());
  return int64_t(doubleAt(0));
}

double Constant::asDouble() const {
  assert(numElements() == 1);
  return doubleAt(0);
}

llvm::StringRef Constant::asString() const {
  assert(dtype() == DType::String && text.size() == 1);
  return text[0];
}

llvm::SmallVector<int64_t, 4> Constant::asInts() const {
  llvm::SmallVector<int64_t, 4> values(numElements());
  for (size_t index = 0; index < values.size(); ++index)
    values[index] = int64_t(doubleAt(int64_t(index)));
  return values;
}

std::vector<double> Constant::asDoubles() const {
  std::vector<double> values(numElements());
  for (size_t index = 0; index < values.size(); ++index)
    values[index] = doubleAt(int64_t(index));
  return values;
}

double Constant::doubleAt(int64_t index) const {
  double value = loadElement(stored, data.data(), index);
  if (stored == dtype())
    return value;
  if (dtype() == DType::FP16)
    return roundToHalf(value);
  if (dtype() == DType::BF16)
    return bfloatToFloat(floatToBFloat(float(value)));
  return dtype() == DType::FP32 ? double(float(value)) : value;
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
  for (int64_t index = 0, count = numElements(); index < count; ++index) {
    double lhs = doubleAt(index), rhs = other.doubleAt(index);
    if (std::memcmp(&lhs, &rhs, sizeof(double)) != 0)
      return false;
  }
  return true;
}

size_t Constant::hash() const {
  // The head of a large array tells enough; `equals` decides.
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
