//===- Continuation.cpp - a text that is being written --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Continuation.h"
#include "lib/Generate/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using Clock = std::chrono::steady_clock;

static double secondsBetween(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

static SamplingOptions withSeed(SamplingOptions options, uint64_t seed) {
  options.seed = seed;
  return options;
}

Continuation::Continuation(const ContinuationSettings &settings,
                           const Prompt &prompt, size_t number,
                           unsigned sequence, SlidingWindow &window)
    : settings(settings), ownNumber(number), sequence(sequence), window(window),
      sampler(withSeed(settings.options.sampling, prompt.seed)),
      stops(settings.options.stopTexts), text(prompt.ids), begin(Clock::now()) {
  const Tokenizer *tokenizer = settings.tokenizer;
  made.promptIds = prompt.ids;
  bool isMarked = tokenizer && tokenizer->beginning() == text.front();
  keep = settings.options.keep.value_or(isMarked ? 1 : 0);
  if (tokenizer) {
    // The stream sees the prompt in any case: what follows is not at a start.
    stream.emplace(*tokenizer);
    std::string shown;
    for (int32_t id : text)
      shown += stream->next(id);
    if (settings.options.echo && !shown.empty())
      settings.listener.onText(ownNumber, shown);
  }
  if (settings.options.rereads)
    window.reset();
  else if (!settings.options.goesOn)
    window.beginText();
  if (settings.options.tokens == 0)
    finish(Finish::Length);
}

std::optional<TokenFeed> Continuation::prepare(Diagnostics &diags) {
  const GenerateOptions &options = settings.options;
  drafts.clear();
  if (options.draft) {
    // After the guesses, there is always a token of the model itself.
    size_t count = std::min<size_t>(options.draftTokens,
                                    options.tokens - made.ids.size() - 1);
    count = std::min(count, window.room(text, keep));
    bool isNew = made.ids.empty() && !options.goesOn;
    if (count && !options.draft->propose(
                     {sequence, text, isNew, keep, count, settings.vocabulary},
                     sampler, drafts, diags))
      return std::nullopt;
  }
  size_t size = text.size(), wanted = drafts.size() + 1;
  for (const DraftToken &draft : drafts)
    text.push_back(draft.id);
  step = window.advance(text, keep, wanted);
  text.resize(size);
  logits.resize(wanted * settings.model.vocabulary());
  return TokenFeed{sequence, step.keep, step.tokens, wanted, logits};
}

bool Continuation::take(Diagnostics &diags) {
  for (size_t row = 0; row <= drafts.size() && !isDone; ++row) {
    llvm::ArrayRef<float> of =
        llvm::ArrayRef(logits)
            .drop_front(row * settings.model.vocabulary())
            .take_front(settings.vocabulary);
    std::optional<TokenDistribution> target = sampler.distribution(of, text);
    if (!target) {
      diags.report({}, diag::LogitsNotFinite, text.size());
      return false;
    }
    if (row == drafts.size()) {
      add(sampler.draw(*target), of);
      break;
    }
    const DraftToken &draft = drafts[row];
    int32_t id = sampler.verify(*target, draft.from, draft.id);
    ++made.drafted;
    made.accepted += id == draft.id;
    add(id, of);
    if (id != draft.id)
      break;
  }
  return true;
}

void Continuation::add(int32_t id, llvm::ArrayRef<float> row) {
  if (llvm::is_contained(settings.ends, id)) {
    finish(Finish::End);
    return;
  }
  text.push_back(id);
  made.ids.push_back(id);
  double logProb = 0;
  if (settings.options.logProbs)
    made.logProbs.push_back(logProb = logProbability(row, id));
  if (made.ids.size() == 1) {
    firstToken = Clock::now();
    made.firstSeconds = secondsBetween(begin, firstToken);
  } else {
    made.seconds = secondsBetween(firstToken, Clock::now());
  }
  settings.listener.onToken(ownNumber, id, logProb);
  if (stream)
    show(stops.next(stream->next(id)));
  if (!stops.found().empty())
    finish(Finish::StopText);
  else if (made.ids.size() == settings.options.tokens)
    finish(Finish::Length);
}

void Continuation::show(llvm::StringRef shown) {
  if (shown.empty())
    return;
  made.text += shown;
  settings.listener.onText(ownNumber, shown);
}

void Continuation::finish(Finish reason) {
  // What is incomplete at the end may still end in a stop text.
  if (stream && reason != Finish::StopText)
    show(stops.next(stream->finish()));
  if (!stops.found().empty())
    reason = Finish::StopText;
  else
    show(stops.finish());
  made.finish = reason;
  made.stopText = stops.found().str();
  isDone = true;
}
