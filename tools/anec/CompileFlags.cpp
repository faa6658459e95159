//===- CompileFlags.cpp - the flags of compiling --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CompileFlags.h"
#include "anec/CoreML/WantedDescription.h"
#include "lib/API/Calibrate.h"
#include "lib/Passes/Diags.h"
#include "lib/Report/PassStatistics.h"
#include "lib/Report/QuantizationPrinter.h"
#include "lib/Support/Endings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;

bool CompileFlags::readPasses(BuildRequest &request, Diagnostics &diags) const {
  PassManagerOptions &options = request.options.passes;
  options.verifyNumerics = verifyNumerics;
  options.remarks = remarks;
  if (passLimit.getNumOccurrences())
    options.limit = passLimit;
  for (const std::string &name : printAfter)
    if (name != "all" && !findPass(name)) {
      reportUnknownPass(name, {"all"}, diags);
      return false;
    }
  if (!printAfter.empty())
    options.afterPass = [this](const PassDef &pass, const Function &function) {
      for (const std::string &name : printAfter)
        if (name == "all" || pass.name == name)
          printAfterPass(pass, function, llvm::errs());
    };
  request.hasPasses = passList.getNumOccurrences() != 0;
  return parsePipeline(llvm::join(skippedPasses, ","), request.skipped,
                       diags) &&
         parsePipeline(passList, request.options.modelPipelineOptions(),
                       options.passes, diags);
}

std::optional<BuildRequest> CompileFlags::read(PassManagerOptions target,
                                               Diagnostics &diags) const {
  BuildRequest request;
  request.input = input;
  request.canonical = canonical;
  CompileOptions &options = request.options;
  options.kernel = kernel;
  options.function = function;
  options.part = part.value();
  options.weights.source = weights;
  options.weights.mapping = weightMap;
  options.weights.program = input;
  if (seed.getNumOccurrences())
    options.weights.seed = seed;
  options.weights.executor = std::make_shared<Executor>(threads);
  options.defines = defines.pairs();
  options.remarks = remarks;
  options.milVersion = milVersion;
  options.coreML.deployment = findDeployment(deployment);
  if (interface.getNumOccurrences())
    options.coreML.floats = interface.getValue();
  if (precision.getNumOccurrences())
    options.precision = precision.getValue();
  if (std::string why; quantize.getNumOccurrences()) {
    options.quantization = Quantization::parse(quantize, why);
    options.quantization->skipped = {quantizeSkip.begin(), quantizeSkip.end()};
    if (options.quantization->activations)
      options.quantization->activations = {activationScales, activationMargin};
  }
  if (quantizeReport.getNumOccurrences())
    options.quantizationReport = &quantization;
  options.shapes = shapes.values();
  options.values = fixed.values();
  // A program can be inspected without its weights.
  options.missingWeights = MILReadOptions::MissingWeights::Warn;
  options.passes = std::move(target);
  // Core ML runs what the engine does not take elsewhere.
  if (format().isCoreML)
    options.passes.assumptions.path = EnginePath::CoreML;
  options.train = !forwardOnly && !decode;
  options.decode = decode;
  options.cachesAreStates = cache == CacheForm::State;
  options.passes.decode.context = context;
  options.passes.decode.batch = batch;
  options.passes.decode.ladder = {ladder.begin(), ladder.end()};
  if (!blocks.empty())
    options.passes.decode.blocks = {blocks.begin(), blocks.end()};
  options.passes.decode.prefills = {prefills.begin(), prefills.end()};
  options.fusion = fusion;
  options.io = io;
  if (weightMode.getNumOccurrences())
    options.weightMode = weightMode.getValue();
  if (describe.getNumOccurrences()) {
    std::optional<WantedDescription> wanted =
        readWantedDescription(describe, diags);
    if (!wanted)
      return std::nullopt;
    options.coreML.wanted =
        std::make_shared<WantedDescription>(std::move(*wanted));
  }
  std::string ignored; // check has reported it
  if (loss.getNumOccurrences()) {
    options.objective = Objective::parse(loss, ignored);
    options.objective->trained = {trainWeights.begin(), trainWeights.end()};
  }
  if (!lora.empty())
    options.lora = AdapterOptions::parse(lora, ignored);
  if (!readPasses(request, diags))
    return std::nullopt;
  return request;
}

//===----------------------------------------------------------------------===//
// The output
//===----------------------------------------------------------------------===//

