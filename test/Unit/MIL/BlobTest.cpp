//===- BlobTest.cpp - MIL's weight files ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/MIL/Blob.h"
#include "lib/Arrays/StoredAs.h"
#include "lib/Support/AtomicFile.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"
#include <cstring>
#include <limits>

using namespace anec;
using namespace anec::test;

namespace {

/// The file that holds these arrays, and the offsets of their records.
std::string blobOf(llvm::ArrayRef<ConstantRef> arrays,
                   std::vector<uint64_t> *offsets, Diagnostics &diags) {
  TemporaryFolder folder;
  AtomicFiles files(diags);
  BlobWriter writer(*files.add(folder / "w.bin"), diags);
  BlobLayout layout;
  for (const ConstantRef &array : arrays) {
    uint64_t offset = writer.add(*array, "w");
    EXPECT_EQ(offset, layout.add(array->type()));
    if (offsets)
      offsets->push_back(offset);
  }
  writer.finish();
  EXPECT_TRUE(files.commit());
  return readBytes(folder / "w.bin");
}

std::string blobOf(llvm::ArrayRef<ConstantRef> arrays,
                   std::vector<uint64_t> *offsets = nullptr) {
  Diagnostics diags;
  std::string bytes = blobOf(arrays, offsets, diags);
  EXPECT_EQ(messages(diags), "");
  return bytes;
}

std::optional<BlobReader> open(llvm::StringRef bytes, Diagnostics &diags) {
  return BlobReader::open(inMemory(bytes), "w.bin", {}, diags);
}

std::string hex(llvm::StringRef bytes) {
  return llvm::toHex(bytes, /*LowerCase=*/true);
}

uint64_t field(llvm::StringRef bytes, size_t offset, size_t width) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, width);
  return value;
}

/// Packed bytes and padding that Apple's own library gives.
TEST(Blob, PacksAsApplesLibraryDoes) {
  struct Case {
    DType dtype;
    std::vector<double> values;
    const char *packed;
    uint64_t padding;
  };
  const Case cases[] = {
      {DType::Int4, {-8, 7, -1, 3, 5}, "783f05", 4},
      {DType::UInt1, {1, 0, 1, 1, 0, 0, 0, 1, 1}, "8d01", 7},
      {DType::UInt2, {0, 1, 2, 3, 3}, "e403", 6},
      {DType::UInt3, {0, 1, 2, 3, 4, 5, 6, 7, 7}, "88c6fa07", 5},
      {DType::UInt4, {1, 15, 7}, "f107", 4},
      {DType::UInt6, {1, 63, 32, 5, 9}, "c10f1609", 2},
  };
  for (const Case &c : cases) {
    TensorType type(c.dtype, {int64_t(c.values.size())});
    std::string bytes = blobOf({Constant::fromDoubles(type, c.values)});
    EXPECT_EQ(hex(bytes.substr(128)), c.packed) << type.str();
    EXPECT_EQ(field(bytes, 64 + 24, 8), c.padding) << type.str();
    Diagnostics diags;
    ConstantRef again = open(bytes, diags)->read(64, type, "w", {}, diags);
    ASSERT_NE(again, nullptr) << messages(diags);
    EXPECT_EQ(again->asDoubles(), c.values) << type.str();
  }
}

/// Two fp16 arrays of 7 and 33 elements lie so in a file of 322 bytes.
TEST(Blob, LaysOutRecords) {
  std::vector<uint64_t> offsets;
  std::string bytes = blobOf(
      {Constant::fromDoubles({DType::FP16, {7}}, std::vector<double>(7, 1)),
       Constant::fromDoubles({DType::FP16, {33}}, std::vector<double>(33, 2))},
      &offsets);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{64, 192}));
  ASSERT_EQ(bytes.size(), 322u);
  EXPECT_EQ(field(bytes, 0, 4), 2u); // count
  EXPECT_EQ(field(bytes, 4, 4), 2u); // version
  for (uint64_t offset : offsets) {
    EXPECT_EQ(field(bytes, offset, 4), 0xDEADBEEFu);
    EXPECT_EQ(field(bytes, offset + 4, 4), 1u);
    EXPECT_EQ(field(bytes, offset + 16, 8), offset + 64);
    EXPECT_EQ(hex(bytes.substr(offset + 24, 40)), std::string(80, '0'));
  }
  EXPECT_EQ(field(bytes, 64 + 8, 8), 14u);
  EXPECT_EQ(field(bytes, 192 + 8, 8), 66u);
  EXPECT_EQ(hex(bytes.substr(8, 56)), std::string(112, '0'));
  EXPECT_EQ(hex(bytes.substr(142, 50)), std::string(100, '0'));
}

