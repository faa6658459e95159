//===- Evaluate.cpp - how well a model predicts a text --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/Evaluate.h"
#include "lib/Generate/Diags.h"
#include <algorithm>
#include <chrono>
#include <cmath>

using namespace anec;

double TokenMean::standardError() const {
  return number < 2 ? 0
                    : std::sqrt(squares / double(number - 1) / double(number));
}

double Evaluation::perplexity() const { return std::exp(loss.mean()); }

namespace {

/// The logits of a token as natural logarithms of probabilities.
struct Distribution {
  explicit Distribution(llvm::ArrayRef<float> logits) : logits(logits) {
    best =
        size_t(std::max_element(logits.begin(), logits.end()) - logits.begin());
    double sum = 0;
    for (float logit : logits)
      sum += std::exp(double(logit) - double(logits[best]));
    logSum = double(logits[best]) + std::log(sum);
  }
  /// False when one is not a number, or the largest is infinite.
  bool isFinite() const { return std::isfinite(logSum); }
  double logProbability(size_t id) const { return double(logits[id]) - logSum; }
  /// KL(this || other).
  double divergence(const Distribution &other) const;

  llvm::ArrayRef<float> logits;
  size_t best = 0; ///< the most likely token
  double logSum = 0;
};

/// A part of a window that is read at once.
struct Part {
  size_t keep = 0;                 ///< tokens of the window before it
  llvm::ArrayRef<int32_t> inputs;  ///< those that it gives the model
  llvm::ArrayRef<int32_t> targets; ///< of the last ones: what is predicted
};

class Evaluator {
public:
  Evaluator(TextModel &model, const TokenData &data,
            const EvaluateOptions &options, Diagnostics &diags)
      : model(model), data(data), options(options), diags(diags) {}
  std::optional<Evaluation> run();

private:
  bool check();
  bool readWindow(uint64_t begin, uint64_t end);
  bool readPart(const Part &part);
  bool feed(TextModel &reader, const Part &part, std::vector<float> &logits);
  bool count(const Part &part);
  bool isStopped() const { return options.stop && *options.stop; }
  void report();
  size_t partLength(const TextModel &reader) const;

  TextModel &model;
  const TokenData &data;
  const EvaluateOptions &options;
  Diagnostics &diags;
  size_t window = 0, stride = 0;
  uint64_t predicted = 0; ///< the first token that no window has predicted
  uint64_t last = 0;      ///< one after the last token to predict
  uint64_t wanted = 0;    ///< how many those are
  std::vector<int32_t> tokens;
  std::vector<float> logits, others;
  Evaluation result;
  std::chrono::steady_clock::time_point begun;
};

} // namespace

double Distribution::divergence(const Distribution &other) const {
  double sum = 0;
  for (size_t id = 0; id < logits.size(); ++id) {
    double own = logProbability(id), probability = std::exp(own);
    // A token that cannot follow adds nothing, whatever the other model says.
    if (probability > 0)
      sum += probability * (own - other.logProbability(id));
  }
  return std::max(sum, 0.0);
}

bool Evaluator::check() {
  size_t positions = model.positions();
  if (options.baseline) {
    positions = std::min(positions, options.baseline->positions());
    if (options.baseline->vocabulary() != model.vocabulary()) {
      diags.report({}, diag::BaselineVocabulary, options.baseline->vocabulary(),
                   model.vocabulary());
      return false;
    }
  }
  window = options.window ? options.window : positions;
  stride = options.stride ? options.stride : window;
  if (window > positions) {
    diags.report({}, diag::WindowTooLong, window, positions);
    return false;
  }
  if (stride > window) {
    diags.report({}, diag::StrideTooLong, stride, window);
    return false;
  }
  predicted = options.beginning ? 0 : 1;
  if (data.size() <= predicted) {
    diags.report({}, diag::NothingToPredict, data.size(), predicted + 1);
    return false;
  }
  wanted = data.size() - predicted;
  if (options.tokens)
    wanted = std::min(wanted, options.tokens);
  last = predicted + wanted;
  return true;
}

/// Models with caches read a part of a window at a time, which limits the
/// memory of logits; each run of another one computes a whole window.
size_t Evaluator::partLength(const TextModel &reader) const {
  constexpr size_t mostLogits = size_t(1) << 24, mostTokens = 512;
  if (!reader.cacheBytes())
    return window;
  return std::clamp<size_t>(mostLogits / reader.vocabulary(), 1, mostTokens);
}

