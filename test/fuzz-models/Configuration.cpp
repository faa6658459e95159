//===- Configuration.cpp - how a model is compiled and run ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Configuration.h"
#include "BlockBuilder.h"
#include "Reference.h"

using namespace anec;
using namespace anec::fuzz;

Configuration Configuration::random(uint64_t seed) {
  Random random(seed * 0x9e3779b97f4a7c15u + 2);
  Configuration result;
  result.isBaked = random.chance(0.35);
  result.isSeparate = random.chance(0.3);
  result.fusesMost = random.chance(0.3);
  result.isForwardOnly = random.chance(0.15);
  if (random.chance(0.7)) {
    llvm::ArrayRef<Target> targets = allTargets();
    result.target = &targets[random.number(0, int64_t(targets.size()) - 1)];
  }
  result.numerics = random.chance(0.65) ? Numerics::FP32 : Numerics::FP16;
  // In fp16, without a scale, gradients of activations underflow.
  result.lossScale = result.numerics == Numerics::FP16
                         ? random.oneOf({64, 1024})
                         : random.oneOf({1, 64});
  result.isWide =
      !result.target && result.numerics == Numerics::FP32 && random.chance(0.7);
  return result;
}

std::vector<Configuration> Configuration::all() {
  std::vector<Configuration> result(9);
  result[1].isBaked = true;
  result[2].isSeparate = true;
  result[3].fusesMost = true;
  result[4].isForwardOnly = true;
  result[5].isForwardOnly = result[5].isBaked = true;
  result[6].numerics = Numerics::FP16;
  result[6].lossScale = 64;
  result[7].fusesMost = result[7].isBaked = result[7].isSeparate = true;
  result[8].isWide = true;
  for (const Target &target : allTargets()) {
    result.emplace_back().target = &target;
    Configuration &other = result.emplace_back();
    other.target = &target;
    other.isSeparate = other.isBaked = true;
  }
  return result;
}

std::vector<Configuration> Configuration::simpler() const {
  std::vector<Configuration> result;
  auto consider = [&](auto member, auto value) {
    if (this->*member == value)
      return;
    Configuration other = *this;
    other.*member = value;
    result.push_back(other);
  };
  consider(&Configuration::isBaked, false);
  consider(&Configuration::isSeparate, false);
  consider(&Configuration::fusesMost, false);
  consider(&Configuration::isForwardOnly, false);
  consider(&Configuration::target, static_cast<const Target *>(nullptr));
  consider(&Configuration::numerics, Numerics::FP32);
  consider(&Configuration::lossScale, 1.0);
  consider(&Configuration::isWide, false);
  return result;
}

std::string Configuration::textOf(llvm::StringRef text) const {
  return isWide ? replaceAll(text, "fp16", "fp32") : text.str();
}

CompileOptions Configuration::compileOptions(llvm::StringRef weights) const {
  CompileOptions options;
  options.weights.executor = std::make_shared<Executor>(1);
  if (target)
    options.setTarget(*target);
  options.train = !isForwardOnly;
  options.fusion = fusesMost ? Fusion::Max : Fusion::Default;
  options.io = isSeparate ? IOMode::Separate : IOMode::Packed;
  options.weightMode = isBaked ? WeightMode::Baked : WeightMode::Packed;
  if (isBaked)
    options.weights.source = weights.str();
  options.passes.passes = modelPipeline(options.modelPipelineOptions());
  return options;
}

std::vector<std::string> Configuration::names() const {
  std::vector<std::string> result = {
      isBaked ? "weights: baked from a file" : "weights: packed",
      isSeparate ? "io: separate" : "io: packed",
      fusesMost ? "fuse: max" : "fuse: default",
      isForwardOnly ? "forward only" : "training",
      "target: " + (target ? target->name.str() : "none"),
      numerics == Numerics::FP32 ? "numerics: fp32" : "numerics: fp16",
      isWide ? "types: fp32" : "types: fp16"};
  return result;
}

std::string Configuration::compileFlags() const {
  std::string flags;
  if (isBaked)
    flags += " --weight-mode=baked --weights=model.safetensors";
  else if (isForwardOnly)
    flags += " --weight-mode=packed";
  if (isSeparate)
    flags += " --io=separate";
  if (fusesMost)
    flags += " --fuse=max";
  if (isForwardOnly)
    flags += " --forward-only";
  if (target)
    flags += " --target=" + target->name.str();
  return flags;
}

std::string Configuration::runFlags() const {
  return numerics == Numerics::FP32 ? " --numerics=fp32" : " --numerics=fp16";
}
