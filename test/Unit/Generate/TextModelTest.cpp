//===- TextModelTest.cpp - texts that are read with caches ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/API/Compile.h"
#include "anec/Generate/IncrementalModel.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace anec;

static constexpr char source[] = R"(
layer attention(x: fp16[6, 16]) -> fp16[6, 16] {
  weight wq, wk, wv: fp16[8, 6];
  weight wo: fp16[6, 8];
  q = rope(split_heads(wq @ x, 2));
  k = rope(split_heads(wk @ x, 2));
  v = split_heads(wv @ x, 2);
  return x + wo @ merge_heads(sdpa(q, k, v, causal = true));
}
model m(tokens: int32[16], targets: int32[16]) -> fp32 {
  weight table: fp16[11, 6];
  x = gather(table, tokens);
  repeat i in 0..2 { x = attention[i](x); }
  return cross_entropy(table @ x, targets);
}
)";
static constexpr size_t vocabulary = 11;

namespace {

class TextModelTest : public testing::Test {
protected:
  void open(unsigned sequences, bool decode = true, int64_t batch = 1) {
    CompileOptions options;
    options.train = false;
    options.decode = decode;
    options.weights.seed = 3;
    options.passes.decode.batch = batch;
    options.passes.decode.blocks = {1, 3};
    options.passes.decode.prefills = {4};
    options.passes.decode.ladder = {4, 8};
    std::optional<ModelPackage> package =
        compileModelText(source, "m.tdsl", options, "", diags);
    ASSERT_TRUE(package);
    SessionOptions run;
    run.load.numerics = Numerics::FP32;
    session = Session::open(std::move(*package), *backend, run, diags);
    ASSERT_TRUE(session);
    model = openIncrementalModel(*session, {"", sequences}, diags);
  }

  /// The logits of the last `wanted` of `tokens`, after `keep` others.
  std::vector<float> feed(std::vector<int32_t> tokens, size_t keep,
                          size_t wanted = 1, unsigned sequence = 0) {
    std::vector<float> logits(wanted * vocabulary);
    TokenFeed feed{sequence, keep, tokens, wanted, logits};
    EXPECT_TRUE(model->feed(feed, diags));
    return logits;
  }

  static void expectNear(llvm::ArrayRef<float> a, llvm::ArrayRef<float> b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], b[i], 1e-5) << i;
  }

  Diagnostics diags;
  std::unique_ptr<Backend> backend = createCpuBackend();
  std::unique_ptr<Session> session;
  std::unique_ptr<TextModel> model;
};

} // namespace

TEST_F(TextModelTest, SaysWhatItHolds) {
  open(2);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->positions(), 16u);
  EXPECT_EQ(model->vocabulary(), vocabulary);
  EXPECT_EQ(model->sequences(), 2u);
  // Keys and values of 2 layers, 2 heads of 4: for the positions of all rungs,
  // 4, 8 and 16, and for those of the sequence that waits.
  EXPECT_EQ(model->cacheBytes(), 2 * 2 * 2 * 4 * (28 + 16) * sizeof(float));
}

TEST_F(TextModelTest, FeedsOfAnySizeGiveTheSame) {
  open(1);
  std::vector<int32_t> text = {1, 5, 2, 9, 9, 0, 10, 3, 4, 7, 1, 2, 6};
  std::vector<float> whole = feed(text, 0, text.size());
  std::vector<float> parts;
  for (size_t at = 0, size = 1; at < text.size(); at += size, ++size) {
    size = std::min(size, text.size() - at);
    std::vector<float> part =
        feed({text.begin() + at, text.begin() + at + size}, at, size);
    parts.insert(parts.end(), part.begin(), part.end());
  }
  expectNear(whole, parts);
}

/// The first block of a text reads no caches: 0 * NaN would show.
TEST_F(TextModelTest, StartsWithoutCaches) {
  open(1);
  std::vector<float> expected = feed({1, 2, 3, 4}, 0);
  std::vector<float> next = feed({5}, 4);
  for (llvm::StringRef entry : {"m.decode1.c4", "m.prefill4.c4"}) {
    ASSERT_TRUE(session->prepare(entry, diags));
    for (const NamedFloats &state : session->states(entry))
      std::fill(state.elements.begin(), state.elements.end(), NAN);
  }
  expectNear(feed({1, 2, 3, 4}, 0), expected);
  expectNear(feed({5}, 4), next);
}

TEST_F(TextModelTest, TakesTokensBack) {
  open(1);
  std::vector<float> expected = feed({1, 2, 3, 4, 5}, 0);
  feed({7, 7, 7, 7, 7, 7, 7}, 2);
  expectNear(feed({3, 4, 5}, 2), expected);
  feed({6, 6, 6, 6, 6, 6, 6, 6}, 5);
  expectNear(feed({5}, 4), expected);
}