TEST(Blob, CodesOfElementTypes) {
  const std::pair<DType, uint32_t> codes[] = {
      {DType::FP16, 1},       {DType::FP32, 2},    {DType::UInt8, 3},
      {DType::Int8, 4},       {DType::BF16, 5},    {DType::Int16, 6},
      {DType::UInt16, 7},     {DType::Int4, 8},    {DType::UInt1, 9},
      {DType::UInt2, 10},     {DType::UInt4, 11},  {DType::UInt3, 12},
      {DType::UInt6, 13},     {DType::Int32, 14},  {DType::UInt32, 15},
      {DType::FP8E4M3FN, 16}, {DType::FP8E5M2, 17}};
  for (auto [dtype, code] : codes) {
    EXPECT_EQ(blobCode(dtype), code);
    EXPECT_EQ(dtypeOfBlobCode(code), dtype);
  }
  for (DType dtype :
       {DType::Bool, DType::String, DType::FP64, DType::Int64, DType::UInt64})
    EXPECT_EQ(blobCode(dtype), std::nullopt);
  EXPECT_EQ(dtypeOfBlobCode(0), std::nullopt);
  EXPECT_EQ(dtypeOfBlobCode(18), std::nullopt);
}

/// A constant of `values` stored as fp32 at an odd address, declared `dtype`.
ConstantRef storedWide(const std::vector<float> &values, DType dtype) {
  auto owner = std::make_shared<std::vector<uint8_t>>(4 * values.size() + 1);
  std::memcpy(owner->data() + 1, values.data(), 4 * values.size());
  llvm::ArrayRef<uint8_t> bytes(owner->data() + 1, 4 * values.size());
  return Constant::view({dtype, {int64_t(values.size())}}, DType::FP32, bytes,
                        owner);
}

TEST(Blob, ConvertsWhileWriting) {
  // More than one block, with a last one that is not full.
  std::vector<float> values((1 << 21) + 77);
  for (size_t index = 0; index < values.size(); ++index)
    values[index] = float(index % 4099) * 0.37f - 700.0f;
  for (DType dtype : {DType::FP16, DType::BF16}) {
    ConstantRef wide = storedWide(values, dtype);
    std::string bytes = blobOf({wide});
    Diagnostics diags;
    ConstantRef again =
        open(bytes, diags)->read(64, wide->type(), "w", {}, diags);
    ASSERT_NE(again, nullptr) << messages(diags);
    EXPECT_TRUE(again->equals(*wide));
  }
}

TEST(Blob, ReportsOverflow) {
  float infinity = std::numeric_limits<float>::infinity();
  ConstantRef wide = storedWide(
      {1, 65504, 65519.996f, 65520, -1e10f, infinity, -infinity}, DType::FP16);
  Diagnostics diags;
  blobOf({wide}, nullptr, diags);
  EXPECT_EQ(messages(diags), "2 of the 7 elements of `w` are too large for "
                             "fp16 and become infinite [half-overflow]\n");
  EXPECT_FALSE(diags.hasErrors());
}

TEST(Blob, OverflowOfOtherStoredTypes) {
  ConstantRef wide = declaredAs(
      Constant::fromDoubles({DType::FP64, {2}}, {1e300, 1}), DType::FP16);
  Diagnostics diags;
  blobOf({wide}, nullptr, diags);
  EXPECT_EQ(messages(diags), "1 of the 2 elements of `w` are too large for "
                             "fp16 and become infinite [half-overflow]\n");
}

TEST(Blob, ReaderIgnoresReservedBytes) {
  std::string bytes =
      blobOf({Constant::fromDoubles({DType::UInt8, {3}}, {1, 2, 3})});
  std::memset(&bytes[8], 0xa5, 56);
  std::memset(&bytes[64 + 24], 0xa5, 40); // padding too: no sub-byte type
  Diagnostics diags;
  EXPECT_NE(open(bytes, diags)->read(64, {DType::UInt8, {3}}, "w", {}, diags),
            nullptr);
}

