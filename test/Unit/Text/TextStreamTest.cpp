//===- TextStreamTest.cpp - text as its tokens arrive ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Text/Tokenizer.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"

using namespace anec;
using anec::test::TemporaryFolder;

static std::vector<std::string> stream(llvm::StringRef bytes) {
  Diagnostics diags;
  std::unique_ptr<Tokenizer> tokenizer = openTokenizer("", diags);
  TextStream text(*tokenizer);
  std::vector<std::string> shown;
  std::optional<std::vector<int32_t>> ids = tokenizer->encode(bytes, diags);
  for (int32_t id : *ids)
    shown.push_back(text.next(id));
  shown.push_back(text.finish());
  return shown;
}

using Shown = std::vector<std::string>;

TEST(TextStream, HoldsCharactersBackUntilTheyAreWhole) {
  EXPECT_EQ(stream("aé"), (Shown{"a", "", "é", ""}));
  EXPECT_EQ(stream("\xE2\x96\x81"), (Shown{"", "", "\xE2\x96\x81", ""}));
  EXPECT_EQ(stream("\xF0\x9F\x90\xB6!"),
            (Shown{"", "", "", "\xF0\x9F\x90\xB6", "!", ""}));
}

TEST(TextStream, ReplacesWhatIsNoCharacter) {
  const std::string no = "\xEF\xBF\xBD";
  EXPECT_EQ(stream("\xFFz"), (Shown{no, "z", ""}));
  EXPECT_EQ(stream("\x80"), (Shown{no, ""}));
  // Cut by the next character, and by the end.
  EXPECT_EQ(stream("\xE2\x96z"), (Shown{"", "", no + no + "z", ""}));
  EXPECT_EQ(stream("\xE2\x96"), (Shown{"", "", no + no}));
  // A surrogate, an overlong spelling, and what lies beyond the last character:
  // no third byte makes them one.
  EXPECT_EQ(stream("\xED\xA0\x80"), (Shown{"", no + no, no, ""}));
  EXPECT_EQ(stream("\xE0\x80\x80"), (Shown{"", no + no, no, ""}));
  EXPECT_EQ(stream("\xF4\x90\x80"), (Shown{"", no + no, no, ""}));
}

/// A tokenizer of the bytes F3, 8C and `a`, in the spelling of ByteLevel.
static constexpr llvm::StringLiteral threeBytes =
    R"({"added_tokens": [], "normalizer": null, "pre_tokenizer": null,
  "post_processor": null, "decoder": {"type": "ByteLevel"},
  "model": {"type": "BPE", "vocab": {"\u00f3": 0, "\u012e": 1, "a": 2},
            "merges": []}})";

TEST(TextStream, ReplacesTheBeginningOfACharacterAsOne) {
  TemporaryFolder folder;
  Diagnostics diags;
  std::unique_ptr<Tokenizer> tokenizer =
      openTokenizer(folder.write("tokenizer.json", threeBytes), diags);
  ASSERT_TRUE(tokenizer);
  auto shown = [&](std::initializer_list<int32_t> ids) {
    TextStream text(*tokenizer);
    Shown shown;
    for (int32_t id : ids)
      shown.push_back(text.next(id));
    shown.push_back(text.finish());
    return shown;
  };
  const std::string no = "\xEF\xBF\xBD";
  EXPECT_EQ(shown({0, 1, 2}), (Shown{"", "", no + "a", ""}));
  EXPECT_EQ(shown({0, 1, 1}), (Shown{"", "", "", no}));
  EXPECT_EQ(shown({0, 0, 1}), (Shown{"", no, "", no}));
  EXPECT_EQ(shown({1, 1, 2}), (Shown{no, no, "a", ""}));
}

TEST(Tokenizer, CutsLongTextsWithinNoCharacter) {
  Diagnostics diags;
  std::unique_ptr<Tokenizer> tokenizer = openTokenizer("", diags);
  std::string text = "a";
  while (text.size() < (3u << 20))
    text += "é";
  EXPECT_EQ(tokenizer->decode(*tokenizer->encode(text, diags)), text);
  EXPECT_EQ(tokenizer->vocabulary(), 256u);
  EXPECT_EQ(spelling(tokenizer->kind()), "bytes");
  EXPECT_TRUE(tokenizer->digest().empty());
}