TEST_F(TextModelTest, FillsTheWholeContext) {
  open(1);
  std::vector<int32_t> text(16, 4);
  std::vector<float> expected = feed(text, 0);
  std::vector<float> last;
  for (size_t at = 0; at < text.size(); ++at)
    last = feed({4}, at);
  expectNear(last, expected);
}

TEST_F(TextModelTest, TextsDoNotDisturbEachOther) {
  open(3);
  std::vector<float> first = feed({1, 2, 3}, 0), second = feed({4, 5}, 0);
  feed({1, 2}, 0, 1, 0);
  feed({4}, 0, 1, 2);
  feed({9, 9, 9, 9, 9, 9}, 0, 1, 1);
  expectNear(feed({3}, 2, 1, 0), first);
  expectNear(feed({5}, 1, 1, 2), second);
}

/// Texts of several lengths that grow past rungs, with tokens taken back, read
/// together and by themselves.
TEST_F(TextModelTest, TextsOfABatchAreReadTogether) {
  std::vector<std::vector<int32_t>> texts = {
      {1, 2, 3, 4, 5, 6, 7, 8, 9}, {4}, {9, 8, 7, 6, 5}};
  open(1);
  std::vector<std::vector<float>> expected;
  for (const std::vector<int32_t> &text : texts)
    expected.push_back(feed(text, 0, text.size()));
  open(1, /*decode=*/true, /*batch=*/3);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->sequences(), 3u);
  EXPECT_EQ(model->positions(), 16u);
  EXPECT_EQ(model->cacheBytes(), 3 * 2 * 2 * 2 * 4 * 28 * sizeof(float));
  std::vector<std::vector<float>> got;
  std::vector<TokenFeed> feeds;
  for (const std::vector<int32_t> &text : texts)
    got.emplace_back(text.size() * vocabulary);
  for (unsigned i = 0; i < texts.size(); ++i)
    feeds.push_back({i, 0, texts[i], texts[i].size(), got[i]});
  for (unsigned round = 0; round < 2; ++round) {
    ASSERT_TRUE(model->feed(feeds, diags));
    for (unsigned i = 0; i < texts.size(); ++i)
      expectNear(got[i], expected[i]);
  }
  // One text goes on while the others wait, and at the end of the context.
  std::vector<float> last = feed({4, 4, 4, 4, 4, 4, 4}, 9, 1, 0);
  std::vector<float> second = feed({1}, 1, 1, 1);
  expectNear(feed({9}, 8, 1, 0),
             llvm::ArrayRef(expected[0]).take_back(vocabulary));
  expectNear(feed({4, 4, 4, 4, 4, 4, 4}, 9, 1, 0), last);
  expectNear(feed({1}, 1, 1, 1), second);
  expectNear(feed({5}, 4, 1, 2),
             llvm::ArrayRef(expected[2]).take_back(vocabulary));
}

TEST_F(TextModelTest, ABatchHoldsNoMoreTexts) {
  open(4, /*decode=*/true, /*batch=*/3);
  EXPECT_FALSE(model);
  std::string text;
  llvm::raw_string_ostream out(text);
  diags.print(out);
  EXPECT_NE(text.find("`m` holds 3 texts, and 4 are wanted; compile it with "
                      "`--batch=4` [batch-too-small]"),
            std::string::npos)
      << text;
}

TEST_F(TextModelTest, WantsNoLogits) {
  open(1);
  EXPECT_TRUE(feed({1, 2, 3, 4, 5, 6}, 0, 0).empty());
  std::vector<float> after = feed({7}, 6);
  expectNear(feed({1, 2, 3, 4, 5, 6, 7}, 0), after);
}

TEST_F(TextModelTest, NeedsProgramsThatDecode) {
  open(1, /*decode=*/false);
  EXPECT_FALSE(model);
  EXPECT_FALSE(hasDecodePrograms(session->package()));
  std::string text;
  llvm::raw_string_ostream out(text);
  diags.print(out);
  EXPECT_NE(text.find("has no programs that decode; compile it with "
                      "`--decode` [no-decode-programs]"),
            std::string::npos)
      << text;
}

TEST_F(TextModelTest, NeedsCaches) {
  CompileOptions options;
  options.decode = true;
  std::optional<ModelPackage> package = compileModelText(
      "model m(tokens: int32[4], targets: int32[4]) -> fp32 {\n"
      "  weight table: fp16[5, 6];\n"
      "  return cross_entropy(table @ gather(table, tokens), targets);\n}\n",
      "m.tdsl", options, "", diags);
  ASSERT_TRUE(package);
  SessionOptions run;
  run.weights.seed = 1;
  session = Session::open(std::move(*package), *backend, run, diags);
  ASSERT_TRUE(session);
  EXPECT_FALSE(openIncrementalModel(*session, {}, diags));
  std::string text;
  llvm::raw_string_ostream out(text);
  diags.print(out);
  EXPECT_NE(text.find("cannot decode texts: it has no states, in which texts "
                      "are kept [decode-entry-form]"),
            std::string::npos)
      << text;
}
