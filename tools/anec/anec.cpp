//===- anec.cpp - the compiler's command line -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Flags -> library -> exit code: 0 done, 1 the input is at fault, 2 wrong
/// usage, 3 the machine failed.
///
//===----------------------------------------------------------------------===//

#include "anec/anec.h"
#include "../ExitCode.h"
#include "../InputShape.h"
#include "../ReportOutput.h"
#include "Check.h"
#include "Convert.h"
#include "CostPage.h"
#include "CostReport.h"
#include "Diff.h"
#include "Docs.h"
#include "PassOutput.h"
#include "ProbedTarget.h"
#include "anec/IR/Text.h"
#include "anec/MIL/Canonical.h"
#include "anec/Package/ModelCost.h"
#include "anec/Package/ScheduleDot.h"
#include "anec/Passes/Diags.h"
#include "anec/Support/AtomicFile.h"
#include "anec/Target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

enum class Emit { MIL, IR, Dot, Report, Json };
enum class DiagnosticsFormat { Text, Json };
enum class ReportFormat { Text, Html };

cl::OptionCategory category("anec options");
cl::SubCommand diffCommand("diff", "Print what differs between two programs");
cl::list<std::string> compared(cl::Positional, cl::desc("LEFT RIGHT"),
                               cl::sub(diffCommand), cl::cat(category));
cl::opt<bool>
    ignoreWeights("ignore-weights",
                  cl::desc("Compare weights by type alone; their files need "
                           "not be there"),
                  cl::sub(diffCommand), cl::cat(category));

cl::SubCommand checkCommand("check", "Print which rules of a chip programs "
                                     "break");
cl::list<std::string> checked(cl::Positional, cl::desc("FILE|PACKAGE..."),
                              cl::sub(checkCommand), cl::cat(category));
cl::opt<CheckFormat> checkFormat(
    "format", cl::desc("How findings are printed:"),
    cl::init(CheckFormat::Text),
    cl::values(clEnumValN(CheckFormat::Text, "text", "for people"),
               clEnumValN(CheckFormat::Json, "json", "for programs"),
               clEnumValN(CheckFormat::Sarif, "sarif", "for code review")),
    cl::sub(checkCommand), cl::cat(category));
cl::list<std::string> assumed("assume", cl::value_desc("RULE=allow|deny"),
                              cl::CommaSeparated,
                              cl::desc("Switch a rule off, or make breaking it "
                                       "an error"),
                              cl::sub(cl::SubCommand::getTopLevel()),
                              cl::sub(checkCommand), cl::cat(category));
cl::opt<std::string> macOS("os", cl::value_desc("15.6"),
                           cl::desc("The macOS to compile for (default: any): "
                                    "rules that do not hold there are off"),
                           cl::sub(cl::SubCommand::getTopLevel()),
                           cl::sub(checkCommand), cl::cat(category));
cl::SubCommand explainCommand("explain", "Print the story of a rule");
cl::opt<std::string> explained(cl::Positional, cl::desc("RULE"),
                               cl::sub(explainCommand), cl::cat(category));

cl::opt<std::string> input(cl::Positional,
                           cl::desc("FILE.tdsl|.ir|.mil|.mlmodelc|.anepkg"),
                           cl::cat(category));
cl::opt<std::string> output("o", cl::value_desc("FILE"),
                            cl::desc("Write FILE (and weights/ beside it for "
                                     "MIL) instead of printing"),
                            cl::cat(category));
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
         cl::cat(category));
cl::opt<ReportFormat> reportFormat(
    "format", cl::desc("How --emit=report is printed:"),
    cl::init(ReportFormat::Text),
    cl::values(clEnumValN(ReportFormat::Text, "text", "for the terminal"),
               clEnumValN(ReportFormat::Html, "html",
                          "what is predicted, with graphs, as a page")),
    cl::cat(category));
cl::opt<std::string> kernel("kernel", cl::value_desc("NAME"),
                            cl::desc("The kernel or layer to compile, when "
                                     "the program has several"),
                            cl::cat(category));
cl::list<std::string> defines("define", cl::value_desc("NAME=VALUE"),
                              cl::desc("Override a `config` entry"),
                              cl::cat(category));

