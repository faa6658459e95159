//===- CompileFlags.cpp - the flags of compiling --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CompileFlags.h"
#include "lib/Support/Endings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;

std::optional<BuildRequest> CompileFlags::read(PassManagerOptions target,
                                               Diagnostics &diags) const {
  BuildRequest request;
  request.input = input;
  request.canonical = canonical;
  CompileOptions &options = request.options;
  options.kernel = kernel;
  options.function = function;
  options.part = part.value();
  options.defines = defines.pairs();
  options.shapes = shapes.values();
  options.values = fixed.values();
  options.remarks = passes.remarks;
  // A program can be inspected without its weights.
  options.missingWeights = MILReadOptions::MissingWeights::Warn;
  options.weights.source = weights;
  options.weights.mapping = weightMap;
  options.weights.program = input;
  if (seed.getNumOccurrences())
    options.weights.seed = seed;
  options.weights.executor = std::make_shared<Executor>(threads);
  options.milVersion = milVersion;
  if (precision.getNumOccurrences())
    options.precision = precision.getValue();
  options.passes = std::move(target);
  // Core ML runs what the engine does not take elsewhere.
  if (format().isCoreML)
    options.passes.assumptions.path = EnginePath::CoreML;
  package.read(options);
  quantize.read(options);
  if (!coreML.read(options.coreML, diags) || !passes.read(request, diags))
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

const OutputFormat &CompileFlags::named() const {
  if (emit.getNumOccurrences())
    return *outputFormats()[size_t(emit.getValue())];
  const OutputFormat *byEnding = outputFormat(output);
  // check has reported that there is none.
  return byEnding ? *byEnding : outputs::MIL;
}

const OutputFormat &CompileFlags::format() const {
  bool isPage =
      &named() == &outputs::Report && reportFormat == ReportFormat::Html;
  return isPage ? outputs::ReportPage : named();
}

OutputPlace CompileFlags::place() const {
  if (output == "-")
    return {"", &llvm::outs()};
  return {output, &llvm::outs()};
}

bool CompileFlags::isNarrowed() const {
  if (passes.passList.getNumOccurrences())
    return passes.names("narrow");
  if (precision.getNumOccurrences())
    return precision == DType::FP16;
  if (package.loss.getNumOccurrences())
    return true;
  return format().isCoreML && sourceFormat(input).isOfTraining;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Whether a flag has the value that it would have if it was not given.
template <typename T, bool isExternal, typename Parser>
static bool isDefault(const llvm::cl::opt<T, isExternal, Parser> &flag) {
  return flag.getDefault().hasValue() && flag.getDefault().getValue() == flag;
}

GivenFlags CompileFlags::given() const {
  GivenFlags given;
  const llvm::StringMap<llvm::cl::Option *> &options =
      llvm::cl::getRegisteredOptions();
  for (size_t index = 0; index < allWords<RequestFlag>().size(); ++index)
    if (options.lookup(allWords<RequestFlag>()[index])->getNumOccurrences())
      given.flags.add(RequestFlag(index));
  const std::pair<RequestFlag, bool> defaults[] = {
      {RequestFlag::Fuse, isDefault(package.fusion)},
      {RequestFlag::IO, isDefault(package.io)},
      {RequestFlag::Cache, isDefault(package.cache)},
      {RequestFlag::Batch, isDefault(package.batch)},
      {RequestFlag::Format, isDefault(reportFormat)},
      {RequestFlag::ActivationScales, isDefault(quantize.activationScales)},
      {RequestFlag::ActivationMargin, isDefault(quantize.activationMargin)},
      {RequestFlag::CalibrateTokens, isDefault(quantize.calibrateTokens)},
  };
  for (auto [flag, isDefault] : defaults)
    if (isDefault)
      given.flags.remove(flag);
  given.cachesAreStates = package.cache == CacheForm::State;
  given.quantizesActivations = quantize.quantizesActivations();
  given.runsModelPasses = passes.areOfModels();
  return given;
}

/// Whether -o would replace the source by another format. A text can be
/// replaced by text in the same language.
bool CompileFlags::wouldReplaceSource() const {
  if (output.empty() || !llvm::sys::fs::equivalent(input, output))
    return false;
  return sourceFormat(input).name != format().name ||
         &format() == &outputs::Program;
}

/// The error in the source and the output.
std::string CompileFlags::checkPaths() const {
  if (input.empty())
    return "no input file; see anec --help";
  if (wouldReplaceSource())
    return "-o would overwrite the input, `" + input + "`";
  if (!emit.getNumOccurrences())
    if (std::string wrong = wrongOutput(output); !wrong.empty())
      return "-o: " + wrong;
  if (sourceFormat(input).stage == SourceStage::Package && !format().show)
    return "a package can be written with --emit=" + packageOutputs() +
           "; use ane-run to run it";
  if (output.getNumOccurrences() && output.empty())
    return "-o takes a path; `-` is standard output";
  if (format().isFolder && place().isStream())
    return "--emit=" + format().name.str() +
           " writes a folder; name it with -o";
  if (&format() == &outputs::Program && !output.empty() && output != "-" &&
      endingOf(output) != outputs::Program.ending)
    return "--emit=tdsl is written to NAME.tdsl, with its weights beside it";
  return "";
}

std::string CompileFlags::checkPrecision() const {
  if (!milVersion.empty() && milVersion != "1.0" && milVersion != "1.3")
    return "--mil-version takes 1.3 or 1.0, not `" + milVersion + "`";
  if (precision.getNumOccurrences() && passes.passList.getNumOccurrences() &&
      !package.loss.getNumOccurrences())
    return "--precision and --passes exclude each other: `narrow` is the pass "
           "for fp16";
  return "";
}

static std::string spell(RequestFlag flag) {
  return "--" + spelling(flag).str();
}

static constexpr FlagSpelling spellings = {spell, "--emit=", "--cache=state",
                                           "--quantize=w8a8"};

std::string CompileFlags::check() const {
  if (std::string wrong = checkPaths(); !wrong.empty())
    return wrong;
  const SourceFormat &source = sourceFormat(input);
  for (const std::string &wrong : {checkPrecision(), coreML.check(),
                                   package.check(source, !kernel.empty())})
    if (!wrong.empty())
      return wrong;
  if (std::optional<RefusedFlag> refused =
          findRefusedFlag(given(), source, named(), spellings))
    return spell(refused->flag) + " " + refused->reason;
  for (const std::string &wrong :
       {quantize.check({isNarrowed(),
                        place().isStream(),
                        input == "-",
                        {input, output, weights, weightMap}}),
        defines.check(), shapes.check(), fixed.check()})
    if (!wrong.empty())
      return wrong;
  return "";
}
