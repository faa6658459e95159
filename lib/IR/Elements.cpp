//===- Elements.cpp - elements in memory ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/Elements.h"
#include "lib/Support/Half.h"
#include "llvm/ADT/bit.h"
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

using namespace anec;

// Blobs and arrays are little-endian; so are all machines anec runs on.
static_assert(llvm::endianness::native == llvm::endianness::little);

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

template <typename T>
static T load(const uint8_t *bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes + index * int64_t(sizeof(T)), sizeof(T));
  return value;
}
template <typename T>
static void store(uint8_t *bytes, int64_t index, T value) {
  std::memcpy(bytes + index * int64_t(sizeof(T)), &value, sizeof(T));
}

/// Reads `width` bits at bit `index * width`, low bits first.
static unsigned loadPacked(const uint8_t *bytes, int64_t index,
                           unsigned width) {
  unsigned value = 0;
  for (unsigned bit = 0; bit < width; ++bit) {
    int64_t position = index * width + bit;
    value |= unsigned(bytes[position / 8] >> (position % 8) & 1) << bit;
  }
  return value;
}

static void storePacked(uint8_t *bytes, int64_t index, unsigned width,
                        uint64_t value) {
  for (unsigned bit = 0; bit < width; ++bit) {
    int64_t position = index * width + bit;
    bytes[position / 8] |= uint8_t((value >> bit & 1) << (position % 8));
  }
}

static uint64_t loadBits(DType dtype, const uint8_t *bytes, int64_t index) {
  switch (unsigned width = bitWidth(dtype)) {
  case 8:
    return bytes[index];
  case 16:
    return load<uint16_t>(bytes, index);
  case 32:
    return load<uint32_t>(bytes, index);
  case 64:
    return load<uint64_t>(bytes, index);
  default:
    return loadPacked(bytes, index, width);
  }
}

void anec::storeBits(DType dtype, uint8_t *bytes, int64_t index,
                     uint64_t bits) {
  switch (unsigned width = bitWidth(dtype)) {
  case 8:
    bytes[index] = uint8_t(bits);
    return;
  case 16:
    return store(bytes, index, uint16_t(bits));
  case 32:
    return store(bytes, index, uint32_t(bits));
  case 64:
    return store(bytes, index, bits);
  default:
    return storePacked(bytes, index, width, bits);
  }
}

int64_t anec::loadInteger(DType dtype, const uint8_t *bytes, int64_t index) {
  uint64_t bits = loadBits(dtype, bytes, index);
  if (!isSigned(dtype))
    return int64_t(bits);
  unsigned unused = 64 - bitWidth(dtype);
  return int64_t(bits << unused) >> unused;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Decodes a float from its fields, for types without hardware support.
static double decodeFloat(const DTypeFacts &row, uint64_t bits) {
  unsigned mantissaBits = row.mantissaBits();
  uint64_t top = (uint64_t(1) << row.exponentBits) - 1;
  uint64_t largest = (uint64_t(1) << mantissaBits) - 1;
  uint64_t exponent = bits >> mantissaBits & top;
  uint64_t mantissa = bits & largest;
  double sign = bits >> (row.bits - 1) & 1 ? -1.0 : 1.0;
  bool finite = row.family == DTypeFacts::FiniteFloat;
  if (exponent == top && (finite ? mantissa == largest : mantissa != 0))
    return std::numeric_limits<double>::quiet_NaN();
  if (exponent == top && !finite)
    return sign * std::numeric_limits<double>::infinity();
  int lowestBit = 1 - row.exponentBias() - int(mantissaBits);
  if (exponent == 0)
    return sign * std::ldexp(double(mantissa), lowestBit);
  return sign * std::ldexp(double(mantissa | (largest + 1)),
                           int(exponent) - 1 + lowestBit);
}

double anec::loadElement(DType dtype, const uint8_t *bytes, int64_t index) {
  const DTypeFacts &row = facts(dtype);
  switch (row.family) {
  case DTypeFacts::Bool:
    return bytes[index] != 0;
  case DTypeFacts::Signed:
    return double(loadInteger(dtype, bytes, index));
  case DTypeFacts::Unsigned:
    return double(loadBits(dtype, bytes, index));
  case DTypeFacts::Float:
  case DTypeFacts::FiniteFloat:
    break;
  case DTypeFacts::String:
    assert(false && "strings are not numbers");
    return 0;
  }
  uint64_t bits = loadBits(dtype, bytes, index);
  switch (dtype) {
  case DType::FP16:
    return halfToFloat(uint16_t(bits));
  case DType::BF16:
    return bfloatToFloat(uint16_t(bits));
  case DType::FP32:
    return std::bit_cast<float>(uint32_t(bits));
  case DType::FP64:
    return std::bit_cast<double>(bits);
  default:
    return decodeFloat(row, bits);
  }
}

/// Truncates, and clamps to the range of `dtype`; a NaN becomes 0.
static uint64_t toInteger(DType dtype, double value) {
  if (std::isnan(value))
    return 0;
  bool hasSign = isSigned(dtype);
  // The maximum of 64 bits is not a double, but the next power of two is.
  uint64_t most = ~uint64_t(0) >> (64 - bitWidth(dtype) + hasSign);
  double end = double(most / 2 + 1) * 2;
  if (value >= end)
    return most;
  if (!hasSign)
    return uint64_t(std::max(value, 0.0));
  return uint64_t(int64_t(std::max(value, -end)));
}

void anec::storeElement(DType dtype, uint8_t *bytes, int64_t index,
                        double value) {
  switch (dtype) {
  case DType::Bool:
    return storeBits(dtype, bytes, index, value != 0);
  case DType::FP16:
    return storeBits(dtype, bytes, index, doubleToHalf(value));
  case DType::BF16:
    return storeBits(dtype, bytes, index, floatToBFloat(float(value)));
  case DType::FP32:
    return store(bytes, index, float(value));
  case DType::FP64:
    return store(bytes, index, value);
  default:
    assert(isInteger(dtype) && "no op makes such elements");
    return storeBits(dtype, bytes, index, toInteger(dtype, value));
  }
}

void anec::loadDoubles(DType dtype, const uint8_t *bytes,
                       llvm::MutableArrayRef<double> values) {
  switch (dtype) {
  case DType::FP16:
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = halfToFloat(load<uint16_t>(bytes, int64_t(i)));
    return;
  case DType::FP32:
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = load<float>(bytes, int64_t(i));
    return;
  default:
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = loadElement(dtype, bytes, int64_t(i));
  }
}

void anec::storeDoubles(DType dtype, llvm::ArrayRef<double> values,
                        uint8_t *bytes) {
  switch (dtype) {
  case DType::FP16:
    return doublesToHalves(values.data(), reinterpret_cast<uint16_t *>(bytes),
                           values.size());
  case DType::FP32:
    for (size_t i = 0; i < values.size(); ++i)
      store(bytes, int64_t(i), float(values[i]));
    return;
  default:
    for (size_t i = 0; i < values.size(); ++i)
      storeElement(dtype, bytes, int64_t(i), values[i]);
  }
}

double anec::roundToDType(double value, DType dtype) {
  switch (dtype) {
  case DType::FP64:
    return value;
  case DType::FP32:
    return double(float(value));
  case DType::FP16:
    return roundToHalf(value);
  default: {
    uint8_t bytes[8] = {};
    storeElement(dtype, bytes, 0, value);
    return loadElement(dtype, bytes, 0);
  }
  }
}