cl::opt<std::string> targetName("target", cl::value_desc("NAME|FILE.json"),
                                cl::init("generic"),
                                cl::desc("The chip to compile for; "
                                         "--list-targets prints them. Or what "
                                         "ane-run probe saw of a machine"),
                                cl::sub(cl::SubCommand::getTopLevel()),
                                cl::sub(checkCommand), cl::cat(category));
cl::opt<bool> listTargets("list-targets",
                          cl::desc("Print the targets and exit"),
                          cl::cat(category));
cl::list<std::string>
    shapes("shape", cl::value_desc("NAME=1x3x64"),
           cl::desc("The shape of an input of MIL with unknown extents"),
           cl::cat(category));

cl::opt<std::string>
    weights("weights", cl::value_desc("FILE|FOLDER"),
            cl::desc("Weight values: a .safetensors file or a folder of .npy"),
            cl::cat(category));
cl::opt<std::string>
    weightMap("weight-map", cl::value_desc("FILE.json"),
              cl::desc("Names of weights -> names in --weights"),
              cl::cat(category));
cl::opt<uint64_t> initSeed("init", cl::value_desc("SEED"),
                           cl::desc("Draw the weights that --weights lacks"),
                           cl::cat(category));

cl::opt<std::string> passList("passes", cl::value_desc("A,B,..."),
                              cl::desc("Run these passes instead of `default`"),
                              cl::cat(category));
cl::list<std::string>
    skippedPasses("skip-passes", cl::value_desc("A,B,..."), cl::CommaSeparated,
                  cl::desc("Leave these passes out of the pipeline"),
                  cl::cat(category));
cl::opt<Fusion> fusion(
    "fuse", cl::desc("How far kernels of a model are made one:"),
    cl::init(Fusion::Default),
    cl::values(clEnumValN(Fusion::Default, "default",
                          "as far as people have run such kernels (default)"),
               clEnumValN(Fusion::Max, "max",
                          "as far as the target's limits go")),
    cl::cat(category));
cl::list<std::string> printAfter("print-after", cl::value_desc("PASS"),
                                 cl::CommaSeparated,
                                 cl::desc("Print the IR to standard error "
                                          "after PASS, or after `all`"),
                                 cl::cat(category));
// --stats is LLVM's own flag (any program with LLVM's command line has it);
// AreStatisticsEnabled tells whether it was given, and --help shows it below.
cl::opt<bool> timePasses("time-passes",
                         cl::desc("Print how long each pass took"),
                         cl::cat(category));
cl::opt<unsigned> passLimit("pass-limit", cl::value_desc("N"),
                            cl::desc("Stop after N passes, to bisect"),
                            cl::cat(category));
cl::opt<bool> remarks("remarks",
                      cl::desc("Say why the passes decided as they did"),
                      cl::cat(category));
cl::opt<bool> verifyNumerics(
    "verify-numerics",
    cl::desc("Compare results before and after each pass on random inputs"),
    cl::cat(category));

cl::opt<IOMode> ioMode(
    "io", cl::desc("Inputs and outputs of a package's kernels:"),
    cl::init(IOMode::Packed),
    cl::values(clEnumValN(IOMode::Packed, "packed", "one of each (default)"),
               clEnumValN(IOMode::Separate, "separate",
                          "one for each tensor, named in their order")),
    cl::cat(category));
cl::opt<WeightMode> weightMode(
    "weight-mode", cl::desc("Weights of a package's kernels:"),
    cl::init(WeightMode::Packed),
    cl::values(clEnumValN(WeightMode::Packed, "packed",
                          "inputs, which the host passes (default)"),
               clEnumValN(WeightMode::Baked, "baked",
                          "constants, with a weight file for each layer "
                          "(default with --forward-only and values)")),
    cl::cat(category));
cl::opt<bool> forwardOnly("forward-only",
                          cl::desc("Package the model without training it"),
                          cl::cat(category));

cl::opt<std::string> milVersion(
    "mil-version", cl::value_desc("1.3|1.0"),
    cl::desc("Dialect: 1.3 with ios18, or 1.0 with ios16 for older compilers; "
             "the target's by default"),
    cl::cat(category));
