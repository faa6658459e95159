//===- ProtobufTest.cpp - messages as lists of fields ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Protobuf/Coding.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace anec::protobuf;
using llvm::StringRef;

namespace {

enum class Color : int32_t { None = 0, Red = 7 };

struct Leaf {
  int64_t number = 0;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.number)); }
};

struct Node {
  int32_t small = 0;
  float single = 0;
  double wide = 0;
  bool flag = false;
  Color color = Color::None;
  std::string text;
  std::vector<float> floats;
  std::vector<int32_t> ints;
  std::vector<uint8_t> bools;
  std::vector<std::string> texts;
  std::vector<Node> children;
  Map<std::string> names;
  Map<Leaf> leaves;
  Part<Leaf> part;
  int chosen = 0;
  int64_t first = 0;
  std::string second;
  Part<Leaf> third;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.small), at(2, m.single), at(3, m.wide), at(4, m.flag),
                 at(5, m.color), at(6, m.text), at(7, m.floats), at(8, m.ints),
                 at(9, m.bools), at(10, m.texts), at(11, m.children),
                 at(12, m.names), at(13, m.leaves), at(14, m.part)) &&
           visit.oneOf(m.chosen, at(20, m.first), at(21, m.second),
                       at(22, m.third));
  }
};

/// Views of the bytes that were parsed.
struct Views {
  StringRef text;
  Bytes bytes;
  std::vector<StringRef> texts;
  static bool fields(auto &m, auto &visit) {
    return visit(at(6, m.text), at(7, m.bytes), at(10, m.texts));
  }
};

Bytes bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

template <typename Message>
bool parsed(const std::string &bytes, Message &message) {
  return parse(bytesOf(bytes), message);
}

TEST(Protobuf, ReadsWhatItWrites) {
  Node node;
  node.small = -3;
  node.single = -0.0f;
  node.wide = 1e300;
  node.flag = true;
  node.color = Color::Red;
  node.text = "text";
  node.floats = {1, 0, -2.5f};
  node.ints = {0, -1, 1 << 30};
  node.bools = {1, 0, 1};
  node.texts = {"a", "", "b"};
  node.children.resize(2);
  node.children[1].small = 5;
  node.names = {{"key", "value"}, {"", ""}};
  node.leaves["x"].number = 9;
  node.part.make();
  node.chosen = 21;

  Node read;
  ASSERT_TRUE(parsed(serialize(node), read));
  EXPECT_EQ(read.small, -3);
  EXPECT_TRUE(std::signbit(read.single));
  EXPECT_EQ(read.wide, 1e300);
  EXPECT_TRUE(read.flag);
  EXPECT_EQ(read.color, Color::Red);
  EXPECT_EQ(read.text, "text");
  EXPECT_EQ(read.floats, node.floats);
  EXPECT_EQ(read.ints, node.ints);
  EXPECT_EQ(read.bools, node.bools);
  EXPECT_EQ(read.texts, node.texts);
  ASSERT_EQ(read.children.size(), 2u);
  EXPECT_EQ(read.children[1].small, 5);
  EXPECT_EQ(read.names, node.names);
  EXPECT_EQ(read.leaves["x"].number, 9);
  EXPECT_TRUE(read.part.has());
  EXPECT_EQ(read.part->number, 0);
  EXPECT_EQ(read.chosen, 21); // chosen, although empty
  EXPECT_FALSE(read.third.has());
}

// The bytes that protoc's encoder gives for {1: 150}, {6: "testing"} and
// {1: -1}; see the description of the encoding on protobuf.dev.
TEST(Protobuf, EncodesAsPublished) {
  Node node;
  node.small = 150;
  EXPECT_EQ(serialize(node), "\x08\x96\x01");
  node = Node();
  node.text = "testing";
  EXPECT_EQ(serialize(node), "\x32\x07testing");
  node = Node();
  node.small = -1;
  EXPECT_EQ(serialize(node), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  node = Node();
  node.ints = {3, 270, 86942};
  EXPECT_EQ(serialize(node), "\x42\x06\x03\x8e\x02\x9e\xa7\x05");
}

TEST(Protobuf, TakesTheLastAndMerges) {
  Node node;
  // Numbers: the last one. Messages: merged. Chosen: the last one.
  ASSERT_TRUE(parsed(std::string("\x08\x01\x08\x02", 4), node));
  EXPECT_EQ(node.small, 2);
  std::string both("\x72\x02\x08\x05\x72\x00", 6);
  ASSERT_TRUE(parsed(both, node));
  EXPECT_EQ(node.part->number, 5);
  std::string chosen("\xa0\x01\x09\xb2\x01\x02\x08\x07", 8);
  ASSERT_TRUE(parsed(chosen, node));
  EXPECT_EQ(node.chosen, 22);
  EXPECT_EQ(node.first, 0);
  EXPECT_EQ(node.third->number, 7);
}

TEST(Protobuf, ReadsNumbersPackedOrNot) {
  Node node;
  std::string loose("\x40\x03\x40\x04\x42\x01\x05", 7);
  ASSERT_TRUE(parsed(loose, node));
  EXPECT_EQ(node.ints, (std::vector<int32_t>{3, 4, 5}));
}

TEST(Protobuf, IgnoresUnknownFields) {
  Node node;
  // Field 99; field 1 as a string; field 21 as a number, which chooses nothing.
  std::string bytes("\x98\x06\x01\x0a\x01x\xa8\x01\x01", 9);
  ASSERT_TRUE(parsed(bytes, node));
  EXPECT_EQ(node.small, 0);
  EXPECT_EQ(node.chosen, 0);
}

TEST(Protobuf, RefersToTheBytes) {
  Node node;
  node.text = "text";
  node.texts = {"a", "b"};
  node.floats = {1};
  std::string bytes = serialize(node);
  Views views;
  ASSERT_TRUE(parsed(bytes, views));
  EXPECT_EQ(views.text, "text");
  EXPECT_GE(views.text.data(), bytes.data());
  EXPECT_EQ(views.bytes.size(), 4u);
  EXPECT_EQ(views.texts, (std::vector<StringRef>{"a", "b"}));
}

TEST(Protobuf, RefusesMalformedBytes) {
  Node node;
  EXPECT_FALSE(parsed("\x08", node));                 // no number
  EXPECT_FALSE(parsed(std::string("\x00", 1), node)); // field 0
  EXPECT_FALSE(parsed("\x0b", node));                 // a group
  EXPECT_FALSE(parsed("\x32\x05xx", node));           // past the end
  EXPECT_FALSE(parsed("\x3a\x03xxx", node));          // 3 bytes of floats
  EXPECT_FALSE(parsed("\x08" + std::string(11, '\xff'), node));
  // A number takes at most 10 bytes, also if the last ones add nothing.
  std::string ends(1, '\0');
  EXPECT_TRUE(parsed("\x08" + std::string(9, '\x80') + ends, node));
  EXPECT_FALSE(parsed("\x08" + std::string(10, '\x80') + ends, node));
  EXPECT_FALSE(parsed("\x08" + std::string(40, '\x80') + ends, node));
  EXPECT_FALSE(parsed("\x62\x02\x0a\x05", node)); // in a map
  // A message in a message, and so on: 90 deep, and 110.
  auto nested = [](int depth) {
    std::string bytes;
    for (int i = 0; i < depth; ++i) {
      std::string outer;
      appendBytes(outer, 11, bytes);
      bytes = outer;
    }
    return bytes;
  };
  EXPECT_TRUE(parsed(nested(90), node));
  EXPECT_FALSE(parsed(nested(110), node));
}

} // namespace
