//===- Evaluate.h - how well a model predicts a text ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The mean loss and the perplexity of a text: how likely each token is after
/// those before it in its window.
///
///   auto model = anec::openTextModel(*session, "", diags);
///   if (!model)
///     return diags.print(llvm::errs());
///   auto data = anec::TokenData::open({"text.txt"}, "", *tokenizer,
///                                     model->vocabulary(), diags);
///   if (data)
///     if (auto result = anec::evaluate(*model, *data, {}, diags))
///       result->perplexity();
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_GENERATE_EVALUATE_H
#define ANEC_GENERATE_EVALUATE_H

#include "anec/Generate/TextModel.h"
#include "anec/Train/TokenData.h"
#include <atomic>
#include <functional>

namespace anec {

/// Mean and spread of values, one for each token.
class TokenMean {
public:
  void add(double value) {
    ++number;
    double change = value - average;
    average += change / double(number);
    squares += change * (value - average);
  }
  uint64_t count() const { return number; }
  double mean() const { return average; }
  /// The standard error of the mean, as if tokens were independent; 0 for fewer
  /// than two.
  double standardError() const;

private:
  uint64_t number = 0;
  double average = 0, squares = 0;
};

/// The same text read by another model.
struct BaselineComparison {
  TokenMean loss;       ///< of the baseline, in nats
  TokenMean lossChange; ///< of each token: the model's loss less the baseline's
  /// The divergence of the model's distribution of the next token from the
  /// baseline's, KL(baseline || model), in nats.
  TokenMean divergence;
  /// How often the same token is the most likely one; of equals, the one with
  /// the lowest id.
  uint64_t agreements = 0;
};

struct Evaluation {
  uint64_t windows = 0;
  TokenMean loss; ///< of each predicted token, in nats
  double seconds = 0;
  bool isInterrupted = false; ///< by `EvaluateOptions::stop`
  std::optional<BaselineComparison> baseline;

  double perplexity() const;
};

struct EvaluateOptions {
  /// Tokens that a window gives the model, at most its positions, which 0
  /// stands for.
  size_t window = 0;
  /// Tokens from the begin of a window to that of the next one, at most
  /// `window`, which 0 stands for. With fewer, windows overlap, and only those
  /// tokens count that no window before has predicted.
  size_t stride = 0;
  /// Ends after so many predicted tokens; 0 for all.
  uint64_t tokens = 0;
  /// The first token of each window, which takes the place of one of the text.
  std::optional<int32_t> beginning;
  /// Another model that reads the same windows; may be null.
  TextModel *baseline = nullptr;
  /// Gets the loss of each predicted token, in the order of the text; may be
  /// null.
  std::vector<float> *losses = nullptr;
  /// Is called after each part of a window with what is measured so far, and
  /// the number of tokens to predict.
  std::function<void(const Evaluation &, uint64_t tokens)> progress;
  /// When it becomes true, the evaluation ends with what it has; may be null.
  const std::atomic<bool> *stop = nullptr;
};

/// Evaluates the tokens of `data`, whose ids are below the model's vocabulary.
/// Window i begins at token `i * stride`; each token but the first is
/// predicted once, and with `beginning` the first one too. The last window can
/// be shorter. Returns nothing, with the reason reported, when the data has
/// nothing to predict, the window does not fit the model, the vocabularies
/// differ, or logits are not finite.
[[nodiscard]] std::optional<Evaluation> evaluate(TextModel &model,
                                                 const TokenData &data,
                                                 const EvaluateOptions &options,
                                                 Diagnostics &diags);

/// Writes `evaluation` as a JSON object in one line.
void printJson(const Evaluation &evaluation, llvm::raw_ostream &out);
/// Writes it as lines for people.
void printText(const Evaluation &evaluation, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_GENERATE_EVALUATE_H
