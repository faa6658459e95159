//===- GgufTest.cpp - GGUF files ------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Arrays/Gguf.h"
#include "lib/Arrays/BlockFormat.h"
#include "test/Unit/TemporaryFolder.h"
#include "llvm/Support/Endian.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace anec;
using namespace anec::test;

namespace {

using Doubles = std::vector<double>;

template <typename T>
std::string bytesOfNumber(T value) {
  std::string bytes(sizeof(T), '\0');
  llvm::support::endian::write<T>(bytes.data(), value,
                                  llvm::endianness::little);
  return bytes;
}

std::string string(llvm::StringRef text) {
  return bytesOfNumber<uint64_t>(text.size()) + text.str();
}

std::string value(llvm::StringRef key, GgufType type,
                  const std::string &bytes) {
  return string(key) + bytesOfNumber(uint32_t(type)) + bytes;
}

std::string list(GgufType type, uint64_t count, const std::string &bytes) {
  return bytesOfNumber(uint32_t(type)) + bytesOfNumber(count) + bytes;
}

std::string array(llvm::StringRef name, std::vector<uint64_t> extents,
                  uint32_t type, uint64_t begin) {
  std::string bytes = string(name) + bytesOfNumber(uint32_t(extents.size()));
  for (uint64_t extent : extents)
    bytes += bytesOfNumber(extent);
  return bytes + bytesOfNumber(type) + bytesOfNumber(begin);
}

struct Parts {
  uint32_t version = 3;
  std::vector<std::string> values, arrays;
  std::string data;
};

std::string fileOf(const Parts &parts) {
  std::string bytes = "GGUF" + bytesOfNumber(parts.version) +
                      bytesOfNumber(uint64_t(parts.arrays.size())) +
                      bytesOfNumber(uint64_t(parts.values.size()));
  for (const std::string &value : parts.values)
    bytes += value;
  for (const std::string &array : parts.arrays)
    bytes += array;
  bytes.append((32 - bytes.size() % 32) % 32, '\0');
  return bytes + parts.data;
}

std::optional<GgufFile> parseGguf(const MappedFile &file, Diagnostics &diags) {
  return readGguf(file, "x.gguf", diags);
}

std::string errorOfGguf(llvm::StringRef bytes) {
  Diagnostics diags;
  EXPECT_FALSE(parseGguf(inMemory(bytes), diags));
  llvm::StringRef text;
  if (diags.all().size() == 1)
    text = diags.all()[0].message;
  EXPECT_TRUE(text.consume_front("not a GGUF file that anec can read: "));
  return text.str();
}

/// A file with a value of each type and arrays of two types.
Parts goodParts() {
  Parts parts;
  parts.values = {
      value("u8", GgufType::UInt8, "\xff"),
      value("i8", GgufType::Int8, "\xff"),
      value("u16", GgufType::UInt16, "\xfe\xff"),
      value("i16", GgufType::Int16, "\xfe\xff"),
      value("u32", GgufType::UInt32, bytesOfNumber<uint32_t>(~0u)),
      value("i32", GgufType::Int32, bytesOfNumber<int32_t>(-3)),
      value("u64", GgufType::UInt64, bytesOfNumber<uint64_t>(~0ull)),
      value("i64", GgufType::Int64, bytesOfNumber<int64_t>(-4)),
      value("f32", GgufType::Float32, bytesOfNumber<float>(1e-5f)),
      value("f64", GgufType::Float64, bytesOfNumber<double>(0.1)),
      value("yes", GgufType::Bool, "\x01"),
      value("text", GgufType::String, string("a\"b")),
      value("list", GgufType::Array,
            list(GgufType::UInt16, 2, std::string("\x01\x00\x02\x00", 4))),
      value("texts", GgufType::Array,
            list(GgufType::String, 2, string("one") + string(""))),
      value("lists", GgufType::Array,
            list(GgufType::Array, 1, list(GgufType::UInt8, 1, "\x07"))),
  };
  parts.arrays = {array("plain", {2, 3}, 0, 0),
                  array("packed", {32, 1}, 8, 32)};
  parts.data = std::string(32 + 34, '\0');
  for (unsigned i = 0; i < 6; ++i)
    llvm::support::endian::write<float>(&parts.data[4 * i], float(i) + 0.5f,
                                        llvm::endianness::little);
  parts.data[33] = 0x38; // 0.5 as fp16
  for (unsigned i = 0; i < 32; ++i)
    parts.data[34 + i] = char(int8_t(i) - 16);
  return parts;
}

TEST(Gguf, ReadsEveryTypeOfValue) {
  Diagnostics diags;
  MappedFile bytes = inMemory(fileOf(goodParts()));
  std::optional<GgufFile> file = parseGguf(bytes, diags);
  ASSERT_TRUE(file) << messages(diags);
  EXPECT_EQ(file->find("u8")->getInteger(), 255);
  EXPECT_EQ(file->find("i8")->getInteger(), -1);
  EXPECT_EQ(file->find("u16")->getInteger(), 65534);
  EXPECT_EQ(file->find("i16")->getInteger(), -2);
  EXPECT_EQ(file->find("u32")->getInteger(), 4294967295);
  EXPECT_EQ(file->find("i32")->getInteger(), -3);
  EXPECT_EQ(file->find("u64")->getInteger(), std::nullopt);
  EXPECT_EQ(file->find("u64")->text(), "18446744073709551615");
  EXPECT_EQ(file->find("i64")->getInteger(), -4);
  // The decimal that was meant, not the 9.9999997e-06 that fp32 has.
  EXPECT_EQ(file->find("f32")->getNumber(), 1e-5);
  EXPECT_EQ(file->find("f64")->getNumber(), 0.1);
  EXPECT_EQ(file->find("f64")->getInteger(), std::nullopt);
  EXPECT_EQ(file->find("yes")->getBool(), true);
  EXPECT_EQ(file->find("yes")->getInteger(), std::nullopt);
  EXPECT_EQ(file->find("text")->getString(), "a\"b");
  EXPECT_EQ(file->find("text")->text(), R"("a\"b")");
  EXPECT_EQ(file->find("list")->text(), "[1, 2]");
  EXPECT_EQ(file->find("texts")->getStrings(),
            (std::vector<llvm::StringRef>{"one", ""}));
  EXPECT_EQ(file->find("texts")->text(), R"(["one", ""])");
  EXPECT_EQ(file->find("lists")->text(), "a list of 1");
  EXPECT_EQ(file->find("none"), nullptr);
}

TEST(Gguf, ReadsArraysInRowMajorOrder) {
  for (uint32_t version : {2u, 3u}) {
    Parts parts = goodParts();
    parts.version = version;
    Diagnostics diags;
    std::optional<GgufFile> file = parseGguf(inMemory(fileOf(parts)), diags);
    ASSERT_TRUE(file) << messages(diags);
    ASSERT_EQ(file->arrays.size(), 2u);
    const auto &[name, plain] = file->arrays[0];
    EXPECT_EQ(name, "plain");
    EXPECT_FALSE(plain.isPacked());
    EXPECT_EQ(plain.type(), TensorType(DType::FP32, {3, 2}));
    EXPECT_EQ(plain.get()->asDoubles(), (Doubles{.5, 1.5, 2.5, 3.5, 4.5, 5.5}));
    const StoredArray &packed = file->arrays[1].second;
    EXPECT_EQ(packed.format(), "Q8_0");
    EXPECT_EQ(packed.type(), TensorType(DType::FP32, {1, 32}));
    for (DType dtype : {DType::FP32, DType::FP16, DType::BF16}) {
      ConstantRef elements = packed.get(dtype);
      EXPECT_EQ(elements->dtype(), dtype);
      EXPECT_EQ(elements->doubleAt(0), -8);
      EXPECT_EQ(elements->doubleAt(31), 7.5);
    }
  }
}

TEST(Gguf, KeepsElementsThatHalvesHaveNoRoomFor) {
  Parts parts = goodParts();
  parts.data[33] = 0x7b; // 57344
  Diagnostics diags;
  std::optional<GgufFile> file = parseGguf(inMemory(fileOf(parts)), diags);
  ASSERT_TRUE(file) << messages(diags);
  // Stored wider, so that the one who writes them counts them.
  ConstantRef elements = file->arrays[1].second.get(DType::FP16);
  EXPECT_EQ(elements->storedDType(), DType::FP32);
  EXPECT_TRUE(std::isinf(elements->doubleAt(0)));
}

TEST(Gguf, BlocksHaveTheirSize) {
  for (const BlockFormat &format : blockFormats()) {
    std::vector<uint8_t> block(format.bytes, 0x55);
    std::vector<float> elements(format.elements + 1, 1e30f);
    format.unpack(block.data(), elements.data());
    EXPECT_EQ(elements.back(), 1e30f) << format.name.str();
    EXPECT_NE(elements[format.elements - 1], 1e30f) << format.name.str();
  }
}

TEST(Gguf, FaultsOfTheHeader) {
  EXPECT_EQ(errorOfGguf("GGML"), "it does not begin with `GGUF`");
  EXPECT_EQ(errorOfGguf("GGUF"), "it ends within its header");
  Parts parts;
  parts.version = 1;
  EXPECT_EQ(errorOfGguf(fileOf(parts)),
            "it is of version 1 of the format, and anec reads 2 and 3");
  parts.version = 0x03000000;
  EXPECT_EQ(errorOfGguf(fileOf(parts)), "it is in big-endian order");
  std::string huge = "GGUF" + bytesOfNumber(3u) + bytesOfNumber(~0ull) +
                     bytesOfNumber<uint64_t>(0);
  EXPECT_EQ(errorOfGguf(huge),
            "its header counts 0 values and 18446744073709551615 arrays, and "
            "it has 24 bytes");
}

TEST(Gguf, FaultsOfValues) {
  auto errorWith = [](const std::string &value) {
    Parts parts;
    parts.values = {value, value};
    return errorOfGguf(fileOf(parts));
  };
  EXPECT_EQ(errorWith(value("a", GgufType::UInt8, "\x01")),
            "it has two values of `a`");
  EXPECT_EQ(errorWith(value("a", GgufType(13), "\x01")),
            "the value of `a` is of type 13, which is none");
  EXPECT_EQ(errorWith(value("", GgufType::UInt8, "\x01")),
            "the name of value 0 is not a text of 1 to 1024 bytes");
  EXPECT_EQ(errorWith(value("\xff", GgufType::UInt8, "\x01")),
            "the name of value 0 is not a text of 1 to 1024 bytes");
  EXPECT_EQ(errorWith(value("a", GgufType::Bool, "\x02")),
            "the value of `a` is not a boolean");
  EXPECT_EQ(errorWith(value("a", GgufType::String, bytesOfNumber(~0ull))),
            "it ends within the value of `a`");
  EXPECT_EQ(errorWith(value("a", GgufType::Array,
                            list(GgufType::UInt64, ~0ull / 8 + 2, ""))),
            "it ends within the value of `a`");
  EXPECT_EQ(errorWith(value("a", GgufType::Array, list(GgufType(14), 0, ""))),
            "the value of `a` has elements of type 14, which is none");
  std::string deep = list(GgufType::UInt8, 0, "");
  for (unsigned i = 0; i < 5; ++i)
    deep = list(GgufType::Array, 1, deep);
  EXPECT_EQ(errorWith(value("a", GgufType::Array, deep)),
            "the value of `a` has arrays in arrays in arrays in arrays");
}

TEST(Gguf, FaultsOfArrays) {
  auto errorWith = [](std::vector<std::string> arrays,
                      std::vector<std::string> values = {}) {
    Parts parts;
    parts.arrays = std::move(arrays);
    parts.values = std::move(values);
    parts.data = std::string(64, '\0');
    return errorOfGguf(fileOf(parts));
  };
  EXPECT_EQ(errorWith({array("a", {4}, 0, 0), array("a", {4}, 0, 32)}),
            "it has two arrays `a`");
  EXPECT_EQ(errorWith({array("a", {9}, 0, 0), array("b", {4}, 0, 32)}),
            "`b` overlaps another array");
  EXPECT_EQ(errorWith({array("a", {9}, 0, 32)}), "`a` lies outside the file");
  EXPECT_EQ(errorWith({array("a", {1}, 0, ~31ull)}),
            "`a` lies outside the file");
  EXPECT_EQ(errorWith({array("a", {4}, 0, 16)}),
            "the data of `a` begins at 16, which is not a multiple of 32");
  EXPECT_EQ(errorWith({array("a", {4, 0}, 0, 0)}),
            "`a` has an extent that is not a size");
  EXPECT_EQ(errorWith({array("a", {1, 1, 1, 1, 1}, 0, 0)}),
            "`a` has 5 extents, and the format has 4 at most");
  EXPECT_EQ(errorWith({array("a", {1ull << 31, 1ull << 31, 1ull << 31}, 0, 0)}),
            "`a` has more elements than a file");
  EXPECT_EQ(errorWith({array("a", {1ull << 32, 1ull << 31}, 12, 0)}),
            "`a` has more elements than a file");
  EXPECT_EQ(errorWith({array("a", {48}, 8, 0)}),
            "`a` is [48] of type Q8_0, whose blocks of 32 do not divide its "
            "rows");
  EXPECT_EQ(errorWith({array("a", {}, 8, 0)}),
            "`a` is [] of type Q8_0, whose blocks of 32 do not divide its "
            "rows");
  EXPECT_TRUE(llvm::StringRef(errorWith({array("a", {256}, 16, 0)}))
                  .starts_with("`a` is of type IQ2_XXS, and anec reads F32, "));
  EXPECT_TRUE(llvm::StringRef(errorWith({array("a", {256}, 99, 0)}))
                  .starts_with("`a` is of type number 99, and anec reads "));
  EXPECT_EQ(errorWith({}, {value("general.alignment", GgufType::UInt32,
                                 bytesOfNumber<uint32_t>(24))}),
            "`general.alignment` is 24, which is not a power of two");
}

TEST(Gguf, RefusesEveryTruncation) {
  std::string whole = fileOf(goodParts());
  for (size_t size = 4; size < whole.size(); ++size)
    EXPECT_NE(errorOfGguf(whole.substr(0, size)), "") << size;
}

/// Whatever a byte becomes, there is an error, or all of the file can be read.
TEST(Gguf, ReadsOrRefusesEveryChangedByte) {
  std::string whole = fileOf(goodParts());
  unsigned refused = 0;
  for (size_t at = 0; at < whole.size(); ++at)
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[at] = char(uint8_t(changed[at]) ^ 1u << bit);
      Diagnostics diags;
      MappedFile bytes = inMemory(changed);
      std::optional<GgufFile> file = parseGguf(bytes, diags);
      EXPECT_NE(file.has_value(), diags.hasErrors());
      if (!file) {
        ++refused;
        continue;
      }
      for (const auto &[key, value] : file->metadata) {
        EXPECT_NE(value.text(), "");
        value.getElements();
      }
      for (const auto &[name, array] : file->arrays)
        EXPECT_EQ(int64_t(array.get()->asDoubles().size()),
                  array.type().numElements());
    }
  EXPECT_GT(refused, 1000u);
}

} // namespace