cl::opt<bool> canonical(
    "canonical",
    cl::desc("Name values by position and share constants, to compare texts"),
    cl::cat(category));
cl::opt<DiagnosticsFormat> diagnosticsFormat(
    "diagnostics", cl::desc("How errors are printed:"),
    cl::init(DiagnosticsFormat::Text),
    cl::values(clEnumValN(DiagnosticsFormat::Text, "text", "for people"),
               clEnumValN(DiagnosticsFormat::Json, "json", "for programs")),
    cl::cat(category));
cl::opt<std::string>
    dumpDocs("dump-docs",
             cl::value_desc("ops|passes|diagnostics|rules|targets"),
             cl::desc("Print a reference page made from the tables and exit"),
             cl::cat(category));

constexpr char overview[] =
    "anec - compiles tensor programs to MIL for the Apple Neural Engine\n";
constexpr char examples[] = R"(
  --stats                                   - Print what the passes counted

EXAMPLES:
  anec mlp.tdsl --init=7 -o out/mlp.mil       MIL and random weights
  anec attention.tdsl --weights=model.safetensors -o attention.mil
  anec attention.tdsl --define seq=64         MIL text to standard output
  anec llama.tdsl -o llama.anepkg             a model: kernels and host schedule
  anec llama.tdsl --forward-only --init=1 -o llama.anepkg
  anec llama.tdsl --emit=dot | dot -Tsvg      its kernels, taps and host ops
  anec attention.tdsl --emit=ir --passes=decompose,matmul-to-conv
  anec llama.tdsl --emit=ir --passes=model --remarks     kernels and schedule
  anec out.mil                                read, check and print again
  anec flexible.mil --shape x=1x128 -o x.mil  at a shape of its input
  anec out.mil --emit=report                  what it is made of
  anec out.mil --emit=report --target=m4      and what it would take there
  anec llama.anepkg --emit=report --format=html -o cost.html   what a step takes
  anec check out.mil --target=m1              what a chip refuses, and why
  anec check out.mil --target=m1 --os=15.6    as far as it is known of that macOS
  anec explain io-row-64                      the story of a rule
  anec convert stories15M.bin -o stories15M.safetensors
  anec diff old.mil new.mil                   what differs; 1 if anything does
  anec attention.tdsl --verify-numerics --stats --init=1 -o attention.mil

EXIT STATUS: 0 done, 1 the input is at fault, 2 wrong usage, 3 the machine failed
)";

} // namespace

//===----------------------------------------------------------------------===//
// Flags to options
//===----------------------------------------------------------------------===//

static void printTargets(llvm::raw_ostream &out) {
  for (const Target &target : allTargets())
    out << llvm::left_justify(target.name, 10) << target.summary << '\n';
}

static void removeSkipped(std::vector<const PassDef *> &passes) {
  llvm::erase_if(passes, [](const PassDef *pass) {
    return llvm::is_contained(skippedPasses, pass->name);
  });
}

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

/// Takes the target and the assumptions from what a probe wrote.
static bool takeProbedTarget() {
  Diagnostics diags;
  std::optional<ProbedTarget> probed = readProbedTarget(targetName, diags);
  diags.print(llvm::errs(), llvm::errs().has_colors());
  if (!probed)
    return false;
  targetName = probed->target;
  for (const std::string &assumption : probed->assumptions) {
    // What is given on the command line counts more.
    llvm::StringRef rule = llvm::StringRef(assumption).split('=').first;
    if (llvm::none_of(assumed, [&](llvm::StringRef given) {
          return given.split('=').first == rule;
        }))
      assumed.push_back(assumption);
  }
  return true;
}

/// Reports an assumption that is none.
static bool readAssumptions(Assumptions &assumptions, Diagnostics &diags) {
  if (!macOS.empty() && !(assumptions.macOS = OSVersion::parse(macOS))) {
    diags.report({}, diag::OSForm, macOS);
    return false;
  }
  return llvm::all_of(assumed, [&](const std::string &text) {
    return parseAssumption(text, assumptions, diags);
  });
}

