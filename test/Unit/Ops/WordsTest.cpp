//===- WordsTest.cpp - enumerations that are written as words -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/Words.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Params/Convolution.h"
#include "gtest/gtest.h"

using namespace anec;

namespace {
ANEC_ENUM(Single, (One, "one"))
ANEC_ENUM(Many, (A, "a"), (B, "b"), (C, "c"), (D, "d"), (E, "e"), (F, "f"),
          (G, "g"), (H, "h"), (I, "i"), (J, "j"), (K, "k"), (L, "l"), (M, "m"),
          (N, "n"), (O, "o"), (P, "p"), (Q, "q"), (R, "r"), (S, "s"), (T, "t"),
          (U, "u"), (V, "v"), (W, "w"), (X, "x"), (Y, "y"), (Z, "z"))
} // namespace

TEST(Words, BelongToTheirValues) {
  EXPECT_EQ(spelling(PadType::SameLower), "same_lower");
  EXPECT_EQ(parseWord<PadType>("same_lower"), PadType::SameLower);
  EXPECT_EQ(parseWord<PadType>("SAME"), std::nullopt);
  EXPECT_EQ(parseWord<PadType>(""), std::nullopt);
  EXPECT_EQ(spelling(Single::One), "one");
  EXPECT_EQ(allWords<Many>().size(), 26u);
  EXPECT_EQ(spelling(Many::Z), "z");
  EXPECT_EQ(parseWord<Many>("q"), Many::Q);
}

TEST(Words, AreListedInConstraints) {
  constexpr llvm::StringRef one = oneOf<"`x` is ", Single>;
  EXPECT_EQ(one, "`x` is one");
  constexpr llvm::StringRef four = oneOf<"`x` is ", PadType, ", always">;
  EXPECT_EQ(four, "`x` is valid, custom, same or same_lower, always");
}
