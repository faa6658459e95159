//===- GenerateTest.cpp - texts of models with known logits ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/Generate.h"
#include "lib/Generate/Prompts.h"
#include "lib/Generate/StopTexts.h"
#include "lib/Support/SplitMix.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <cmath>
#include <map>

using namespace anec;
using Ids = std::vector<int32_t>;

//===----------------------------------------------------------------------===//
// A model
//===----------------------------------------------------------------------===//

namespace {
/// Its logits depend on all that a sequence has, and on nothing else.
class FakeModel : public TextModel {
public:
  FakeModel(size_t positions, size_t ids, unsigned count, uint64_t seed = 0)
      : length(positions), ids(ids), seed(seed), texts(count) {}

  size_t positions() const override { return length; }
  size_t vocabulary() const override { return ids; }
  unsigned sequences() const override { return unsigned(texts.size()); }
  uint64_t cacheBytes() const override { return 0; }

  bool feed(llvm::ArrayRef<TokenFeed> feeds, Diagnostics &) override {
    ++steps;
    std::vector<bool> isFed(texts.size());
    for (const TokenFeed &feed : feeds) {
      EXPECT_LT(feed.sequence, texts.size());
      EXPECT_FALSE(isFed[feed.sequence]);
      isFed[feed.sequence] = true;
      Ids &text = texts[feed.sequence];
      EXPECT_LE(feed.keep, text.size());
      EXPECT_GE(feed.tokens.size(), 1u);
      EXPECT_GE(feed.wanted, 1u);
      EXPECT_LE(feed.wanted, feed.tokens.size());
      EXPECT_EQ(feed.logits.size(), feed.wanted * ids);
      text.resize(feed.keep);
      read += feed.tokens.size();
      size_t first = feed.tokens.size() - feed.wanted;
      for (size_t i = 0; i < feed.tokens.size(); ++i) {
        EXPECT_LT(size_t(feed.tokens[i]), ids);
        text.push_back(feed.tokens[i]);
        if (i >= first)
          llvm::copy(logitsOf(text), feed.logits.begin() + (i - first) * ids);
      }
      EXPECT_LE(text.size(), length);
    }
    return true;
  }

  std::vector<float> logitsOf(llvm::ArrayRef<int32_t> text) const {
    uint64_t hash = splitMix(seed);
    for (int32_t id : text)
      hash = splitMix(hash ^ uint64_t(id));
    std::vector<float> logits;
    for (size_t id = 0; id < ids; ++id)
      logits.push_back(float(splitMix(hash + id * splitMixStep) >> 40) /
                       float(1 << 22)); // up to 4
    return logits;
  }

  size_t length, ids;
  uint64_t seed;
  size_t steps = 0, read = 0;
  std::vector<Ids> texts;
};

/// Collects what a listener is told.
class Heard : public GenerateListener {
public:
  void onText(size_t prompt, llvm::StringRef text) override {
    texts[prompt] += text;
  }
  void onToken(size_t prompt, int32_t id, double) override {
    ids[prompt].push_back(id);
  }
  void onFinish(size_t prompt, const GeneratedText &) override {
    order.push_back(prompt);
  }
  std::map<size_t, std::string> texts;
  std::map<size_t, Ids> ids;
  std::vector<size_t> order;
};
} // namespace

static GeneratedText generate(FakeModel &model, const Ids &prompt,
                              const GenerateOptions &options,
                              const Tokenizer *tokenizer = nullptr) {
  Diagnostics diags;
  Generator generator(model, tokenizer);
  std::optional<GeneratedText> made = generator.run(
      prompt, options, [](llvm::StringRef) {}, diags);
  EXPECT_TRUE(made);
  return made.value_or(GeneratedText());
}

//===----------------------------------------------------------------------===//
// Against a loop
//===----------------------------------------------------------------------===//