bool Evaluator::feed(TextModel &reader, const Part &part,
                     std::vector<float> &rows) {
  rows.resize(part.targets.size() * model.vocabulary());
  size_t length = partLength(reader), done = 0;
  size_t unwanted = part.inputs.size() - part.targets.size();
  while (done < part.inputs.size()) {
    size_t count = std::min(length, part.inputs.size() - done);
    size_t skipped = unwanted > done ? std::min(unwanted - done, count) : 0;
    size_t row = done + skipped - std::min(done + skipped, unwanted);
    TokenFeed next;
    next.keep = part.keep + done;
    next.tokens = part.inputs.slice(done, count);
    next.wanted = count - skipped;
    next.logits = llvm::MutableArrayRef(rows).slice(
        row * model.vocabulary(), next.wanted * model.vocabulary());
    if (!reader.feed(next, diags))
      return false;
    done += count;
  }
  return true;
}

bool Evaluator::count(const Part &part) {
  size_t classes = model.vocabulary();
  for (size_t i = 0; i < part.targets.size(); ++i) {
    size_t target = size_t(part.targets[i]);
    Distribution own({logits.data() + i * classes, classes});
    double loss = -own.logProbability(target);
    if (!own.isFinite() || !std::isfinite(loss)) {
      diags.report({}, diag::LogitsNotFinite,
                   part.keep + part.inputs.size() - part.targets.size() + i +
                       1);
      return false;
    }
    result.loss.add(loss);
    if (options.losses)
      options.losses->push_back(float(loss));
    if (!options.baseline)
      continue;
    Distribution other({others.data() + i * classes, classes});
    double before = -other.logProbability(target);
    if (!other.isFinite() || !std::isfinite(before)) {
      diags.report({}, diag::BaselineNotFinite);
      return false;
    }
    result.baseline->loss.add(before);
    result.baseline->lossChange.add(loss - before);
    result.baseline->divergence.add(other.divergence(own));
    result.baseline->agreements += own.best == other.best;
  }
  return true;
}

bool Evaluator::readPart(const Part &part) {
  if (!feed(model, part, logits) ||
      (options.baseline && !feed(*options.baseline, part, others)) ||
      !count(part))
    return false;
  report();
  return true;
}

/// Reads the window whose inputs are those before the tokens from `begin` to
/// `end`, of which the first have been predicted before.
bool Evaluator::readWindow(uint64_t begin, uint64_t end) {
  bool isMarked = options.beginning.has_value();
  uint64_t first = begin - !isMarked; // of the text
  tokens.resize(size_t(end - first));
  data.copy(first, tokens);
  if (isMarked)
    tokens.insert(tokens.begin(), *options.beginning);
  llvm::ArrayRef<int32_t> inputs = llvm::ArrayRef(tokens).drop_back(),
                          targets = llvm::ArrayRef(tokens).drop_front();
  size_t unwanted = size_t(std::max(predicted, begin) - begin);
  size_t length = partLength(model);
  if (options.baseline)
    length = std::max(length, partLength(*options.baseline));
  // The first part has all that was predicted before.
  size_t done = 0;
  while (done < inputs.size() && !isStopped()) {
    size_t skipped = done == 0 ? unwanted : 0;
    size_t count = std::min(inputs.size() - done, skipped + length);
    if (!readPart({done, inputs.slice(done, count),
                   targets.slice(done + skipped, count - skipped)}))
      return false;
    done += count;
    predicted = begin + done;
  }
  result.windows += done > 0;
  return true;
}

void Evaluator::report() {
  std::chrono::duration<double> since =
      std::chrono::steady_clock::now() - begun;
  result.seconds = since.count();
  if (options.progress)
    options.progress(result, wanted);
}

std::optional<Evaluation> Evaluator::run() {
  if (!check())
    return std::nullopt;
  if (options.baseline)
    result.baseline.emplace();
  if (options.losses)
    options.losses->clear();
  begun = std::chrono::steady_clock::now();
  uint64_t begin = predicted;
  for (; predicted < last && !isStopped(); begin += stride)
    if (!readWindow(begin, std::min<uint64_t>(begin + window, last)))
      return std::nullopt;
  result.isInterrupted = predicted < last;
  return std::move(result);
}

std::optional<Evaluation> anec::evaluate(TextModel &model,
                                         const TokenData &data,
                                         const EvaluateOptions &options,
                                         Diagnostics &diags) {
  return Evaluator(model, data, options, diags).run();
}