static bool readPassOptions(PassManagerOptions &options, Diagnostics &diags) {
  options.verifyNumerics = verifyNumerics;
  options.targetChosen = targetName.getNumOccurrences() != 0;
  if (!readAssumptions(options.assumptions, diags))
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
  removeSkipped(options.passes);
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
  options.passes.target = findTarget(targetName);
  // Programs can be looked at without their weights.
  options.missingWeights = MILReadOptions::MissingWeights::Warn;
  return readPassOptions(options.passes, diags);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Prints to standard output, or writes `-o` whole or not at all.
static bool writeText(llvm::function_ref<bool(llvm::raw_ostream &)> print,
                      Diagnostics &diags) {
  if (output.empty() || output == "-")
    return print(llvm::outs());
  AtomicFiles files(diags);
  OutputFile *file = files.add(output);
  return file && print(*file) && files.commit();
}

/// The process ends after this module: taking it apart op by op would cost a
/// large one a tenth of the time. Static, so that leak checkers find it, and
/// volatile, so that the compiler does not see that nobody reads it.
static Module &keepToTheEnd(std::unique_ptr<Module> module) {
  static Module *volatile kept = nullptr;
  kept = module.release();
  return *kept;
}

static bool emitIR(std::unique_ptr<Module> module,
                   const CompileOptions &options, Diagnostics &diags,
                   std::vector<PassReport> &reports) {
  Module &program = keepToTheEnd(std::move(module));
  if (!options.kernel.empty() && !selectKernel(program, options.kernel, diags))
    return false;
  if (!runPasses(program, options.passes, diags, &reports))
    return false;
  return writeText(
      [&](llvm::raw_ostream &out) {
        printIR(program, out);
        return true;
      },
      diags);
}

static bool emitMIL(std::unique_ptr<Module> module, CompileOptions options,
                    SourceKind kind, Diagnostics &diags,
                    std::vector<PassReport> &reports) {
  // MIL that is read is printed as it is; a program is compiled.
  if (!passList.getNumOccurrences() && kind != SourceKind::MIL)
    options.passes.passes = defaultPipeline().vec();
  removeSkipped(options.passes.passes);
  std::optional<Package> package =
      compile(std::move(module), kind, options, diags, &reports);
  if (!package)
    return false;
  if (canonical) {
    makeCanonical(*package->program);
    package->placement = MILPrintOptions::Placement::Gather;
  }
  bool toStandardOutput = output.empty() || output == "-";
  bool ok = toStandardOutput ? package->print(llvm::outs(), diags)
                             : package->write(output, diags);
  keepToTheEnd(std::move(package->program));
  return ok;
}

/// Compiles a model with its host schedule.
static bool emitPackage(std::unique_ptr<Module> module, CompileOptions options,
                        Diagnostics &diags, std::vector<PassReport> &reports) {
  if (!passList.getNumOccurrences()) {
    options.passes.passes = modelPipeline(modelOptions());
    removeSkipped(options.passes.passes);
  }
  if (!runPasses(*module, options.passes, diags, &reports))
    return false;
  PackageOptions package;
  package.io = ioMode;
  package.weightMode = chosenWeightMode();
  package.weights = options.weights;
  package.milVersion = milVersion;
  package.passes = options.passes;
  package.passes.passes.clear();
  return writePackage(std::move(module), output, package, diags, &reports);
}

/// A model is shown as it would be packaged.
static bool emitDot(std::unique_ptr<Module> module, CompileOptions options,
                    Diagnostics &diags, std::vector<PassReport> &reports) {
  if (!passList.getNumOccurrences()) {
    options.passes.passes = modelPipeline(modelOptions());
    removeSkipped(options.passes.passes);
  }
  Module &program = keepToTheEnd(std::move(module));
  if (!runPasses(program, options.passes, diags, &reports))
    return false;
  return writeText(
      [&](llvm::raw_ostream &out) {
        printDot(program, out);
        return true;
      },
      diags);
}

/// What is predicted stands with it when a target was asked for.
static void printReports(const Module &module, const Target &target,
                         llvm::raw_ostream &out) {
  bool chosen = targetName.getNumOccurrences() != 0;
  RunCost cost = predictOnce(module, target);
  if (emit == Emit::Report && reportFormat == ReportFormat::Html) {
    printCostPage(llvm::sys::path::filename(input), cost, nullptr, target, out);
    return;
  }
  if (emit == Emit::Report) {
    for (const auto &function : module.functions)
      printReport(*function, module.version, out);
    if (chosen)
      printCost(cost, target, out);
    return;
  }
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attributeArray("functions", [&] {
      for (const auto &function : module.functions)
        printReport(*function, module.version, json);
    });
    if (chosen)
      printCost(cost, target, json);
  });
  out << '\n';
}

