//===- SafetensorsTest.cpp - named arrays in one file ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Arrays/Safetensors.h"
#include "anec/Arrays/ArraySource.h"
#include "lib/Arrays/Npy.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"

using namespace anec;
using namespace anec::test;

namespace {

using Doubles = std::vector<double>;

std::string file(llvm::StringRef header, llvm::StringRef data) {
  std::string text;
  for (unsigned byte = 0; byte < 8; ++byte)
    text += char(header.size() >> 8 * byte & 0xff);
  return text + header.str() + data.str();
}

std::optional<Safetensors> parseSafetensors(llvm::StringRef bytes,
                                            Diagnostics &diags) {
  return readSafetensors(inMemory(bytes), "x.safetensors", diags);
}

std::string errorOfSafetensors(llvm::StringRef bytes) {
  Diagnostics diags;
  EXPECT_EQ(parseSafetensors(bytes, diags), std::nullopt);
  llvm::StringRef text;
  if (diags.all().size() == 1)
    text = diags.all()[0].message;
  EXPECT_TRUE(
      text.consume_front("not a .safetensors file that anec can read: "));
  return text.str();
}

TEST(Safetensors, ReadsArraysInTheOrderOfTheirBytes) {
  Diagnostics diags;
  auto contents =
      parseSafetensors(file(R"({"__metadata__": {"format": "pt"},
               "b": {"dtype": "U8", "shape": [2, 1], "data_offsets": [4, 6]},
               "a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}})",
                            llvm::StringRef("\0\0\xc0\x3f\x07\x08", 6)),
                       diags);
  ASSERT_TRUE(contents) << messages(diags);
  ASSERT_EQ(contents->arrays.size(), 2u);
  EXPECT_EQ(contents->arrays[0].name, "a");
  EXPECT_EQ(contents->arrays[0].array->type(), TensorType(DType::FP32));
  EXPECT_EQ(contents->arrays[0].array->asDouble(), 1.5);
  EXPECT_EQ(contents->arrays[1].array->type(),
            TensorType(DType::UInt8, {2, 1}));
  EXPECT_EQ(contents->arrays[1].array->asDoubles(), (Doubles{7, 8}));
  EXPECT_EQ(contents->metadata.size(), 1u);
}

TEST(Safetensors, EveryElementTypeRoundTrips) {
  const DType dtypes[] = {
      DType::Bool,   DType::FP16,   DType::BF16,  DType::FP32,  DType::FP64,
      DType::Int8,   DType::Int16,  DType::Int32, DType::Int64, DType::UInt8,
      DType::UInt16, DType::UInt32, DType::UInt64};
  Safetensors contents;
  contents.metadata = {{"by", "a \"test\""}};
  for (DType dtype : dtypes)
    contents.arrays.push_back({spelling(dtype).str() + ".\xc3\xa9",
                               Constant::fromDoubles({dtype, {3}}, {1, 0, 1})});
  std::string text;
  llvm::raw_string_ostream out(text);
  ASSERT_TRUE(writeSafetensors(out, contents));
  Diagnostics diags;
  auto again = parseSafetensors(text, diags);
  ASSERT_TRUE(again) << messages(diags);
  EXPECT_EQ(again->metadata, contents.metadata);
  ASSERT_EQ(again->arrays.size(), contents.arrays.size());
  for (size_t index = 0; index < contents.arrays.size(); ++index) {
    EXPECT_EQ(again->arrays[index].name, contents.arrays[index].name);
    EXPECT_TRUE(
        again->arrays[index].array->equals(*contents.arrays[index].array));
  }
}

TEST(Safetensors, RefusesBadHeaders) {
  EXPECT_EQ(errorOfSafetensors("short"), "it ends within its header");
  EXPECT_EQ(errorOfSafetensors(file("{}", "").substr(0, 9)),
            "it ends within its header");
  EXPECT_EQ(errorOfSafetensors(std::string(8, '\xff')),
            "its header is too long");
  EXPECT_EQ(errorOfSafetensors(file("[]", "")),
            "its header is not a JSON object");
  EXPECT_EQ(errorOfSafetensors(file(R"({"a": 1})", "")),
            "`a` is not an object");
  EXPECT_EQ(errorOfSafetensors(file(R"({"a": {}})", "")),
            "`a` lacks `dtype`, `shape` or `data_offsets`");
  EXPECT_EQ(
      errorOfSafetensors(file(
          R"({"a": {"dtype": "F4", "shape": [1], "data_offsets": [0, 1]}})",
          "x")),
      "`a` has the unsupported element type `F4`");
  EXPECT_EQ(
      errorOfSafetensors(file(
          R"({"a": {"dtype": "U8", "shape": [-1], "data_offsets": [0, 1]}})",
          "x")),
      "`a` has a shape with an extent that is not a size");
  EXPECT_NE(errorOfSafetensors(file(R"({"a")", ""))
                .find("its header cannot be read: "),
            std::string::npos);
}

TEST(Safetensors, RefusesWrongPlaces) {
  EXPECT_EQ(
      errorOfSafetensors(file(
          R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 2]}})",
          "x")),
      "`a` lies outside the file");
  EXPECT_EQ(
      errorOfSafetensors(file(
          R"({"a": {"dtype": "U8", "shape": [3], "data_offsets": [0, 2]}})",
          "xy")),
      "`a` is `uint8[3]` and has 2 bytes");
  EXPECT_EQ(errorOfSafetensors(file(
                R"({"a": {"dtype": "U8", "shape": [4611686018427387905, 4],
              "data_offsets": [0, 4]}})",
                "abcd")),
            "`a` is `uint8[4611686018427387905, 4]` and has 4 bytes");
  EXPECT_EQ(errorOfSafetensors(file(
                R"({"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
              "b": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]}})",
                "xyz")),
            "`b` overlaps another array");
  EXPECT_EQ(errorOfSafetensors(file(
                R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
              "b": {"dtype": "U8", "shape": [1], "data_offsets": [2, 3]}})",
                "xyz")),
            "there is a gap before `b`");
  EXPECT_EQ(errorOfSafetensors(file("{}", "x")),
            "there are bytes that belong to no array");
}

