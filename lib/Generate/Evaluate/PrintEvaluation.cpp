//===- PrintEvaluation.cpp - an evaluation as text and JSON ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/Evaluate.h"
#include "anec/Train/TrainLog.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec;

static double agreement(const BaselineComparison &baseline) {
  uint64_t tokens = baseline.loss.count();
  return tokens ? double(baseline.agreements) / double(tokens) : 0;
}

void anec::printJson(const Evaluation &evaluation, llvm::raw_ostream &out) {
  llvm::json::OStream json(out);
  auto mean = [&](const char *name, const TokenMean &values) {
    json.attribute(name, values.mean());
    json.attribute((llvm::Twine(name) + "_error").str(),
                   values.standardError());
  };
  json.object([&] {
    json.attribute(spelling(DataUnit::Tokens),
                   int64_t(evaluation.loss.count()));
    json.attribute("windows", int64_t(evaluation.windows));
    mean("loss", evaluation.loss);
    json.attribute("perplexity", evaluation.perplexity());
    if (evaluation.baseline)
      json.attributeObject("baseline", [&] {
        const BaselineComparison &baseline = *evaluation.baseline;
        mean("loss", baseline.loss);
        json.attribute("perplexity", std::exp(baseline.loss.mean()));
        mean("loss_change", baseline.lossChange);
        mean("kl_divergence", baseline.divergence);
        json.attribute("same_top_token", agreement(baseline));
      });
    json.attribute("interrupted", evaluation.isInterrupted);
    json.attribute("seconds", evaluation.seconds);
  });
  out << '\n';
}

/// The beginning of a line.
static llvm::raw_ostream &name(llvm::raw_ostream &out, llvm::StringRef name) {
  return out << llvm::left_justify(name, 17);
}

static void printMean(llvm::raw_ostream &out, llvm::StringRef what,
                      const TokenMean &values) {
  name(out, what) << llvm::format("%.6f +- %.6f\n", values.mean(),
                                  values.standardError());
}

void anec::printText(const Evaluation &evaluation, llvm::raw_ostream &out) {
  name(out, "predicted") << evaluation.loss.count() << " tokens in "
                         << evaluation.windows
                         << (evaluation.windows == 1 ? " window" : " windows")
                         << (evaluation.isInterrupted ? ", interrupted\n"
                                                      : "\n");
  printMean(out, "loss", evaluation.loss);
  name(out, "perplexity") << llvm::format("%.4f\n", evaluation.perplexity());
  if (!evaluation.baseline)
    return;
  const BaselineComparison &baseline = *evaluation.baseline;
  printMean(out, "baseline loss", baseline.loss);
  name(out, "its perplexity")
      << llvm::format("%.4f; the model changes it by %+.2f %%\n",
                      std::exp(baseline.loss.mean()),
                      100 * std::expm1(baseline.lossChange.mean()));
  printMean(out, "loss change", baseline.lossChange);
  printMean(out, "KL divergence", baseline.divergence);
  name(out, "same top token")
      << llvm::format("%.2f %%\n", 100 * agreement(baseline));
}
