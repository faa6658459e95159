//===- CompileFlags.cpp - the flags of compiling --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CompileFlags.h"
#include "../ExitCode.h"
#include "../InputShape.h"
#include "Flags.h"
#include "anec/Passes/Diags.h"
#include "anec/Report/PassStatistics.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

cl::opt<std::string> input(cl::Positional,
                           cl::desc("FILE.tdsl|.ir|.mil|.mlmodelc|.anepkg"),
                           cl::cat(anecCategory()));
cl::opt<std::string> output("o", cl::value_desc("FILE"),
                            cl::desc("Write FILE (and weights/ beside it for "
                                     "MIL) instead of printing"),
                            cl::cat(anecCategory()));
cl::opt<Emit>
    emit("emit", cl::desc("What to print or write:"), cl::init(Emit::MIL),
         cl::values(clEnumValN(Emit::MIL, "mil", "MIL text (default)"),
                    clEnumValN(Emit::IR, "ir",
                               "the IR, after --passes when they are given"),
                    clEnumValN(Emit::Dot, "dot",
                               "kernels, taps and host ops of a model or a "
                               "package, for Graphviz"),
                    clEnumValN(Emit::Report, "report",
                               "ops, weights, operations and the peak of "
                               "activations"),
                    clEnumValN(Emit::Json, "json", "the report as JSON")),
         cl::cat(anecCategory()));
cl::opt<ReportFormat> reportFormat(
    "format", cl::desc("How --emit=report is printed:"),
    cl::init(ReportFormat::Text),
    cl::values(clEnumValN(ReportFormat::Text, "text", "for the terminal"),
               clEnumValN(ReportFormat::Html, "html",
                          "what is predicted, with graphs, as a page")),
    cl::cat(anecCategory()));
cl::opt<std::string> kernel("kernel", cl::value_desc("NAME"),
                            cl::desc("The kernel or layer to compile, when "
                                     "the program has several"),
                            cl::cat(anecCategory()));
TargetFlags targetFlags(cl::SubCommand::getTopLevel());

cl::list<std::string> defines("define", cl::value_desc("NAME=VALUE"),
                              cl::desc("Override a `config` entry"),
                              cl::cat(anecCategory()));

cl::list<std::string>
    shapes("shape", cl::value_desc("NAME=1x3x64"),
           cl::desc("The shape of an input of MIL with unknown extents"),
           cl::cat(anecCategory()));

cl::opt<std::string>
    weights("weights", cl::value_desc("FILE|FOLDER"),
            cl::desc("Weight values: a .safetensors file or a folder of .npy"),
            cl::cat(anecCategory()));
cl::opt<std::string>
    weightMap("weight-map", cl::value_desc("FILE.json"),
              cl::desc("Names of weights -> names in --weights"),
              cl::cat(anecCategory()));
cl::opt<uint64_t> initSeed("init", cl::value_desc("SEED"),
                           cl::desc("Draw the weights that --weights lacks"),
                           cl::cat(anecCategory()));

cl::opt<std::string> passList("passes", cl::value_desc("A,B,..."),
                              cl::desc("Run these passes instead of `default`"),
                              cl::cat(anecCategory()));
cl::list<std::string>
    skippedPasses("skip-passes", cl::value_desc("A,B,..."), cl::CommaSeparated,
                  cl::desc("Leave these passes out of the pipeline"),
                  cl::cat(anecCategory()));
cl::opt<Fusion> fusion(
    "fuse", cl::desc("How far kernels of a model are made one:"),
    cl::init(Fusion::Default),
    cl::values(clEnumValN(Fusion::Default, "default",
                          "as far as people have run such kernels (default)"),
               clEnumValN(Fusion::Max, "max",
                          "as far as the target's limits go")),
    cl::cat(anecCategory()));
cl::list<std::string> printAfter("print-after", cl::value_desc("PASS"),
                                 cl::CommaSeparated,
                                 cl::desc("Print the IR to standard error "
                                          "after PASS, or after `all`"),
                                 cl::cat(anecCategory()));
// --stats is LLVM's own flag (any program with LLVM's command line has it);
// AreStatisticsEnabled tells whether it was given, and --help shows it below.
cl::opt<bool> timePasses("time-passes",
                         cl::desc("Print how long each pass took"),
                         cl::cat(anecCategory()));
cl::opt<unsigned> passLimit("pass-limit", cl::value_desc("N"),
                            cl::desc("Stop after N passes, to bisect"),
                            cl::cat(anecCategory()));
cl::opt<bool> remarks("remarks",
                      cl::desc("Say why the passes decided as they did"),
                      cl::cat(anecCategory()));
cl::opt<bool> verifyNumerics(
    "verify-numerics",
    cl::desc("Compare results before and after each pass on random inputs"),
    cl::cat(anecCategory()));

cl::opt<IOMode> ioMode(
    "io", cl::desc("Inputs and outputs of a package's kernels:"),
    cl::init(IOMode::Packed),
    cl::values(clEnumValN(IOMode::Packed, "packed", "one of each (default)"),
               clEnumValN(IOMode::Separate, "separate",
                          "one for each tensor, named in their order")),
    cl::cat(anecCategory()));
cl::opt<WeightMode> weightMode(
    "weight-mode", cl::desc("Weights of a package's kernels:"),
    cl::init(WeightMode::Packed),
    cl::values(clEnumValN(WeightMode::Packed, "packed",
                          "inputs, which the host passes (default)"),
               clEnumValN(WeightMode::Baked, "baked",
                          "constants, with a weight file for each layer "
                          "(default with --forward-only and values)")),
    cl::cat(anecCategory()));