EmitFlag::EmitFlag()
    : opt("emit", llvm::cl::value_desc("FORMAT"),
          llvm::cl::desc(
              "The output format (default: by the extension of -o, or mil):")) {
  for (auto [index, output] : llvm::enumerate(outputFormats()))
    getParser().addLiteralOption(output->name, OutputIndex(index),
                                 output->summary);
}

const OutputFormat &CompileFlags::format() const {
  if (!emit.getNumOccurrences()) {
    const OutputFormat *byEnding = outputFormat(output);
    // check has reported that there is none.
    return byEnding ? *byEnding : outputs::MIL;
  }
  const OutputFormat &chosen = *outputFormats()[size_t(emit.getValue())];
  bool isPage =
      &chosen == &outputs::Report && reportFormat == ReportFormat::Html;
  return isPage ? outputs::ReportPage : chosen;
}

OutputPlace CompileFlags::place() const {
  if (output == "-")
    return {"", &llvm::outs()};
  return {output, &llvm::outs()};
}

static std::string deploymentNames() {
  std::string names;
  for (const Deployment &row : deployments())
    names +=
        (names.empty() ? "" : ", ") + row.macOS.str() + ", " + row.iOS.str();
  return names;
}

/// Whether -o would replace the source by another format. A text can be
/// replaced by text in the same language.
bool CompileFlags::wouldReplaceSource() const {
  if (output.empty() || !llvm::sys::fs::equivalent(input, output))
    return false;
  return sourceFormat(input).name != format().name ||
         &format() == &outputs::Program;
}

/// The error in --cache, or in an output that needs it.
std::string CompileFlags::checkCache() const {
  const OutputFormat &to = format();
  if (decode && sourceFormat(input).stage != SourceStage::Program)
    return "--decode is for models in .tdsl or .ir, not for `" +
           input.getValue() + "`";
  if (cache != CacheForm::State)
    return decode && to.isCoreML && kernel.empty()
               ? "--decode writes a Core ML package with --cache=state: "
                 "otherwise the caches belong to the session of an anec "
                 "package, -o NAME.anepkg"
               : "";
  if (!to.isCoreML && &to != &outputs::MIL)
    return "--cache=state is for Core ML packages, -o NAME.mlpackage, compiled "
           "models, -o NAME.mlmodelc, and MIL, -o NAME.mil";
  if (!kernel.empty())
    return "--cache=state is for whole models, not for --kernel";
  if (batch.getNumOccurrences() && batch != 1)
    return "--cache=state keeps one text: --batch is for -o NAME.anepkg";
  if (!ladder.empty())
    return "--ladder is for -o NAME.anepkg: a state has one length, --context";
  return "";
}

std::string CompileFlags::checkDecode() const {
  bool runsPass = llvm::StringRef(passList).contains("incremental");
  const std::pair<std::string, const std::vector<int64_t> *> lists[] = {
      {"block", &blocks}, {"prefill", &prefills}, {"ladder", &ladder}};
  if (!decode && !runsPass) {
    if (context.getNumOccurrences())
      return "--context is for --decode";
    if (batch.getNumOccurrences())
      return "--batch is for --decode";
    for (const auto &[name, list] : lists)
      if (!list->empty())
        return "--" + name + " is for --decode";
  }
  if (cache.getNumOccurrences() && !decode)
    return "--cache is for --decode";
  if (std::string wrong = checkCache(); !wrong.empty())
    return wrong;
  if (context.getNumOccurrences() && context < 1)
    return "--context takes a number of positions, at least 1";
  if (batch < 1 || batch > maxBatch)
    return "--batch takes a number of texts, 1 to " + std::to_string(maxBatch);
  for (const auto &[name, list] : lists)
    for (int64_t number : *list)
      if (number < 1)
        return "--" + name + " takes numbers of positions, at least 1";
  return "";
}

bool CompileFlags::writeQuantizationReport(Diagnostics &diags) const {
  if (!quantizeReport.getNumOccurrences())
    return true;
  if (quantizeReport.empty()) {
    printQuantization(quantization, llvm::outs());
    return true;
  }
  OutputPlace file{quantizeReport, nullptr};
  return file.write(
      [&](llvm::raw_ostream &out) { printQuantizationJson(quantization, out); },
      diags);
}

/// Whether an argument of --calibrate names an array.
static bool isArrayArgument(llvm::StringRef argument) {
  return argument.contains('=') && argument.ends_with(".npy");
}