/// What a text is by the definitions: windows of a text that is computed whole
/// for each token, no draft, no state.
static GeneratedText expected(const FakeModel &model, const Prompt &prompt,
                              const GenerateOptions &options, size_t keep) {
  GeneratedText made;
  SamplingOptions sampling = options.sampling;
  sampling.seed = prompt.seed;
  Sampler sampler(sampling);
  Ids text = prompt.ids, window = prompt.ids;
  size_t positions = model.length;
  keep = std::min(keep, positions < 2 ? 0 : positions - 2);
  if (window.size() > positions)
    window.erase(window.begin() + keep, window.end() - (positions - keep));
  while (made.ids.size() < options.tokens) {
    int32_t id = *sampler.sample(model.logitsOf(window), text);
    if (llvm::is_contained(options.endIds, id)) {
      made.finish = Finish::End;
      return made;
    }
    made.ids.push_back(id);
    text.push_back(id);
    made.text += char(id);
    size_t end = std::string::npos;
    for (const std::string &stop : options.stopTexts)
      end = std::min(end, made.text.find(stop));
    if (end != std::string::npos) {
      made.text.resize(end);
      made.finish = Finish::StopText;
      return made;
    }
    window.push_back(id);
    if (window.size() > positions)
      window.erase(window.begin() + keep,
                   window.end() - (positions - keep + 1) / 2);
  }
  return made;
}

static size_t below(std::mt19937 &random, size_t bound) {
  return random() % bound;
}

TEST(Generate, IsWhatANaiveLoopWrites) {
  Diagnostics diags;
  std::unique_ptr<Tokenizer> bytes = openTokenizer("", diags);
  std::mt19937 random(1);
  size_t slid = 0, stopped = 0, ended = 0, accepted = 0;
  for (int round = 0; round < 1500; ++round) {
    FakeModel model(1 + below(random, 24), 2 + below(random, 12),
                    1 + unsigned(below(random, 4)), random());
    // A draft that agrees now and then: the model itself, but with windows.
    FakeModel small(1 + below(random, 24), model.ids,
                    1 + unsigned(below(random, 4)),
                    below(random, 2) ? model.seed : random());
    ModelDraft modelDraft(small);
    LookupDraft lookup;
    GenerateOptions options;
    options.tokens = unsigned(below(random, 60));
    options.sampling.temperature = below(random, 3) ? 0 : 0.7;
    options.sampling.topK = unsigned(below(random, 4));
    options.sampling.repeatPenalty = below(random, 2) ? 1 : 1.3;
    options.sampling.repeatWindow = unsigned(below(random, 8));
    if (below(random, 2))
      options.endIds = {int32_t(below(random, model.ids))};
    for (size_t count = below(random, 3); count; --count)
      options.stopTexts.push_back(std::string({char(below(random, model.ids)),
                                               char(below(random, model.ids))})
                                      .substr(below(random, 2)));
    size_t keep = below(random, 5);
    if (keep + 2 > model.length)
      keep = 0;
    options.keep = keep;
    // A draft changes texts that are drawn, though not their distribution.
    options.draftTokens = 1 + unsigned(below(random, 6));
    if (options.sampling.temperature == 0 && below(random, 2))
      options.draft = below(random, 2) ? static_cast<Draft *>(&lookup)
                                       : static_cast<Draft *>(&modelDraft);
    std::vector<Prompt> prompts(1 + below(random, 6));
    for (Prompt &prompt : prompts) {
      prompt.seed = random();
      prompt.ids.resize(1 + below(random, 40));
      for (int32_t &id : prompt.ids)
        id = int32_t(below(random, model.ids));
      // Some begin like others.
      if (below(random, 2))
        llvm::copy(
            llvm::ArrayRef(prompts.front().ids).take_front(prompt.ids.size()),
            prompt.ids.begin());
    }

    Heard heard;
    Generator generator(model, bytes.get());
    auto all = generator.runAll(prompts, options, heard, diags);
    ASSERT_TRUE(all) << round;
    ASSERT_EQ(all->size(), prompts.size());
    for (size_t i = 0; i < prompts.size(); ++i) {
      const GeneratedText &made = (*all)[i];
      GeneratedText wanted = expected(model, prompts[i], options, keep);
      ASSERT_EQ(made.ids, wanted.ids)
          << "round " << round << ", text " << i << " of " << prompts.size()
          << ", " << model.length << " positions, " << model.texts.size()
          << " sequences, keep " << keep << ", prompt " << prompts[i].ids.size()
          << ", draft "
          << (options.draft == &lookup       ? "lookup"
              : options.draft == &modelDraft ? "model"
                                             : "none")
          << " of " << small.length << ", temperature "
          << options.sampling.temperature;
      ASSERT_EQ(made.text, wanted.text) << round << " " << i;
      ASSERT_EQ(made.finish, wanted.finish) << round << " " << i;
      EXPECT_EQ(made.promptIds, prompts[i].ids);
      EXPECT_EQ(heard.ids[i], wanted.ids);
      std::string whole(prompts[i].ids.begin(), prompts[i].ids.end());
      EXPECT_EQ(heard.texts[i], whole + wanted.text);
      EXPECT_EQ(heard.order[i], i);
      slid += prompts[i].ids.size() + made.ids.size() > model.length;
      stopped += made.finish == Finish::StopText;
      ended += made.finish == Finish::End;
      accepted += made.accepted;
    }
  }
  // All of that did happen.
  EXPECT_GT(slid, 1000u);
  EXPECT_GT(stopped, 300u);
  EXPECT_GT(ended, 300u);
  EXPECT_GT(accepted, 1000u);
}

