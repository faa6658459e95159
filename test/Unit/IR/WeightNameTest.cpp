//===- WeightNameTest.cpp - names of weights and of their arrays ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/WeightName.h"
#include "gtest/gtest.h"
#include <random>

using namespace anec;

TEST(WeightName, Instances) {
  EXPECT_EQ(instanceName("attention.wq", 3), "attention.3.wq");
  EXPECT_EQ(instanceName("block.attention.wq", 3), "block.3.attention.wq");
  EXPECT_EQ(instanceName("w", 3), "w.3");
  EXPECT_EQ(instanceName("attention.wq", std::nullopt), "attention.wq");
  EXPECT_EQ(instanceName("h.{9..12}.w", 3), "h.12.w");
  EXPECT_EQ(instanceName("MatMul_{131,155}", 1), "MatMul_155");
  EXPECT_EQ(instanceName("h.{0..3}.w.lora_a", 2), "h.2.w.lora_a");
}

TEST(WeightName, Members) {
  EXPECT_EQ(memberOf("block.attention.wq"), "wq");
  EXPECT_EQ(memberOf("wq"), "wq");
  EXPECT_EQ(memberOf("h.{0..3}.attn.w"), "w");
  EXPECT_EQ(memberOf("h.{0.a,1.b}"), "{0.a,1.b}");
}

TEST(WeightName, Lists) {
  EXPECT_EQ(listInstances({"h.0.w", "h.1.w", "h.2.w"}), "h.{0..2}.w");
  EXPECT_EQ(listInstances({"h.9.w", "h.10.w"}), "h.{9..10}.w");
  EXPECT_EQ(listInstances({"h.10.w", "h.11.w"}), "h.{10..11}.w");
  EXPECT_EQ(listInstances({"h.01.w", "h.02.w"}), "h.{01,02}.w");
  EXPECT_EQ(listInstances({"h.2.w", "h.4.w"}), "h.{2,4}.w");
  EXPECT_EQ(listInstances({"a", "b"}), "{a,b}");
  EXPECT_EQ(listInstances({"aa", "aaa"}), "aa{,a}");
  EXPECT_FALSE(canBeInstance("a{0}"));
  EXPECT_FALSE(canBeInstance("a,b"));
  EXPECT_TRUE(canBeInstance("onnx::MatMul_17"));
}

/// A list gives back the names that it was made of, whatever they are.
TEST(WeightName, ListsOfAnyNames) {
  std::mt19937 random(1);
  const llvm::StringRef letters = "ab.019_";
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::string> names(1 + random() % 4);
    std::string before, after;
    for (std::string *part : {&before, &after})
      for (size_t i = random() % 4; i > 0; --i)
        *part += letters[random() % letters.size()];
    for (std::string &name : names) {
      name = before;
      for (size_t i = random() % 4; i > 0; --i)
        name += letters[random() % letters.size()];
      name += after;
    }
    std::vector<llvm::StringRef> views(names.begin(), names.end());
    std::string list = listInstances(views);
    for (size_t i = 0; i < names.size(); ++i)
      ASSERT_EQ(instanceName(list, int64_t(i)), names[i]) << list;
  }
}