bool CompileFlags::calibrateFor(BuildRequest &request,
                                Diagnostics &diags) const {
  if (calibrate.empty())
    return true;
  CalibrationData data;
  for (const std::string &argument : calibrate)
    (isArrayArgument(argument) ? data.arrays : data.texts).push_back(argument);
  data.tokenizer = calibrateTokenizer;
  data.tokens = calibrateTokens;
  if (isNarrowed() && !data.arrays.empty()) {
    request.options.passes.examples =
        collectRanges(input, request.options, data, diags);
    if (!request.options.passes.examples)
      return false;
  }
  if (!request.options.quantization)
    return true;
  request.options.inputMoments =
      collectMoments(input, request.options, data, diags);
  return request.options.inputMoments != nullptr;
}

/// The error in --loss and its companion; empty when they are valid.
std::string CompileFlags::checkLoss() const {
  if (!loss.getNumOccurrences())
    return trainWeights.empty() ? "" : "--train-weights is for --loss";
  std::string wrong;
  if (!Objective::parse(loss, wrong))
    return "--loss: " + wrong;
  if (sourceFormat(input).stage == SourceStage::Package)
    return "--loss is for sources, not for packages";
  if (!kernel.empty() && sourceFormat(input).stage == SourceStage::MIL)
    return "--kernel is for programs in .tdsl and .ir: a program that others "
           "wrote is one layer";
  if (loss.getNumOccurrences() > 1)
    return "--loss is given twice";
  if (!llvm::is_contained({&outputs::Package, &outputs::IR, &outputs::Program},
                          &format()))
    return "--loss is for packages that train, -o NAME.anepkg, for programs, "
           "-o NAME.tdsl, and --emit=ir";
  return "";
}

/// Whether fp32 becomes fp16.
bool CompileFlags::isNarrowed() const {
  if (passList.getNumOccurrences())
    return llvm::is_contained(llvm::split(passList, ','), "narrow");
  if (precision.getNumOccurrences())
    return precision == DType::FP16;
  if (loss.getNumOccurrences())
    return true;
  return format().isCoreML && sourceFormat(input).isOfTraining;
}

/// The error in --calibrate and its companions; empty when they are valid.
std::string CompileFlags::checkCalibrate() const {
  bool hasCompanion = calibrateTokenizer.getNumOccurrences() ||
                      calibrateTokens.getNumOccurrences();
  if (calibrate.empty())
    return hasCompanion ? "--calibrate-tokenizer and --calibrate-tokens are "
                          "for --calibrate"
                        : "";
  size_t arrays = size_t(llvm::count_if(calibrate, isArrayArgument));
  if (!quantize.getNumOccurrences() && !isNarrowed())
    return "--calibrate is for --quantize and for programs in fp16";
  if (quantize == "exact" && !isNarrowed())
    return "--quantize=exact changes no weight, and takes no --calibrate";
  if (!quantize.getNumOccurrences() && arrays < calibrate.size())
    return "--calibrate takes NAME=FILE.npy for each input without --quantize";
  if (arrays && arrays < calibrate.size())
    return "--calibrate takes texts, or NAME=FILE.npy for each input";
  if (arrays && hasCompanion)
    return "--calibrate-tokenizer and --calibrate-tokens are for texts";
  if (place().isStream())
    return "--calibrate needs -o: weights are quantized when they are written";
  if (input == "-")
    return "--calibrate needs a file to compile: it is compiled twice";
  return "";
}

/// The error in the flags about activations, for what --quantize says.
std::string CompileFlags::checkActivations(const Quantization &form) const {
  bool hasFlags = activationScales.getNumOccurrences() ||
                  activationMargin.getNumOccurrences();
  if (!form.activations)
    return hasFlags ? "--activation-scales and --activation-margin are for "
                      "--quantize=w8a8"
                    : "";
  if (!(activationMargin >= 1.0 / 128 && activationMargin <= 128))
    return "--activation-margin takes a number from 1/128 to 128";
  if (calibrate.empty())
    return "--quantize=w8a8 needs --calibrate: the scales of activations come "
           "from their largest magnitudes in data, which are texts for a "
           "language model, or NAME=FILE.npy for each input";
  return "";
}

