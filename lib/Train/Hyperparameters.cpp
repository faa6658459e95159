//===- Hyperparameters.cpp - what a training run can be told --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/Hyperparameters.h"
#include "lib/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>
#include <numbers>

using namespace anec;

static constexpr double unlimited = std::numeric_limits<double>::max();
static constexpr double mostSteps = 1e15;

static constexpr HyperparameterDef table[] = {
    {"batch",
     "model runs per step, each of a window of text or of as many examples as "
     "the model takes (default 1; --accumulate is an alias)",
     &Hyperparameters::batch, 1, 65536, true},
    {"lr", "learning rate after the warmup (default 0.001)",
     &Hyperparameters::learningRate, 0, 1e3},
    {"min-lr",
     "learning rate at the end of the decay (default: a tenth of --lr)",
     &Hyperparameters::minLearningRate, 0, 1e3},
    {"warmup", "steps of linear learning rate warmup (default 50)",
     &Hyperparameters::warmup, 0, mostSteps, true},
    {"decay-steps",
     "step at which cosine decay of the learning rate reaches --min-lr "
     "(default: no decay)",
     &Hyperparameters::decaySteps, 0, mostSteps, true},
    {"beta1", "AdamW: decay of the first moment (default 0.9)",
     &Hyperparameters::beta1, 0, 0.999999},
    {"beta2", "AdamW: decay of the second moment (default 0.95)",
     &Hyperparameters::beta2, 0, 0.999999},
    {"epsilon", "AdamW: term added to the square root (default 1e-8)",
     &Hyperparameters::epsilon, 1e-30, 1},
    {"weight-decay", "AdamW: decay of all weights except vectors (default 0.1)",
     &Hyperparameters::weightDecay, 0, 1e3},
    {"clip", "maximum global norm of the gradients (default 1; 0: no limit)",
     &Hyperparameters::clip, 0, unlimited},
    {"loss-scale",
     "initial loss scale for fp16 (default 1024; 1 with --numerics=fp32)",
     &Hyperparameters::lossScale, 0x1p-14, 0x1p40},
    {"loss-scale-growth",
     "steps without overflow after which the loss scale doubles (default 1000; "
     "0: never)",
     &Hyperparameters::lossScaleGrowth, 0, mostSteps, true},
};

llvm::ArrayRef<HyperparameterDef> anec::hyperparameterTable() { return table; }

const HyperparameterDef *anec::findHyperparameter(llvm::StringRef name) {
  const HyperparameterDef *row =
      llvm::find_if(table, [&](const auto &def) { return def.name == name; });
  return row == std::end(table) ? nullptr : row;
}

std::string anec::formatNumber(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value);
  return text;
}

std::string HyperparameterDef::wantedFor(double value) const {
  bool isWhole = value == std::floor(value);
  if (value >= least && value <= most && (isWhole || !isCount))
    return "";
  std::string text = isCount ? "a whole number" : "a number";
  text += " of at least " + formatNumber(least);
  if (most < unlimited)
    text += " and at most " + formatNumber(most);
  return text;
}

bool anec::checkHyperparameter(const HyperparameterDef &def, double value,
                               Diagnostics &diags) {
  std::string wanted = def.wantedFor(value);
  if (!wanted.empty())
    diags.report({}, diag::BadHyperparameter, def.name, wanted,
                 formatNumber(value));
  return wanted.empty();
}

bool anec::checkHyperparameters(const Hyperparameters &hyper,
                                Diagnostics &diags) {
  bool ok = true;
  for (const HyperparameterDef &def : hyperparameterTable())
    ok &= checkHyperparameter(def, hyper.*def.member, diags);
  return ok;
}

Hyperparameters anec::withHyperparameters(Hyperparameters hyper,
                                          const GivenHyperparameters &given) {
  bool hasRate = false, hasMin = false;
  for (const auto &[def, value] : given) {
    hyper.*def->member = value;
    hasRate |= def->member == &Hyperparameters::learningRate;
    hasMin |= def->member == &Hyperparameters::minLearningRate;
  }
  if (hasRate && !hasMin)
    hyper.minLearningRate = defaultMinLearningRate(hyper.learningRate);
  return hyper;
}

bool anec::checkRates(const Hyperparameters &hyper, Diagnostics &diags) {
  if (hyper.minLearningRate <= hyper.learningRate)
    return true;
  diags.report({}, diag::RateRises, formatNumber(hyper.minLearningRate),
               formatNumber(hyper.learningRate));
  return false;
}

double Hyperparameters::learningRateAt(uint64_t step) const {
  if (double(step) <= warmup)
    return learningRate * double(step) / std::max(warmup, 1.0);
  if (decaySteps == 0)
    return learningRate;
  double part = (double(step) - warmup) / std::max(decaySteps - warmup, 1.0);
  double cosine = std::cos(std::numbers::pi * std::min(part, 1.0));
  return minLearningRate + (learningRate - minLearningRate) * (1 + cosine) / 2;
}