//===----------------------------------------------------------------------===//
// Speculation
//===----------------------------------------------------------------------===//

TEST(Generate, ADraftLeavesTheDistributionOfTextsAlone) {
  const FakeModel target(16, 4, 1, 5);
  SamplingOptions sampling{.temperature = 0.8, .topP = 0.95};
  sampling.repeatPenalty = 1.2;
  Ids prompt = {3, 1, 3, 1};
  // The probabilities of all texts of three tokens.
  std::map<Ids, double> shares{{{}, 1.0}};
  for (int length = 0; length < 3; ++length) {
    std::map<Ids, double> longer;
    for (const auto &[made, share] : shares) {
      Ids text = prompt;
      llvm::append_range(text, made);
      TokenDistribution next =
          *Sampler(sampling).distribution(target.logitsOf(text), text);
      for (const WeightedToken &token : next.tokens()) {
        Ids more = made;
        more.push_back(token.id);
        longer[more] = share * next.probabilityOf(token.id);
      }
    }
    shares = longer;
  }
  FakeModel model = target, small(16, 4, 1, 6);
  ModelDraft modelDraft(small);
  LookupDraft lookup;
  for (Draft *draft :
       {static_cast<Draft *>(nullptr), static_cast<Draft *>(&modelDraft),
        static_cast<Draft *>(&lookup)}) {
    GenerateOptions options;
    options.tokens = 3;
    options.sampling = sampling;
    options.draft = draft;
    options.draftTokens = 2;
    std::map<Ids, int> counts;
    constexpr int texts = 40'000;
    size_t drafted = 0, accepted = 0;
    for (int seed = 0; seed < texts; ++seed) {
      options.sampling.seed = uint64_t(seed);
      GeneratedText made = generate(model, prompt, options);
      ++counts[made.ids];
      drafted += made.drafted;
      accepted += made.accepted;
    }
    if (draft) {
      EXPECT_GT(drafted, size_t(texts));
      EXPECT_GT(accepted, size_t(texts) / 10);
      EXPECT_LT(accepted, drafted);
    }
    int counted = 0;
    for (const auto &[ids, share] : shares) {
      EXPECT_NEAR(counts[ids], texts * share,
                  5 * std::sqrt(texts * share * (1 - share)) + 1);
      counted += counts[ids];
    }
    EXPECT_EQ(counted, texts);
  }
}

TEST(Generate, ADraftSavesSteps) {
  FakeModel model(64, 5, 1, 3), same(64, 5, 1, 3);
  ModelDraft draft(same);
  GenerateOptions options;
  options.tokens = 20;
  options.sampling.temperature = 0;
  options.draft = &draft;
  options.draftTokens = 4;
  GeneratedText made = generate(model, {1, 2}, options);
  // Five tokens in each step, all of whose guesses are right.
  EXPECT_EQ(model.steps, 4u);
  EXPECT_EQ(made.drafted, 16u);
  EXPECT_EQ(made.accepted, 16u);
}