/// The error in --quantize and its companions; empty when they are valid.
std::string CompileFlags::checkQuantize() const {
  if (!quantize.getNumOccurrences()) {
    if (quantizeReport.getNumOccurrences())
      return "--quantize-report is for --quantize";
    if (quantizeSkip.getNumOccurrences())
      return "--quantize-skip is for --quantize";
    return checkActivations({});
  }
  std::string why;
  std::optional<Quantization> parsed = Quantization::parse(quantize, why);
  if (!parsed)
    return "--quantize: " + why;
  if (std::string wrong = checkActivations(*parsed); !wrong.empty())
    return wrong;
  const OutputFormat &to = format();
  bool hasWeights =
      &to == &outputs::MIL || &to == &outputs::Package || to.isCoreML;
  if (!hasWeights || sourceFormat(input).stage == SourceStage::Package)
    return "--quantize is for sources that are compiled to MIL, Core ML "
           "packages or packages of models";
  if (!quantizeReport.getNumOccurrences())
    return "";
  if (place().isStream())
    return "--quantize-report needs -o: weights are quantized when they are "
           "written";
  if (quantizeReport.empty())
    return "";
  for (const std::string &used : {input.getValue(), output.getValue(),
                                  weights.getValue(), weightMap.getValue()})
    if (!used.empty() && (used == quantizeReport ||
                          llvm::sys::fs::equivalent(used, quantizeReport)))
      return "--quantize-report would overwrite `" + used + "`";
  return "";
}

std::string CompileFlags::check() const {
  if (input.empty())
    return "no input file; see anec --help";
  if (wouldReplaceSource())
    return "-o would overwrite the input, `" + input + "`";
  if (!emit.getNumOccurrences())
    if (std::string wrong = wrongOutput(output); !wrong.empty())
      return "-o: " + wrong;
  if (!milVersion.empty() && milVersion != "1.0" && milVersion != "1.3")
    return "--mil-version takes 1.3 or 1.0, not `" + milVersion + "`";
  if (sourceFormat(input).stage == SourceStage::Package && !format().show)
    return "packages can only be printed with --emit=report, dot or ir, or "
           "written as .mlpackage or .mlmodelc; use ane-run to run them";
  if (deployment.getNumOccurrences() && !findDeployment(deployment))
    return "--deployment takes " + deploymentNames() + ", not `" + deployment +
           "`";
  for (const llvm::cl::Option *flag :
       {static_cast<const llvm::cl::Option *>(&deployment),
        static_cast<const llvm::cl::Option *>(&interface),
        static_cast<const llvm::cl::Option *>(&describe)})
    if (flag->getNumOccurrences() && !format().isCoreML)
      return "--" + flag->ArgStr.str() +
             " is for Core ML packages, -o "
             "NAME.mlpackage, and compiled models, -o NAME.mlmodelc";
  std::string wrongLora;
  if (lora.getNumOccurrences() && !AdapterOptions::parse(lora, wrongLora))
    return "--lora: " + wrongLora;
  if (&format() == &outputs::Program) {
    if (lora.getNumOccurrences())
      return "--lora is for packages: a program has no place for adapters that "
             "are merged later";
    if (seed.getNumOccurrences())
      return "--init is for what is compiled of the program: its weights are "
             "those of the source";
    if (!output.empty() && output != "-" &&
        endingOf(output) != outputs::Program.ending)
      return "--emit=tdsl is written to NAME.tdsl, with its weights beside it";
  }
  if (output.getNumOccurrences() && output.empty())
    return "-o takes a path; `-` is standard output";
  if (format().isFolder && place().isStream())
    return "--emit=" + format().name.str() +
           " writes a folder; name it with -o";
  // A model is made before any pass runs.
  if (precision.getNumOccurrences() && &format() == &outputs::Package &&
      sourceFormat(input).stage == SourceStage::Program)
    return "--precision is for kernels, and for models that others wrote: a "
           "program of a model says its types";
  if (precision.getNumOccurrences() && passList.getNumOccurrences() &&
      !loss.getNumOccurrences())
    return "--precision and --passes exclude each other: `narrow` is the pass "
           "for fp16";
  if (canonical && &format() != &outputs::MIL)
    return "--canonical is for --emit=mil";
  if (std::string wrong = checkDecode(); !wrong.empty())
    return wrong;
  for (const std::string &wrong :
       {checkLoss(), checkQuantize(), checkCalibrate()})
    if (!wrong.empty())
      return wrong;
  if (std::string wrong = defines.check(); !wrong.empty())
    return wrong;
  std::string wrong = shapes.check();
  return wrong.empty() ? fixed.check() : wrong;
}
