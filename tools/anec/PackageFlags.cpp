//===- PackageFlags.cpp - the flags of models -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PackageFlags.h"

using namespace anec;

/// The error in the programs of --decode.
static std::string checkDecode(const PackageFlags &flags) {
  if (flags.context.getNumOccurrences() && flags.context < 1)
    return "--context takes a number of positions, at least 1";
  if (flags.batch < 1 || flags.batch > maxBatch)
    return "--batch takes a number of texts, 1 to " + std::to_string(maxBatch);
  const std::pair<std::string, const std::vector<int64_t> *> lists[] = {
      {"block", &flags.blocks},
      {"prefill", &flags.prefills},
      {"ladder", &flags.ladder}};
  for (const auto &[name, list] : lists)
    for (int64_t number : *list)
      if (number < 1)
        return "--" + name + " takes numbers of positions, at least 1";
  return "";
}

std::string PackageFlags::check(const SourceFormat &format,
                                bool hasKernel) const {
  if (std::string wrong = checkDecode(*this); !wrong.empty())
    return wrong;
  if (cache == CacheForm::State && hasKernel)
    return "--cache=state is for whole models, not for --kernel";
  std::string wrong;
  if (lora.getNumOccurrences() && !AdapterOptions::parse(lora, wrong))
    return "--lora: " + wrong;
  if (!loss.getNumOccurrences())
    return "";
  if (!Objective::parse(loss, wrong))
    return "--loss: " + wrong;
  if (hasKernel && format.stage == SourceStage::MIL)
    return "--kernel is for programs in .tdsl and .ir: a program that others "
           "wrote is one layer";
  return loss.getNumOccurrences() > 1 ? "--loss is given twice" : "";
}

void PackageFlags::read(CompileOptions &options) const {
  options.train = !forwardOnly && !decode;
  options.decode = decode;
  options.cachesAreStates = cache == CacheForm::State;
  DecodePrograms &programs = options.passes.decode;
  programs.context = context;
  programs.batch = batch;
  programs.ladder = {ladder.begin(), ladder.end()};
  if (!blocks.empty())
    programs.blocks = {blocks.begin(), blocks.end()};
  programs.prefills = {prefills.begin(), prefills.end()};
  options.fusion = fusion;
  options.io = io;
  if (weightMode.getNumOccurrences())
    options.weightMode = weightMode.getValue();
  std::string ignored; // check has reported it
  if (loss.getNumOccurrences()) {
    options.objective = Objective::parse(loss, ignored);
    options.objective->trained = {trainWeights.begin(), trainWeights.end()};
  }
  if (!lora.empty())
    options.lora = AdapterOptions::parse(lora, ignored);
}
