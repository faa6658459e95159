//===- DType.h - element types ---------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The element types of MIL. DTypes.def has a row for each, with its width,
/// signedness, range and codes.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_DTYPE_H
#define ANEC_IR_DTYPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace anec {

enum class DType : uint8_t {
#define DTYPE(NAME, ...) NAME,
#include "anec/IR/DTypes.def"
};

/// A row of DTypes.def.
struct DTypeFacts {
  enum Family : uint8_t {
    Bool,
    String,
    Float,       ///< IEEE 754: the top exponent is infinity and NaN
    FiniteFloat, ///< no infinity, and one NaN for each sign
    Signed,      ///< two's complement
    Unsigned,
  };

  DType dtype;
  llvm::StringLiteral spelling; ///< MIL's: `fp16`, `int32`, `fp8e4m3fn`, ...
  Family family;
  uint8_t bits; ///< of one element as stored in a blob
  uint8_t exponentBits;
  uint8_t blobCode;        ///< in weight files; 0 when they lack the type
  llvm::StringLiteral npy; ///< numpy's, without the byte order; or empty
  llvm::StringLiteral safetensors; ///< or empty

  constexpr bool isFloat() const {
    return family == Float || family == FiniteFloat;
  }
  constexpr unsigned mantissaBits() const { return bits - 1 - exponentBits; }
  constexpr int exponentBias() const { return (1 << (exponentBits - 1)) - 1; }
};

inline constexpr DTypeFacts dtypeTable[] = {
#define DTYPE(NAME, SPELLING, FAMILY, BITS, EXPONENT, BLOB, NPY, SAFETENSORS)  \
  {DType::NAME, SPELLING, DTypeFacts::FAMILY, BITS, EXPONENT,                  \
   BLOB,        NPY,      SAFETENSORS},
#include "anec/IR/DTypes.def"
};
constexpr unsigned numDTypes = std::size(dtypeTable);

constexpr const DTypeFacts &facts(DType dtype) {
  return dtypeTable[unsigned(dtype)];
}
/// The element type that has `value` in `column`:
/// `findDType(&DTypeFacts::npy, "f2")`.
template <typename Column, typename Value>
std::optional<DType> findDType(Column DTypeFacts::*column, const Value &value) {
  if (value == Value())
    return std::nullopt; // a format without the type
  for (const DTypeFacts &row : dtypeTable)
    if (row.*column == value)
      return row.dtype;
  return std::nullopt;
}

inline llvm::StringRef spelling(DType dtype) { return facts(dtype).spelling; }
inline std::optional<DType> parseDType(llvm::StringRef spelling) {
  return findDType(&DTypeFacts::spelling, spelling);
}

/// Bits of one element as stored in a blob; 8 for `bool`, 0 for `string`.
constexpr unsigned bitWidth(DType dtype) { return facts(dtype).bits; }
constexpr bool isFloat(DType dtype) { return facts(dtype).isFloat(); }
/// 8-bit floats are stored and unpacked; values are never rounded to them.
constexpr bool isMinifloat(DType dtype) {
  return isFloat(dtype) && bitWidth(dtype) == 8;
}
constexpr bool isSigned(DType dtype) {
  return facts(dtype).family == DTypeFacts::Signed;
}
constexpr bool isInteger(DType dtype) {
  return isSigned(dtype) || facts(dtype).family == DTypeFacts::Unsigned;
}
/// Bytes of `count` packed elements (sub-byte types are packed, rounded up).
constexpr uint64_t byteSize(DType dtype, uint64_t count) {
  uint64_t bits = bitWidth(dtype);
  return bits % 8 == 0 ? count * (bits / 8) : (count * bits + 7) / 8;
}

/// The largest finite value of a float or integer type; rounded when a double
/// cannot hold it.
double highest(DType dtype);
/// The smallest finite value.
double lowest(DType dtype);
/// The smallest positive number of a float type that has all of its precision.
double smallestNormal(DType dtype);
/// Whether the integer type `dtype` can hold the value.
constexpr bool fitsInto(DType dtype, bool negative, uint64_t magnitude) {
  uint64_t most = ~uint64_t(0) >> (64 - bitWidth(dtype));
  if (isSigned(dtype))
    return magnitude <= (most >> 1) + negative;
  return negative ? magnitude == 0 : magnitude <= most;
}
constexpr bool fitsInto(DType dtype, int64_t value) {
  return fitsInto(dtype, value < 0,
                  value < 0 ? -uint64_t(value) : uint64_t(value));
}

/// A set of element types: the domain of an op's parameter.
class DTypeSet {
public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (DType dtype : dtypes)
      bits |= 1u << unsigned(dtype);
  }
  constexpr bool contains(DType dtype) const {
    return bits >> unsigned(dtype) & 1;
  }
  constexpr bool operator==(const DTypeSet &) const = default;
  /// The spellings in order, joined by ", ".
  std::string str() const;

private:
  static_assert(numDTypes <= 32, "a set has a bit for each");
  uint32_t bits = 0;
};

} // namespace anec

#endif // ANEC_IR_DTYPE_H