TEST(Blob, ReaderChecks) {
  std::string good =
      blobOf({Constant::fromDoubles({DType::Int4, {5}}, {1, 2, 3, 4, 5})});
  TensorType type(DType::Int4, {5});
  auto readChanged = [&](size_t offset, uint8_t byte, const TensorType &type,
                         uint64_t record = 64) {
    std::string bytes = good;
    bytes[offset] = char(byte);
    Diagnostics diags;
    if (auto reader = open(bytes, diags))
      EXPECT_EQ(reader->read(record, type, "w", {}, diags), nullptr);
    return messages(diags);
  };
  EXPECT_EQ(readChanged(4, 1, type),
            "`w.bin` is not a weight file of version 2 [blob-version]\n");
  EXPECT_EQ(readChanged(64, 0, type), "the weight file `w.bin` has no record "
                                      "at offset 64 [blob-no-record]\n");
  for (uint64_t offset :
       {uint64_t(0), uint64_t(65), uint64_t(128), ~uint64_t(0)})
    EXPECT_EQ(readChanged(0, 0, type, offset),
              "the weight file `w.bin` has no record at offset " +
                  std::to_string(offset) + " [blob-no-record]\n");
  EXPECT_EQ(readChanged(68, 99, type),
            "the record at offset 64 of `w.bin` has the unknown element type "
            "code 99 [blob-unknown-code]\n");
  EXPECT_EQ(readChanged(72, 4, type),
            "the record at offset 64 of `w.bin` reaches beyond the end of the "
            "file [blob-truncated]\n");
  EXPECT_EQ(readChanged(87, 0xff, type), // an offset near 2^64
            "the record at offset 64 of `w.bin` reaches beyond the end of the "
            "file [blob-truncated]\n");
  for (int data : {0, 1, 2, 64, 127})
    EXPECT_EQ(readChanged(80, uint8_t(data), type),
              "the record at offset 64 of `w.bin` has its data at " +
                  std::to_string(data) +
                  ", and not after its header, at 128 [blob-data]\n");
  EXPECT_EQ(
      readChanged(72, 2, type),
      "the record at offset 64 of `w.bin` has 2 bytes, and `tensor<int4, [5]>` "
      "takes 3 [blob-size]\n");
  EXPECT_EQ(
      readChanged(0, 0, {DType::Int4, {6}}), // as many bytes, no padding
      "the record at offset 64 of `w.bin` has 3 bytes, and `tensor<int4, [6]>` "
      "takes 3 [blob-size]\n");
  EXPECT_EQ(readChanged(0, 0, {DType::UInt4, {5}}),
            "the record at offset 64 of `w.bin` holds `int4`, and `uint4` is "
            "declared [blob-dtype]\n");
}

TEST(Blob, EveryTruncationIsAnError) {
  std::string whole =
      blobOf({Constant::fromDoubles({DType::FP32, {2}}, {1, 2})});
  for (size_t size = 0; size < whole.size(); ++size) {
    Diagnostics diags;
    auto reader = open(llvm::StringRef(whole).take_front(size), diags);
    if (reader)
      EXPECT_FALSE(reader->read(64, {DType::FP32, {2}}, "w", {}, diags));
    EXPECT_TRUE(diags.hasErrors()) << size;
  }
}

TEST(Blob, ListsRecords) {
  std::string bytes = blobOf(
      {Constant::fromDoubles({DType::FP16, {7}}, std::vector<double>(7, 1)),
       Constant::fromDoubles({DType::FP32, {0}}, {}),
       Constant::fromDoubles({DType::UInt8, {1}}, {9})});
  Diagnostics diags;
  auto reader = open(bytes, diags);
  std::vector<BlobRecord> records = reader->records(diags);
  EXPECT_EQ(messages(diags), "");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(reader->declaredCount(), 3u);
  EXPECT_EQ(records[1].dtype, DType::FP32);
  EXPECT_EQ(records[1].size, 0u);
  EXPECT_EQ(records[2].dataOffset, records[2].offset + 64);
}

TEST(Blob, KeepsTheOrigin) {
  std::string bytes =
      blobOf({Constant::fromDoubles({DType::UInt8, {3}}, {1, 2, 3})});
  Diagnostics diags;
  ConstantRef array = open(bytes, diags)
                          ->read(64, {DType::UInt8, {3}},
                                 "@model_path/weights/w.bin", {}, diags);
  ASSERT_TRUE(array->origin());
  EXPECT_EQ(array->origin()->path, "@model_path/weights/w.bin");
  EXPECT_EQ(array->origin()->offset, 64u);
}

} // namespace