TEST(Generate, LookupContinuesAsBefore) {
  LookupDraft lookup;
  Sampler sampler({});
  Diagnostics diags;
  auto guess = [&](const Ids &text, size_t count) {
    std::vector<DraftToken> tokens;
    EXPECT_TRUE(
        lookup.propose({0, text, true, 0, count, 100}, sampler, tokens, diags));
    Ids ids;
    for (const DraftToken &token : tokens)
      ids.push_back(token.id);
    return ids;
  };
  EXPECT_EQ(guess({1, 2, 3, 4, 5, 1, 2, 3}, 2), (Ids{4, 5}));
  EXPECT_EQ(guess({1, 2, 3, 4, 5, 1, 2, 3}, 9), (Ids{4, 5, 1, 2, 3}));
  // Three tokens count more than a later place of two.
  EXPECT_EQ(guess({1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3}, 1), (Ids{4}));
  EXPECT_EQ(guess({7, 8, 7, 9, 7}, 1), (Ids{9}));
  EXPECT_EQ(guess({1, 2, 3}, 2), Ids());
  EXPECT_EQ(guess({1}, 2), Ids());
  EXPECT_EQ(guess({6, 200, 6}, 2), Ids()); // no id below 100
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

TEST(SlidingWindow, DropsTheOlderHalf) {
  SlidingWindow window(8);
  Ids text = {0, 1, 2, 3, 4, 5};
  SlidingWindow::Step step = window.advance(text, 2);
  EXPECT_EQ(step.keep, 0u);
  EXPECT_EQ(step.tokens, text);
  for (int32_t id : {6, 7}) {
    text.push_back(id);
    step = window.advance(text, 2);
    EXPECT_EQ(step.keep, size_t(id));
    EXPECT_EQ(step.tokens, Ids{id});
  }
  EXPECT_EQ(window.room(text, 2), 0u);
  text.push_back(8);
  step = window.advance(text, 2);
  EXPECT_EQ(step.keep, 2u);
  EXPECT_EQ(step.tokens, (Ids{6, 7, 8}));
  EXPECT_EQ(window.room(text, 2), 3u);
  text.push_back(9);
  step = window.advance(text, 2);
  EXPECT_EQ(step.keep, 5u);
  EXPECT_EQ(step.tokens, Ids{9});
  // A token is replaced: those before it stay.
  text.back() = 10;
  step = window.advance(text, 2);
  EXPECT_EQ(step.keep, 5u);
  EXPECT_EQ(step.tokens, Ids{10});
  // Another text that begins with the same is read as if it were the first.
  window.beginText();
  text.resize(7);
  step = window.advance(text, 2);
  EXPECT_EQ(step.keep, 2u);
  EXPECT_EQ(step.tokens, (Ids{2, 3, 4, 5, 6}));
}

TEST(SlidingWindow, UsesTheEndOfALongPrompt) {
  SlidingWindow window(4);
  Ids text = {0, 1, 2, 3, 4, 5, 6};
  SlidingWindow::Step step = window.advance(text, 1);
  EXPECT_EQ(step.keep, 0u);
  EXPECT_EQ(step.tokens, (Ids{0, 4, 5, 6}));
}

TEST(Generate, ReadsTokensOnceEveryHalfWindow) {
  FakeModel model(100, 7, 1, 2);
  GenerateOptions options;
  options.tokens = 2000;
  (void)generate(model, {1}, options);
  EXPECT_EQ(model.steps, 2000u);
  // 2000 tokens, and 49 again for each of the 38 or 39 times that the window
  // slid.
  EXPECT_LT(model.read, 2000u + 39 * 50);
}

TEST(Generate, ReadsWhatIsNewAlone) {
  FakeModel model(100, 7, 1, 2);
  Diagnostics diags;
  Generator generator(model, nullptr);
  GenerateOptions options;
  options.tokens = 5;
  auto ignore = [](llvm::StringRef) {};
  auto first = generator.run(Ids{1, 2, 3}, options, ignore, diags);
  ASSERT_TRUE(first);
  EXPECT_EQ(model.read, 3u + 4);
  Ids next = {1, 2, 3};
  llvm::append_range(next, first->ids);
  next.push_back(6);
  ASSERT_TRUE(generator.run(next, options, ignore, diags));
  // The last token of the first text, the new one, and four.
  EXPECT_EQ(model.read, 7u + 2 + 4);
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

static std::string stopAt(std::vector<std::string> texts,
                          std::vector<std::string> pieces) {
  StopTexts stops(texts);
  std::string shown;
  for (const std::string &piece : pieces)
    shown += stops.next(piece) + "|";
  if (stops.found().empty())
    return shown + stops.finish();
  return shown + "<" + stops.found().str() + ">";
}

TEST(StopTexts, AreFoundAcrossPieces) {
  EXPECT_EQ(stopAt({}, {"ab", "c"}), "ab|c|");
  EXPECT_EQ(stopAt({"END"}, {"the E", "N", "D of"}), "the |||<END>");
  EXPECT_EQ(stopAt({"END"}, {"E", "EN", "x"}), "|E|ENx|");
  EXPECT_EQ(stopAt({"aab"}, {"aa", "ab"}), "|a|<aab>");
  // The first in the text counts, not the first in the list.
  EXPECT_EQ(stopAt({"c", "b"}, {"abc"}), "a|<b>");
  EXPECT_EQ(stopAt({"bcd", "c"}, {"ab", "c", "d"}), "a|b||<c>");
  EXPECT_EQ(stopAt({"ab"}, {"xa"}), "x|a");
  EXPECT_EQ(stopAt({"a"}, {"a", "b"}), "||<a>");
}

TEST(Generate, EndsBeforeTheNextTokenWhenAsked) {
  FakeModel model(16, 4, 2);
  std::atomic<bool> stop = true;
  GenerateOptions options;
  options.stop = &stop;
  GeneratedText made = generate(model, {1}, options);
  EXPECT_EQ(made.finish, Finish::Interrupted);
  EXPECT_TRUE(made.ids.empty());
  EXPECT_EQ(model.steps, 0u);
}

TEST(Generate, RefusesIdsAndWindowsThatDoNotFit) {
  FakeModel model(8, 300, 1);
  Diagnostics diags;
  std::unique_ptr<Tokenizer> bytes = openTokenizer("", diags);
  Generator generator(model, bytes.get()), plain(model, nullptr);
  EXPECT_EQ(generator.vocabulary(), 256u);
  EXPECT_EQ(plain.vocabulary(), 300u);
  EXPECT_TRUE(plain.canRead({299}, diags));
  GenerateOptions options;
  options.keep = 6;
  EXPECT_TRUE(generator.canUse(options, diags));
  EXPECT_EQ(diags.errorCount(), 0u);
  EXPECT_FALSE(generator.canRead({256}, diags));
  EXPECT_FALSE(generator.canRead({300}, diags));
  EXPECT_FALSE(generator.canRead({-1}, diags));
  EXPECT_FALSE(generator.canRead({}, diags));
  options.keep = 7;
  EXPECT_FALSE(generator.canUse(options, diags));
  EXPECT_FALSE(generator.encode("", false, diags));
  for (const char *text : {"", "1,", ",", "1,,2", "a", "-1", "4294967296"})
    EXPECT_FALSE(parsePromptIds(text, diags)) << text;
  EXPECT_EQ(parsePromptIds("1, 5,7", diags), (Ids{1, 5, 7}));
}

TEST(Generate, GivesLogProbabilitiesOfTheModel) {
  FakeModel model(16, 4, 1, 9);
  GenerateOptions options;
  options.tokens = 3;
  options.logProbs = true;
  options.sampling.temperature = 0;
  GeneratedText made = generate(model, {2}, options);
  ASSERT_EQ(made.logProbs.size(), 3u);
  Ids text = {2};
  for (size_t i = 0; i < 3; ++i) {
    std::vector<float> logits = model.logitsOf(text);
    double sum = 0;
    for (float logit : logits)
      sum += std::exp(logit);
    EXPECT_NEAR(made.logProbs[i], logits[made.ids[i]] - std::log(sum), 1e-6);
    text.push_back(made.ids[i]);
  }
}
