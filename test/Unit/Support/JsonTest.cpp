//===- JsonTest.cpp - JSON of files ---------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Json.h"
#include <gtest/gtest.h>

using namespace anec;

namespace {

std::string errorOf(llvm::StringRef text, JsonLimits limits = {}) {
  JsonError error;
  std::optional<llvm::json::Value> value = parseJson(text, error, limits);
  return value ? "" : error.message + " at " + std::to_string(error.offset);
}

std::string nested(size_t depth, llvm::StringRef open, llvm::StringRef close) {
  std::string text;
  for (size_t i = 0; i < depth; ++i)
    text += open;
  text += "1";
  for (size_t i = 0; i < depth; ++i)
    text += close;
  return text;
}

TEST(Json, ParsesWhatLlvmParses) {
  JsonError error;
  std::optional<llvm::json::Value> value =
      parseJson(R"({"a": [1, {"b": "}]\\\""}], "c": {"a": null}})", error);
  ASSERT_TRUE(value);
  EXPECT_EQ(*value->getAsObject()->getArray("a")->begin()[1].getAsObject(),
            (llvm::json::Object{{"b", "}]\\\""}}));
}

TEST(Json, LimitsNesting) {
  EXPECT_EQ(errorOf(nested(64, "[", "]")), "");
  EXPECT_EQ(errorOf(nested(65, "[", "]")),
            "it is nested deeper than 64 levels at 64");
  EXPECT_EQ(errorOf(nested(1'000'000, "[", "")),
            "it is nested deeper than 64 levels at 64");
  EXPECT_EQ(errorOf(nested(65, R"({"a":)", "}")),
            "it is nested deeper than 64 levels at 320");
  // Brackets in strings do not nest.
  EXPECT_EQ(errorOf("\"" + std::string(100, '[') + "\""), "");
}

TEST(Json, LimitsSize) {
  EXPECT_EQ(errorOf("[1, 2, 3, 4]", {.values = 3}), "");
  EXPECT_EQ(errorOf("[1, 2, 3, 4]", {.values = 2}),
            "it has more than 2 values at 8");
  EXPECT_EQ(errorOf("[{}, {}]", {.objects = 1}),
            "it has more than 1 objects at 5");
  EXPECT_EQ(errorOf("[   ]", {.bytes = 4}),
            "it has 5 bytes, and at most 4 are read at 0");
}

TEST(Json, KeepsNumbers) {
  JsonError error;
  llvm::json::Value numbers = *parseJson(
      "[9223372036854775807, 9223372036854775808, 9223372036854775809,"
      " 9.223372036854775808e18, -9.223372036854775808e18, -5, 1e300]",
      error);
  const llvm::json::Array &all = *numbers.getAsArray();
  EXPECT_EQ(all[0].getAsInteger(), INT64_MAX);
  for (size_t index : {1, 2, 3, 6})
    EXPECT_EQ(all[index].getAsInteger(), std::nullopt) << index;
  EXPECT_EQ(all[1].getAsUINT64(), uint64_t(1) << 63);
  EXPECT_EQ(all[2].getAsUINT64(), (uint64_t(1) << 63) + 1);
  EXPECT_EQ(all[3].getAsNumber(), 0x1p63);
  EXPECT_EQ(all[4].getAsInteger(), INT64_MIN);
  EXPECT_EQ(all[5].getAsInteger(), -5);
  EXPECT_EQ(all[6].getAsNumber(), 1e300);
}

TEST(Json, RefusesEqualKeys) {
  EXPECT_EQ(errorOf(R"({"a": 1, "b": {"a": 1}, "a": 2})"),
            "it has the key `a` twice in one object at 24");
  EXPECT_EQ(errorOf(R"({"a": 1, "\u0061": 2})"),
            "it has the key `a` twice in one object at 9");
  EXPECT_EQ(errorOf(R"([{"a": "a"}, {"a": ["a", "a"]}])"), "");
}

TEST(Json, SaysWhere) {
  EXPECT_EQ(errorOf("[1, 2\n, oops]"), "Invalid JSON value at 9");
  EXPECT_EQ(errorOf("[1 2]"), "expected `,` or `]` at 3");
  EXPECT_EQ(errorOf(R"({"a": 1 "b": 2})"), "expected `,` or `}` at 8");
  EXPECT_EQ(errorOf(R"({"a" 1})"), "expected `:` at 5");
  EXPECT_EQ(errorOf("{1: 2}"), "expected a key at 1");
  EXPECT_EQ(errorOf("[1, ]"), "expected a value at 4");
  EXPECT_EQ(errorOf("[1, "), "the text ends before a value at 4");
  EXPECT_EQ(errorOf(R"(["a\")"), "the text ends inside of a string at 5");
  EXPECT_EQ(errorOf("1 2"), "the text does not end after the value at 2");
  EXPECT_EQ(errorOf("\"a\xff\""), "it is not UTF-8 at 2");
  for (llvm::StringRef text : {"", "]", "}", "{", "[", "\"", "\"\\", "{\"a\"",
                               "{\"a", ",", "{]", "[}", "{\"\\ud800\": 1"})
    EXPECT_NE(errorOf(text), "") << text.str();
}

} // namespace
