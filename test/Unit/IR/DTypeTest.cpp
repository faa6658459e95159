//===- DTypeTest.cpp - the table of element types -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What follows from a row of DTypes.def, for every row: names that tell the
/// types apart, ranges, and elements that come back as they were stored.
///
//===----------------------------------------------------------------------===//

#include "lib/IR/Elements.h"
#include "lib/MIL/Blob.h"
#include "lib/Support/Half.h"
#include <cfloat>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

using namespace anec;

static_assert(isSigned(DType::Int4) && !isSigned(DType::UInt4));
static_assert(isInteger(DType::UInt1) && !isInteger(DType::Bool));
static_assert(isFloat(DType::BF16) && isMinifloat(DType::FP8E5M2));
static_assert(byteSize(DType::UInt3, 3) == 2);
static_assert(fitsInto(DType::Int8, -128) && !fitsInto(DType::Int8, -129));
static_assert(fitsInto(DType::UInt6, 63) && !fitsInto(DType::UInt6, -1));
static_assert(fitsInto(DType::UInt64, false, ~uint64_t(0)));
static_assert(fitsInto(DType::Int64, true, uint64_t(1) << 63));
static_assert(!fitsInto(DType::Int64, false, uint64_t(1) << 63));

TEST(DType, NamesTellTypesApart) {
  std::set<std::string> spellings, npy, safetensors;
  std::set<unsigned> blob;
  for (const DTypeFacts &row : dtypeTable) {
    EXPECT_EQ(&facts(row.dtype), &row);
    EXPECT_EQ(parseDType(row.spelling), row.dtype);
    EXPECT_TRUE(spellings.insert(row.spelling.str()).second)
        << row.spelling.str();
    EXPECT_TRUE(row.npy.empty() || npy.insert(row.npy.str()).second);
    EXPECT_TRUE(row.safetensors.empty() ||
                safetensors.insert(row.safetensors.str()).second);
    EXPECT_TRUE(row.blobCode == 0 || blob.insert(row.blobCode).second);
    EXPECT_EQ(blobCode(row.dtype).value_or(0), row.blobCode);
  }
  EXPECT_FALSE(parseDType(""));
  EXPECT_FALSE(findDType(&DTypeFacts::npy, llvm::StringRef("")));
  EXPECT_FALSE(dtypeOfBlobCode(0));
}

TEST(DType, CodesSayTheWidth) {
  for (const DTypeFacts &row : dtypeTable)
    if (!row.npy.empty())
      EXPECT_EQ(unsigned(row.npy[1] - '0'), row.bits / 8u)
          << row.spelling.str();
}

TEST(DType, RangesAreThoseOfTheMachine) {
  EXPECT_EQ(highest(DType::FP16), halfMax);
  EXPECT_EQ(highest(DType::FP32), double(FLT_MAX));
  EXPECT_EQ(lowest(DType::FP32), -double(FLT_MAX));
  EXPECT_EQ(highest(DType::FP64), DBL_MAX);
  EXPECT_EQ(highest(DType::BF16), std::ldexp(255.0, 120));
  EXPECT_EQ(highest(DType::FP8E4M3FN), 448);
  EXPECT_EQ(highest(DType::FP8E5M2), 57344);
  EXPECT_EQ(lowest(DType::Int4), -8);
  EXPECT_EQ(highest(DType::Int4), 7);
  EXPECT_EQ(highest(DType::Int32), double(INT32_MAX));
  EXPECT_EQ(lowest(DType::UInt16), 0);
  EXPECT_EQ(highest(DType::UInt1), 1);
}

/// Eight elements, some of them packed into a byte, come back.
static void roundTrip(DType dtype, llvm::ArrayRef<double> values) {
  uint8_t bytes[64] = {};
  for (size_t i = 0; i < values.size(); ++i)
    storeElement(dtype, bytes, int64_t(i), values[i]);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(loadElement(dtype, bytes, int64_t(i)), values[i])
        << spelling(dtype).str() << " " << i;
}

TEST(DType, ElementsComeBack) {
  for (const DTypeFacts &row : dtypeTable) {
    DType dtype = row.dtype;
    if (row.family == DTypeFacts::String || isMinifloat(dtype))
      continue;
    if (row.family == DTypeFacts::Bool) {
      roundTrip(dtype, {1, 0, 0, 1, 1, 1, 0, 1});
      continue;
    }
    roundTrip(dtype, {0, 1, lowest(dtype), 1, 0, lowest(dtype), 0, 1});
    // What lies outside is clamped, and becomes infinite as a float.
    double above = roundToDType(highest(dtype) * 4, dtype);
    if (isFloat(dtype))
      EXPECT_TRUE(std::isinf(above));
    else
      EXPECT_EQ(above, roundToDType(highest(dtype), dtype));
    EXPECT_EQ(roundToDType(-1e300, dtype),
              isFloat(dtype) && bitWidth(dtype) < 64 ? -HUGE_VAL
              : isFloat(dtype)                       ? -1e300
                                                     : lowest(dtype));
    if (isInteger(dtype)) {
      EXPECT_EQ(roundToDType(std::nan(""), dtype), 0);
      EXPECT_EQ(roundToDType(0.9, dtype), 0);
    }
  }
}

TEST(DType, IntegersOf64BitsKeepAllOfThem) {
  uint8_t bytes[8];
  int64_t value = (int64_t(1) << 62) + 1;
  storeBits(DType::Int64, bytes, 0, uint64_t(value));
  EXPECT_EQ(loadInteger(DType::Int64, bytes, 0), value);
  storeElement(DType::UInt64, bytes, 0, 1e30);
  EXPECT_EQ(uint64_t(loadInteger(DType::UInt64, bytes, 0)), ~uint64_t(0));
  storeElement(DType::Int64, bytes, 0, -1e30);
  EXPECT_EQ(loadInteger(DType::Int64, bytes, 0), INT64_MIN);
}

/// Every 8-bit float, against its definition.
TEST(DType, DecodesMinifloats) {
  for (DType dtype : {DType::FP8E4M3FN, DType::FP8E5M2}) {
    const DTypeFacts &row = facts(dtype);
    double largest = 0;
    unsigned nans = 0, infinities = 0;
    for (unsigned bits = 0; bits < 128; ++bits) {
      uint8_t byte = uint8_t(bits), negated = uint8_t(bits | 0x80);
      double value = loadElement(dtype, &byte, 0);
      nans += std::isnan(value);
      infinities += std::isinf(value);
      if (!std::isfinite(value))
        continue;
      EXPECT_EQ(loadElement(dtype, &negated, 0), -value);
      // Counting up, steps double with the exponent.
      uint8_t next = uint8_t(bits + 1);
      double step = loadElement(dtype, &next, 0) - value;
      int exponent = std::max<int>(bits >> row.mantissaBits(), 1);
      if (std::isfinite(step))
        EXPECT_EQ(step, std::ldexp(1.0, exponent - row.exponentBias() -
                                            int(row.mantissaBits())));
      largest = std::max(largest, value);
    }
    EXPECT_EQ(largest, highest(dtype));
    EXPECT_EQ(nans, dtype == DType::FP8E4M3FN ? 1u : 3u);
    EXPECT_EQ(infinities, dtype == DType::FP8E4M3FN ? 0u : 1u);
  }
}
