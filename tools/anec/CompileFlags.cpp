//===- CompileFlags.cpp - the flags of compiling --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CompileFlags.h"
#include "../InputShape.h"
#include "anec/Passes/Diags.h"
#include "anec/Report/PassStatistics.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;

/// Weights that no one changes are best part of their kernels, once they are
/// known.
WeightMode CompileFlags::chosenWeightMode() const {
  if (weightMode.getNumOccurrences())
    return weightMode;
  bool hasValues = !weights.empty() || seed.getNumOccurrences();
  return forwardOnly && hasValues ? WeightMode::Baked : WeightMode::Packed;
}

ModelPipelineOptions CompileFlags::modelOptions() const {
  ModelPipelineOptions options;
  options.train = !forwardOnly;
  options.fusion = fusion;
  options.packWeights = chosenWeightMode() == WeightMode::Packed;
  return options;
}

/// `default` in a list stands for the pipeline of a kernel, `model` for that of
/// a model.
bool CompileFlags::readPassList(std::vector<const PassDef *> &passes,
                                Diagnostics &diags) const {
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(passList).split(names, ',');
  for (llvm::StringRef name : names) {
    if (name.trim() == "default")
      llvm::append_range(passes, defaultPipeline());
    else if (name.trim() == "model")
      llvm::append_range(passes, modelPipeline(modelOptions()));
    else if (!parsePipeline(name, passes, diags))
      return false;
  }
  return true;
}

bool CompileFlags::readPassOptions(PassManagerOptions &options,
                                   Diagnostics &diags) const {
  options.verifyNumerics = verifyNumerics;
  options.remarks = remarks;
  if (passLimit.getNumOccurrences())
    options.limit = passLimit;
  for (const std::string &name : printAfter)
    if (name != "all" && !findPass(name)) {
      diags.report({}, diag::UnknownPass, name);
      return false;
    }
  if (!printAfter.empty())
    options.afterPass = [this](const PassDef &pass, const Function &function) {
      for (const std::string &name : printAfter)
        if (name == "all" || pass.name == name)
          printAfterPass(pass, function, llvm::errs());
    };
  for (const std::string &name : skippedPasses)
    if (std::vector<const PassDef *> known; !parsePipeline(name, known, diags))
      return false;
  return readPassList(options.passes, diags);
}

std::optional<CompileRequest> CompileFlags::read(PassManagerOptions target,
                                                 Diagnostics &diags) const {
  CompileRequest request;
  request.input = input;
  request.output = output;
  request.emit = emit;
  request.reportFormat = format;
  request.canonical = canonical;
  request.passesGiven = passList.getNumOccurrences() != 0;
  request.skippedPasses = {skippedPasses.begin(), skippedPasses.end()};
  request.pipeline = modelOptions();
  request.io = io;
  request.weightMode = chosenWeightMode();
  CompileOptions &options = request.options;
  options.kernel = kernel;
  options.weights.source = weights;
  options.weights.mapping = weightMap;
  if (seed.getNumOccurrences())
    options.weights.seed = seed;
  options.weights.executor = std::make_shared<Executor>(threads);
  options.defines = defines.pairs();
  options.milVersion = milVersion;
  for (const std::string &shape : shapes)
    options.shapes.push_back(*parseInputShape(shape));
  // Programs can be looked at without their weights.
  options.missingWeights = MILReadOptions::MissingWeights::Warn;
  options.passes = std::move(target);
  if (!readPassOptions(options.passes, diags))
    return std::nullopt;
  return request;
}

/// Whether something else is to be written in the place of the program. Text of
/// the same language may be.
bool CompileFlags::wouldReplaceSource() const {
  if (output.empty() || !llvm::sys::fs::equivalent(input, output))
    return false;
  llvm::StringRef format = sourceFormat(input).name;
  return !(format == "mil" && emit == Emit::MIL) &&
         !(format == "ir" && emit == Emit::IR);
}

std::string CompileFlags::check() const {
  if (input.empty())
    return "no input file; see anec --help";
  if (!milVersion.empty() && milVersion != "1.0" && milVersion != "1.3")
    return "--mil-version takes 1.3 or 1.0, not `" + milVersion + "`";
  if (sourceFormat(input).stage == SourceStage::Package && emit == Emit::MIL)
    return "a package is shown with --emit=report, dot or ir; ane-run runs it";
  if (canonical && emit != Emit::MIL)
    return "--canonical is for --emit=mil";
  if (wouldReplaceSource())
    return "-o is the program itself, `" + input + "`, which would be lost";
  if (std::string wrong = defines.check(); !wrong.empty())
    return wrong;
  for (const std::string &shape : shapes)
    if (!parseInputShape(shape))
      return "--shape takes NAME=1x3x64, not `" + shape + "`";
  return "";
}