cl::opt<bool> forwardOnly("forward-only",
                          cl::desc("Package the model without training it"),
                          cl::cat(anecCategory()));

cl::opt<std::string> milVersion(
    "mil-version", cl::value_desc("1.3|1.0"),
    cl::desc("Dialect: 1.3 with ios18, or 1.0 with ios16 for older compilers; "
             "the target's by default"),
    cl::cat(anecCategory()));
cl::opt<bool> canonical(
    "canonical",
    cl::desc("Name values by position and share constants, to compare texts"),
    cl::cat(anecCategory()));
cl::opt<DiagnosticsFormat> diagnosticsFormat(
    "diagnostics", cl::desc("How errors are printed:"),
    cl::init(DiagnosticsFormat::Text),
    cl::values(clEnumValN(DiagnosticsFormat::Text, "text", "for people"),
               clEnumValN(DiagnosticsFormat::Json, "json", "for programs")),
    cl::cat(anecCategory()));

} // namespace

/// Weights that no one changes are best part of their kernels, once they are
/// known.
static WeightMode chosenWeightMode() {
  if (weightMode.getNumOccurrences())
    return weightMode;
  bool hasValues = !weights.empty() || initSeed.getNumOccurrences();
  return forwardOnly && hasValues ? WeightMode::Baked : WeightMode::Packed;
}

static ModelPipelineOptions modelOptions() {
  ModelPipelineOptions options;
  options.train = !forwardOnly;
  options.fusion = fusion;
  options.packWeights = chosenWeightMode() == WeightMode::Packed;
  return options;
}

/// `default` in a list stands for the pipeline of a kernel, `model` for that of
/// a model.
static bool readPassList(std::vector<const PassDef *> &passes,
                         Diagnostics &diags) {
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

static bool readPassOptions(PassManagerOptions &options, Diagnostics &diags) {
  options.verifyNumerics = verifyNumerics;
  options.targetChosen = targetFlags.chosen();
  if (!targetFlags.readAssumptions(options.assumptions, diags))
    return false;
  options.remarks = remarks;
  if (passLimit.getNumOccurrences())
    options.limit = passLimit;
  for (const std::string &name : printAfter)
    if (name != "all" && !findPass(name)) {
      diags.report({}, diag::UnknownPass, name);
      return false;
    }
  if (!printAfter.empty())
    options.afterPass = [](const PassDef &pass, const Function &function) {
      for (const std::string &name : printAfter)
        if (name == "all" || pass.name == name)
          printAfterPass(pass, function, llvm::errs());
    };
  for (const std::string &name : skippedPasses)
    if (std::vector<const PassDef *> known; !parsePipeline(name, known, diags))
      return false;
  if (!readPassList(options.passes, diags))
    return false;
  return true;
}

static bool readOptions(CompileOptions &options, Diagnostics &diags) {
  options.kernel = kernel;
  options.weights.source = weights;
  options.weights.mapping = weightMap;
  if (initSeed.getNumOccurrences())
    options.weights.seed = initSeed;
  for (const std::string &define : defines) {
    auto [name, value] = llvm::StringRef(define).split('=');
    options.defines.emplace_back(name.str(), value.str());
  }
  options.milVersion = milVersion;
  for (const std::string &shape : shapes)
    options.shapes.push_back(*parseInputShape(shape));
  // Programs can be looked at without their weights.
  options.missingWeights = MILReadOptions::MissingWeights::Warn;
  return readPassOptions(options.passes, diags);
}

std::optional<CompileRequest> anec::readCompileFlags(const Target &target,
                                                     Diagnostics &diags) {
  CompileRequest request;
  request.options.passes.target = &target;
  if (!readOptions(request.options, diags))
    return std::nullopt;
  request.input = input;
  request.output = output;
  request.emit = emit;
  request.reportFormat = reportFormat;
  request.canonical = canonical;
  request.timePasses = timePasses;
  request.passesGiven = passList.getNumOccurrences() != 0;
  request.skippedPasses = {skippedPasses.begin(), skippedPasses.end()};
  request.pipeline = modelOptions();
  request.io = ioMode;
  request.weightMode = chosenWeightMode();
  return request;
}

/// Whether something else is to be written in the place of the program. Text of
/// the same language may be.
static bool wouldReplaceSource() {
  if (output.empty() || !llvm::sys::fs::equivalent(input, output))
    return false;
  llvm::StringRef format = sourceFormat(input).name;
  return !(format == "mil" && emit == Emit::MIL) &&
         !(format == "ir" && emit == Emit::IR);
}

std::string anec::checkCompileFlags() {
  if (input.empty())
    return "no input file; see anec --help";
  if (!milVersion.empty() && milVersion != "1.0" && milVersion != "1.3")
    return "--mil-version takes 1.3 or 1.0, not `" + milVersion + "`";
  if (isPackagePath(input) && emit == Emit::MIL)
    return "a package is shown with --emit=report, dot or ir; ane-run runs it";
  if (canonical && emit != Emit::MIL)
    return "--canonical is for --emit=mil";
  if (wouldReplaceSource())
    return "-o is the program itself, `" + input + "`, which would be lost";
  for (const std::string &define : defines)
    if (!llvm::StringRef(define).contains('='))
      return "--define takes NAME=VALUE, not `" + define + "`";
  for (const std::string &shape : shapes)
    if (!parseInputShape(shape))
      return "--shape takes NAME=1x3x64, not `" + shape + "`";
  return "";
}

DiagnosticsFormat anec::chosenDiagnosticsFormat() { return diagnosticsFormat; }

TargetFlags &anec::compileTargetFlags() { return targetFlags; }
