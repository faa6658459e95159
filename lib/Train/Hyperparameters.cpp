//===- Hyperparameters.cpp - what a training run can be told --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/Hyperparameters.h"
#include "anec/Train/Diags.h"
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
    {"batch", "windows of text in a step (default 1; --accumulate is the same)",
     &Hyperparameters::batch, 1, 1e6, true},
    {"lr", "learning rate after the warmup (default 0.001)",
     &Hyperparameters::learningRate, 0, 1e3},
    {"min-lr", "learning rate at the end of the decay (default 0.0001)",
     &Hyperparameters::minLearningRate, 0, 1e3},
    {"warmup", "steps in which the learning rate rises (default 50)",
     &Hyperparameters::warmup, 0, mostSteps, true},
    {"decay-steps",
     "step at which a cosine has taken the learning rate to --min-lr (default: "
     "it stays at --lr)",
     &Hyperparameters::decaySteps, 0, mostSteps, true},
    {"beta1", "AdamW: decay of the gradients' mean (default 0.9)",
     &Hyperparameters::beta1, 0, 0.999999},
    {"beta2", "AdamW: decay of their squares' mean (default 0.95)",
     &Hyperparameters::beta2, 0, 0.999999},
    {"epsilon", "AdamW: what is added to the root (default 1e-8)",
     &Hyperparameters::epsilon, 1e-30, 1},
    {"weight-decay", "AdamW: decay of all weights but vectors (default 0.1)",
     &Hyperparameters::weightDecay, 0, 1e3},
    {"clip", "largest norm of all gradients together (default 1; 0: any)",
     &Hyperparameters::clip, 0, unlimited},
    {"loss-scale",
     "factor of the loss in fp16 to begin with (default 1024; 1 with "
     "--numerics=fp32)",
     &Hyperparameters::lossScale, 0x1p-14, 0x1p40},
    {"loss-scale-growth",
     "good steps after which it doubles (default 1000; 0: never)",
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

bool anec::checkHyperparameter(const HyperparameterDef &def, double value,
                               Diagnostics &diags) {
  bool isWhole = value == std::floor(value);
  if (value >= def.least && value <= def.most && (isWhole || !def.isCount))
    return true;
  std::string wanted = def.isCount ? "a whole number" : "a number";
  wanted += " of at least " + formatNumber(def.least);
  if (def.most < mostSteps)
    wanted += " and at most " + formatNumber(def.most);
  diags.report({}, diag::BadHyperparameter, def.name, wanted,
               formatNumber(value));
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
