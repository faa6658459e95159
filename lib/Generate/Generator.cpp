//===- Generator.cpp - a model that writes --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Continuation.h"
#include "lib/Generate/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

GenerateListener::~GenerateListener() = default;

Generator::Generator(TextModel &model, const Tokenizer *tokenizer)
    : model(&model), tokenizer(tokenizer), usable(model.vocabulary()),
      windows(model.sequences(), SlidingWindow(model.positions())) {
  if (tokenizer)
    usable = std::min<size_t>(usable, tokenizer->vocabulary());
}

//===----------------------------------------------------------------------===//
// What is given
//===----------------------------------------------------------------------===//

bool Generator::canRead(llvm::ArrayRef<int32_t> ids, Diagnostics &diags) const {
  if (ids.empty()) {
    diags.report({}, diag::EmptyPrompt);
    return false;
  }
  for (int32_t id : ids)
    if (id < 0 || size_t(id) >= model->vocabulary()) {
      diags.report({}, diag::PromptToken, id, int64_t(model->vocabulary()));
      return false;
    }
  for (int32_t id : ids)
    if (tokenizer && unsigned(id) >= tokenizer->vocabulary()) {
      diags.reportFile(tokenizer->path(), diag::PromptNotDecoded, id,
                       tokenizer->vocabulary());
      return false;
    }
  return true;
}

std::optional<std::vector<int32_t>>
Generator::encode(llvm::StringRef prompt, bool markBeginning,
                  Diagnostics &diags) const {
  assert(tokenizer && "a text without a tokenizer");
  std::vector<int32_t> ids;
  if (std::optional<int32_t> beginning = tokenizer->beginning();
      beginning && (markBeginning || prompt.empty()))
    ids.push_back(*beginning);
  std::optional<std::vector<int32_t>> encoded =
      tokenizer->encode(prompt, diags);
  if (!encoded)
    return std::nullopt;
  llvm::append_range(ids, *encoded);
  if (!canRead(ids, diags))
    return std::nullopt;
  return ids;
}

bool Generator::canUse(const GenerateOptions &options,
                       Diagnostics &diags) const {
  if (options.keep.value_or(0) > 0 && *options.keep + 2 > positions()) {
    diags.report({}, diag::KeepTooLarge, *options.keep, positions());
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// The prompts that are not finished: some in sequences of the model, and
/// others that wait for one.
class PromptQueue {
public:
  PromptQueue(const ContinuationSettings &settings,
              llvm::ArrayRef<Prompt> prompts,
              llvm::MutableArrayRef<SlidingWindow> windows)
      : settings(settings), prompts(prompts), windows(windows),
        results(prompts.size()), places(windows.size()) {}

  /// Puts prompts that wait into free sequences. False when all are finished.
  bool fill();
  /// One step of all texts in sequences.
  [[nodiscard]] bool step(TextModel &model, Diagnostics &diags);
  std::vector<GeneratedText> takeResults();

private:
  void collect(std::unique_ptr<Continuation> &place);

  const ContinuationSettings &settings;
  llvm::ArrayRef<Prompt> prompts;
  llvm::MutableArrayRef<SlidingWindow> windows;
  std::vector<std::optional<GeneratedText>> results;
  std::vector<std::unique_ptr<Continuation>> places; ///< by sequence
  size_t begun = 0, reported = 0;
};
} // namespace

/// Empties `place` if its text is finished, and reports results whose turn it
/// is.
void PromptQueue::collect(std::unique_ptr<Continuation> &place) {
  if (!place->isFinished())
    return;
  results[place->number()] = place->result();
  place.reset();
  for (; reported < results.size() && results[reported]; ++reported)
    settings.listener.onFinish(reported, *results[reported]);
}

bool PromptQueue::fill() {
  bool isAny = false;
  for (unsigned sequence = 0; sequence < places.size(); ++sequence) {
    std::unique_ptr<Continuation> &place = places[sequence];
    // A text can be finished before its first step.
    while (!place && begun < prompts.size()) {
      place = std::make_unique<Continuation>(settings, prompts[begun], begun,
                                             sequence, windows[sequence]);
      ++begun;
      collect(place);
    }
    isAny |= place != nullptr;
  }
  return isAny;
}

bool PromptQueue::step(TextModel &model, Diagnostics &diags) {
  bool isStopped = settings.options.stop && *settings.options.stop;
  std::vector<TokenFeed> feeds;
  for (auto &place : places) {
    if (!place)
      continue;
    if (isStopped) {
      place->interrupt();
      collect(place);
      continue;
    }
    std::optional<TokenFeed> feed = place->prepare(diags);
    if (!feed)
      return false;
    feeds.push_back(*feed);
  }
  if (feeds.empty())
    return true;
  if (!model.feed(feeds, diags))
    return false;
  for (auto &place : places) {
    if (!place)
      continue;
    if (!place->take(diags))
      return false;
    collect(place);
  }
  return true;
}

std::vector<GeneratedText> PromptQueue::takeResults() {
  std::vector<GeneratedText> all;
  for (std::optional<GeneratedText> &result : results)
    all.push_back(std::move(*result));
  return all;
}

/// The ids that end a text. A beginning also ends the text before it.
static std::vector<int32_t> endsOf(const Tokenizer *tokenizer,
                                   const GenerateOptions &options) {
  std::vector<int32_t> ends = options.endIds;
  if (!tokenizer)
    return ends;
  llvm::append_range(ends, tokenizer->ends());
  if (std::optional<int32_t> beginning = tokenizer->beginning())
    ends.push_back(*beginning);
  return ends;
}

std::optional<std::vector<GeneratedText>>
Generator::runAll(llvm::ArrayRef<Prompt> prompts,
                  const GenerateOptions &options, GenerateListener &listener,
                  Diagnostics &diags) {
  if (!canUse(options, diags))
    return std::nullopt;
  size_t together = std::min(prompts.size(), windows.size());
  if (options.draft)
    together = std::min<size_t>(together, options.draft->sequences());
  ContinuationSettings settings{
      *model, tokenizer, usable, endsOf(tokenizer, options), options, listener};
  PromptQueue queue(settings, prompts,
                    llvm::MutableArrayRef(windows).take_front(together));
  while (queue.fill())
    if (!queue.step(*model, diags)) {
      for (SlidingWindow &window : windows)
        window.reset();
      return std::nullopt;
    }
  return queue.takeResults();
}

namespace {
/// Passes on the text of one prompt.
class SinkListener : public GenerateListener {
public:
  explicit SinkListener(TextSink sink) : sink(sink) {}
  void onText(size_t, llvm::StringRef text) override { sink(text); }

private:
  TextSink sink;
};
} // namespace

std::optional<GeneratedText> Generator::run(llvm::ArrayRef<int32_t> prompt,
                                            const GenerateOptions &options,
                                            TextSink sink, Diagnostics &diags) {
  SinkListener listener(sink);
  std::optional<std::vector<GeneratedText>> texts =
      runAll({{{prompt.begin(), prompt.end()}, options.sampling.seed}}, options,
             listener, diags);
  if (!texts)
    return std::nullopt;
  return std::move(texts->front());
}

std::optional<GeneratedText> Generator::run(llvm::StringRef prompt,
                                            const GenerateOptions &options,
                                            TextSink sink, Diagnostics &diags) {
  std::optional<std::vector<int32_t>> ids =
      encode(prompt, options.markBeginning, diags);
  if (!ids)
    return std::nullopt;
  return run(*ids, options, sink, diags);
}