/// What a run of a package costs; on the target it was made for, unless another
/// is asked for.
static bool reportPackage(const ModelPackage &package, Diagnostics &diags) {
  const Target *target =
      findTarget(targetName.getNumOccurrences() ? targetName : package.target);
  if (!target)
    target = &genericTarget();
  std::optional<ModelCost> cost = predictModel(package, *target, diags);
  if (!cost)
    return false;
  return writeText(
      [&](llvm::raw_ostream &out) {
        if (emit == Emit::Json) {
          llvm::json::OStream json(out, 2);
          json.object([&] { printCost(cost->runs, *target, json); });
          out << '\n';
        } else if (reportFormat == ReportFormat::Html) {
          printCostPage(llvm::sys::path::filename(input), cost->runs,
                        package.schedule.get(), *target, out);
        } else {
          printCost(cost->runs, *target, out);
        }
        return true;
      },
      diags);
}

/// What can be said of a package: what it costs, or its schedule, as a picture
/// or as IR.
static bool emitPackaged(Diagnostics &diags) {
  bool isReport = emit == Emit::Report || emit == Emit::Json;
  std::optional<ModelPackage> package = readPackage(
      input, diags, isReport ? PackageCheck::Presence : PackageCheck::Digests);
  if (!package)
    return false;
  if (isReport)
    return reportPackage(*package, diags);
  return writeText(
      [&](llvm::raw_ostream &out) {
        emit == Emit::Dot ? printDot(*package->schedule, out)
                          : printIR(*package->schedule, out);
        return true;
      },
      diags);
}

/// MIL is reported as it is, a program as it would be printed as MIL.
static bool emitReport(std::unique_ptr<Module> module, CompileOptions options,
                       SourceKind kind, Diagnostics &diags,
                       std::vector<PassReport> &reports) {
  if (!passList.getNumOccurrences() && kind != SourceKind::MIL)
    options.passes.passes = defaultPipeline().vec();
  removeSkipped(options.passes.passes);
  std::optional<Package> package =
      compile(std::move(module), kind, options, diags, &reports);
  if (!package)
    return false;
  Module &program = keepToTheEnd(std::move(package->program));
  return writeText(
      [&](llvm::raw_ostream &out) {
        printReports(program, *options.passes.target, out);
        return true;
      },
      diags);
}

static bool emitAs(Emit form, std::unique_ptr<Module> module,
                   const CompileOptions &options, Diagnostics &diags,
                   std::vector<PassReport> &reports) {
  SourceKind kind = sourceKind(input);
  switch (form) {
  case Emit::MIL:
    if (isPackagePath(output))
      return emitPackage(std::move(module), options, diags, reports);
    return emitMIL(std::move(module), options, kind, diags, reports);
  case Emit::IR:
    return emitIR(std::move(module), options, diags, reports);
  case Emit::Dot:
    return emitDot(std::move(module), options, diags, reports);
  case Emit::Report:
  case Emit::Json:
    return emitReport(std::move(module), options, kind, diags, reports);
  }
  return false;
}

static bool run(const Target &target, Diagnostics &diags) {
  CompileOptions options;
  options.passes.target = &target;
  if (!readOptions(options, diags))
    return false;
  if (isPackagePath(input))
    return emitPackaged(diags);
  std::unique_ptr<Module> module = readSourceFile(input, options, diags);
  if (!module)
    return false;
  std::vector<PassReport> reports;
  bool ok = emitAs(emit, std::move(module), options, diags, reports);
  if (llvm::AreStatisticsEnabled())
    printStats(reports, llvm::errs());
  if (timePasses)
    printTimes(reports, llvm::errs());
  return ok;
}

