//===- RefusedFlag.cpp - flags that would change nothing ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Driver/RefusedFlag.h"
#include "lib/Support/OrList.h"

using namespace anec;

/// What `flag` is about, if that is another flag which is not given.
static std::string missingFor(RequestFlag flag, const GivenFlags &given,
                              const OutputFormat &output,
                              const FlagSpelling &spelling) {
  auto needs = [&](RequestFlag other) {
    return given.flags.has(other) ? "" : spelling.flag(other);
  };
  switch (flag) {
  case RequestFlag::Context:
  case RequestFlag::Batch:
  case RequestFlag::Block:
  case RequestFlag::Prefill:
  case RequestFlag::Ladder:
    return given.runsModelPasses ? "" : needs(RequestFlag::Decode);
  case RequestFlag::Cache:
    return needs(RequestFlag::Decode);
  case RequestFlag::WeightMap:
    // A package keeps the map.
    return &output == &outputs::Package ? "" : needs(RequestFlag::Weights);
  case RequestFlag::TrainWeights:
    return needs(RequestFlag::Loss);
  case RequestFlag::QuantizeSkip:
  case RequestFlag::QuantizeReport:
    return needs(RequestFlag::Quantize);
  case RequestFlag::ActivationScales:
  case RequestFlag::ActivationMargin:
    return given.quantizesActivations ? "" : spelling.activations.str();
  case RequestFlag::CalibrateTokenizer:
  case RequestFlag::CalibrateTokens:
    return needs(RequestFlag::Calibrate);
  default:
    return "";
  }
}

/// Whether passes run that the flags about them change.
static bool runsPasses(const GivenFlags &given, const SourceFormat &format,
                       const OutputFormat &output) {
  if (given.flags.has(RequestFlag::Passes) ||
      given.flags.has(RequestFlag::Loss))
    return true;
  bool isMIL = format.stage == SourceStage::MIL;
  switch (output.runs) {
  case RunsPasses::Always:
    return true;
  case RunsPasses::ToFit:
    return !isMIL || given.flags.has(RequestFlag::Target) ||
           given.flags.has(RequestFlag::Precision) ||
           (output.isCoreML && format.isOfTraining);
  case RunsPasses::OfPrograms:
    return !isMIL;
  case RunsPasses::WhenNamed:
    return false;
  }
  llvm_unreachable("not a value of RunsPasses");
}

/// Of what takes flags, and whether passes run or not.
static RequestFlags takenBy(const OutputFormat &output, SourceStage stage) {
  if (stage == SourceStage::Package)
    return output.shows;
  if (stage == SourceStage::MIL && output.isOfModels)
    return {};
  return output.takes | output.takesWithPasses | output.takesWithLoss |
         output.takesWithStates;
}

static std::string sourcesOf(RequestFlag flag) {
  std::vector<std::string> endings;
  for (const SourceFormat &format : sourceFormats())
    if ((format.reads | format.compiles).has(flag))
      endings.push_back(format.ending.str());
  return orList(endings);
}

static std::string outputsOf(RequestFlag flag, SourceStage stage,
                             const FlagSpelling &spelling) {
  std::vector<std::string> names;
  for (const OutputFormat *output : outputFormats())
    if (takenBy(*output, stage).has(flag))
      names.push_back((names.empty() ? spelling.output : "").str() +
                      output->name.str());
  return orList(names);
}

/// Whether what `flag` asks for is so anyway: weights have the values that a
/// seed would draw, and MIL and Core ML have the forward alone.
static bool isMet(RequestFlag flag, const SourceFormat &format,
                  const OutputFormat &output) {
  if (flag == RequestFlag::Init)
    return format.stage != SourceStage::Package;
  return flag == RequestFlag::ForwardOnly &&
         format.stage == SourceStage::Program &&
         output.runs == RunsPasses::ToFit;
}

/// Why `flag` changes nothing; empty when it changes something.
static std::string refusal(RequestFlag flag, const GivenFlags &given,
                           const SourceFormat &format,
                           const OutputFormat &output,
                           const FlagSpelling &spelling) {
  if (std::string missing = missingFor(flag, given, output, spelling);
      !missing.empty())
    return "is for " + missing;
  if (format.reads.has(flag))
    return "";
  bool isOfModelPass = given.runsModelPasses &&
                       (requests::models | requests::decoding).has(flag);
  bool isTrained = given.flags.has(RequestFlag::Loss);
  if (!format.compiles.has(flag) && !isOfModelPass) {
    if (!format.compilesWithLoss.has(flag))
      return "is for " + sourcesOf(flag) + ", not for " + format.ending.str();
    if (!isTrained)
      return "is for models, and " + format.ending.str() + " has one with " +
             spelling.flag(RequestFlag::Loss);
  }
  if (!takenBy(output, format.stage).has(flag) && !isOfModelPass)
    return "is for " + outputsOf(flag, format.stage, spelling) + ", not for " +
           output.name.str();
  if (format.stage == SourceStage::Package || output.takes.has(flag) ||
      isOfModelPass ||
      (given.cachesAreStates && output.takesWithStates.has(flag)) ||
      (isTrained && output.takesWithLoss.has(flag)) ||
      (output.takesWithPasses.has(flag) && runsPasses(given, format, output)))
    return "";
  if (output.takesWithStates.has(flag))
    return "is for " + output.name.str() + " with " + spelling.states.str() +
           ": otherwise the caches belong to the session of an anec package";
  if (output.takesWithPasses.has(flag))
    return "is about passes, and " + output.name.str() + " of " +
           format.ending.str() + " runs those that " +
           spelling.flag(RequestFlag::Passes) + " names" +
           (output.runs == RunsPasses::ToFit
                ? " or " + spelling.flag(RequestFlag::Target) + " needs"
                : "");
  return "is for kernels, and for models that " +
         spelling.flag(RequestFlag::Loss) + " makes";
}

std::optional<RefusedFlag> anec::findRefusedFlag(const GivenFlags &given,
                                                 const SourceFormat &format,
                                                 const OutputFormat &output,
                                                 const FlagSpelling &spelling) {
  for (size_t index = 0; index < allWords<RequestFlag>().size(); ++index) {
    auto flag = RequestFlag(index);
    if (!given.flags.has(flag) || isMet(flag, format, output))
      continue;
    std::string reason = refusal(flag, given, format, output, spelling);
    if (!reason.empty())
      return RefusedFlag{flag, std::move(reason)};
  }
  return std::nullopt;
}