TEST(Safetensors, RefusesDuplicateNames) {
  EXPECT_EQ(
      errorOfSafetensors(file(
          R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
              "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})",
          "x")),
      "its header cannot be read: it has the key `a` twice in one object");
}

TEST(Safetensors, DeepNestingIsRefusedBeforeItIsParsed) {
  EXPECT_EQ(errorOfSafetensors(file(std::string(100000, '['), "")),
            "its header cannot be read: it is nested deeper than 3 levels");
}

TEST(Safetensors, EveryTruncationIsAnError) {
  std::string whole = file(
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "abcdefgh");
  for (size_t size = 0; size < whole.size(); ++size) {
    Diagnostics diags;
    EXPECT_EQ(parseSafetensors(llvm::StringRef(whole).take_front(size), diags),
              std::nullopt);
  }
}

//===----------------------------------------------------------------------===//
// ArraySource
//===----------------------------------------------------------------------===//

std::string npyOf(const ConstantRef &array) {
  std::string text;
  llvm::raw_string_ostream out(text);
  EXPECT_TRUE(writeNpy(out, *array));
  return text;
}

TEST(ArraySource, FolderOfNpy) {
  TemporaryFolder folder;
  folder.write("layer.w1.npy", npyOf(Constant::int32s({1, 2})));
  folder.write("layer.w2.npy", npyOf(Constant::scalar(DType::FP32, 0.1)));
  folder.write("readme.txt", "no array");
  Diagnostics diags;
  auto source = ArraySource::open(folder / "", diags);
  ASSERT_TRUE(source) << messages(diags);
  EXPECT_EQ(source->names(),
            (std::vector<llvm::StringRef>{"layer.w1", "layer.w2"}));
  EXPECT_EQ(source->lookup("layer.w3"), nullptr);
  ConstantRef half =
      source->lookup("layer.w2", TensorType(DType::FP16), {}, diags);
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(half->dtype(), DType::FP16);
  EXPECT_EQ(half->asDouble(), 0x1.998p-4);
}

TEST(ArraySource, ReportsWhatDoesNotFit) {
  TemporaryFolder folder;
  Safetensors contents;
  contents.arrays.push_back({"w", Constant::int32s({1, 2})});
  std::string text;
  llvm::raw_string_ostream out(text);
  ASSERT_TRUE(writeSafetensors(out, contents));
  std::string path = folder.write("x.safetensors", text);
  Diagnostics diags;
  auto source = ArraySource::open(path, diags);
  ASSERT_TRUE(source) << messages(diags);
  EXPECT_EQ(source->lookup("v", TensorType(DType::Int32, {2}), {}, diags),
            nullptr);
  EXPECT_EQ(source->lookup("w", TensorType(DType::Int32, {3}), {}, diags),
            nullptr);
  EXPECT_EQ(source->lookup("w", TensorType(DType::FP16, {2}), {}, diags),
            nullptr);
  EXPECT_EQ(messages(diags),
            "`" + path + "` has no array `v` [no-such-array]\n" +
                "array `w` is `int32[2]` in `" + path +
                "`, and `int32[3]` is wanted [array-type-mismatch]\n" +
                "array `w` is `int32[2]` in `" + path +
                "`, and `fp16[2]` is wanted [array-type-mismatch]\n");
}

TEST(ArraySource, OneBadFileIsAnError) {
  TemporaryFolder folder;
  folder.write("a.npy", "no array");
  Diagnostics diags;
  EXPECT_FALSE(ArraySource::open(folder / "", diags));
  EXPECT_FALSE(ArraySource::open(folder / "nothing", diags));
  EXPECT_EQ(diags.errorCount(), 2u);
}

} // namespace