/// As diff does it: 0 nothing differs, 1 something does, 2 there is no telling.
static int runDiff() {
  if (compared.size() != 2)
    return usageError("anec", "diff takes two programs; see anec diff --help");
  Diagnostics diags;
  std::optional<bool> same = diffPrograms(compared[0], compared[1],
                                          ignoreWeights, llvm::outs(), diags);
  finishOutput(diags);
  diags.print(llvm::errs(), llvm::errs().has_colors());
  if (exitCode(true, diags) == MachineError)
    return MachineError;
  return !same ? UsageError : *same ? 0 : 1;
}

/// 0 no rule is broken, 1 some are, or a program cannot be read.
static int runCheck(const Target &target) {
  if (checked.empty())
    return usageError("anec", "check takes programs; see anec check --help");
  Diagnostics diags;
  Assumptions assumptions;
  if (!readAssumptions(assumptions, diags)) {
    diags.print(llvm::errs(), llvm::errs().has_colors());
    return UsageError;
  }
  CompileOptions options;
  options.passes.target = &target;
  options.passes.targetChosen = targetName.getNumOccurrences() != 0;
  options.passes.assumptions = assumptions;
  options.missingWeights = MILReadOptions::MissingWeights::Ignore;
  bool ok = checkFiles(checked, options, assumptions, checkFormat, llvm::outs(),
                       diags);
  Diagnostics output;
  finishOutput(output);
  output.print(llvm::errs(), llvm::errs().has_colors());
  return output.hasErrors() ? MachineError : ok ? Done : InputError;
}

static int runExplain() {
  if (const Rule *rule = findRule(explained)) {
    explainRule(*rule, llvm::outs());
    return Done;
  }
  return usageError("anec", explained.empty()
                                ? "explain takes a rule; docs/rules.md has them"
                                : "there is no rule `" + explained +
                                      "`; docs/rules.md has them");
}

int main(int argc, char **argv) {
  endWhenMemoryEnds();
  cl::HideUnrelatedOptions(category);
  for (cl::SubCommand *command : {&diffCommand, &checkCommand, &explainCommand})
    cl::HideUnrelatedOptions(category, *command);
  hideFlagsInConvert();
  cl::extrahelp more(examples);
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &llvm::errs()))
    return UsageError;
  if (std::optional<int> code = runConvertCommand())
    return *code;
  if (diffCommand)
    return runDiff();
  if (explainCommand)
    return runExplain();
  if (listTargets) {
    printTargets(llvm::outs());
    return Done;
  }
  if (llvm::StringRef(targetName).ends_with(".json") && !takeProbedTarget())
    return InputError;
  const Target *target = findTarget(targetName);
  if (!target)
    return usageError("anec", "there is no target `" + targetName +
                                  "`; see anec --list-targets");
  if (checkCommand)
    return runCheck(*target);
  if (dumpDocs.getNumOccurrences())
    return printDocs(dumpDocs, llvm::outs())
               ? Done
               : usageError("anec",
                            "--dump-docs takes `ops`, `passes`, `rules`, "
                            "`targets` or `diagnostics`, not `" +
                                dumpDocs + "`");
  if (input.empty())
    return usageError("anec", "no input file; see anec --help");
  if (!milVersion.empty() && milVersion != "1.0" && milVersion != "1.3")
    return usageError("anec", "--mil-version takes 1.3 or 1.0, not `" +
                                  milVersion + "`");
  if (isPackagePath(input) && emit == Emit::MIL)
    return usageError("anec", "a package is shown with --emit=report, dot or "
                              "ir; ane-run runs it");
  if (canonical && emit != Emit::MIL)
    return usageError("anec", "--canonical is for --emit=mil");
  for (const std::string &define : defines)
    if (!llvm::StringRef(define).contains('='))
      return usageError("anec",
                        "--define takes NAME=VALUE, not `" + define + "`");
  for (const std::string &shape : shapes)
    if (!parseInputShape(shape))
      return usageError("anec",
                        "--shape takes NAME=1x3x64, not `" + shape + "`");

  Diagnostics diags;
  bool ok = run(*target, diags);
  finishOutput(diags);
  if (diagnosticsFormat == DiagnosticsFormat::Json)
    diags.printJson(llvm::errs());
  else
    diags.print(llvm::errs(), llvm::errs().has_colors());
  return exitCode(ok, diags);
}
