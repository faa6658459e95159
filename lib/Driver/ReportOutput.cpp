//===- ReportOutput.cpp - what a program consists of and costs ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "anec/Package/ModelCost.h"
#include "lib/Report/CostPage.h"
#include "lib/Report/CostReport.h"
#include "lib/Report/ProgramReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace anec;

namespace {

/// The subject of a report.
struct Subject {
  std::string name;             ///< the name of the file or folder
  const Module *program;        ///< null for a package
  const Module *schedule;       ///< null for a program
  llvm::ArrayRef<RunCost> runs; ///< predicted for `target`
  const Target &target;
  bool showCost; ///< a program's cost is shown when a target was chosen
};

using Print = void (*)(const Subject &subject, llvm::raw_ostream &out);

} // namespace

static void printText(const Subject &subject, llvm::raw_ostream &out) {
  if (subject.program)
    for (const auto &function : subject.program->functions)
      printReport(*function, subject.program->version, out);
  if (subject.showCost)
    printCost(subject.runs, subject.target, out);
}

static void printJson(const Subject &subject, llvm::raw_ostream &out) {
  llvm::json::OStream json(out, 2);
  json.object([&] {
    if (subject.program)
      json.attributeArray("functions", [&] {
        for (const auto &function : subject.program->functions)
          printReport(*function, subject.program->version, json);
      });
    if (subject.showCost)
      printCost(subject.runs, subject.target, json);
  });
  out << '\n';
}

static void printPage(const Subject &subject, llvm::raw_ostream &out) {
  printCostPage(subject.name, subject.runs, subject.schedule, subject.target,
                out);
}

/// Reports on a package for the target that it was compiled for, unless another
/// one is requested.
template <Print print>
static bool showReport(const ModelPackage &package, const BuildRequest &request,
                       const OutputPlace &place, Diagnostics &diags) {
  const PassManagerOptions &passes = request.options.passes;
  const Target *target =
      passes.targetChosen ? passes.target : findTarget(package.target);
  if (!target)
    target = &genericTarget();
  std::optional<ModelCost> cost = predictModel(package, *target, diags);
  if (!cost)
    return false;
  Subject subject{llvm::sys::path::filename(request.input).str(),
                  nullptr,
                  package.schedule.get(),
                  cost->runs,
                  *target,
                  /*showCost=*/true};
  return place.write([&](llvm::raw_ostream &out) { print(subject, out); },
                     diags);
}

/// Reports on the package that a model becomes.
template <Print print>
static bool compileToShow(std::unique_ptr<Module> module,
                          const BuildRequest &request, const OutputPlace &place,
                          BuildResult &result, Diagnostics &diags) {
  CompileOptions options = modelOptions(request);
  options.lora.reset(); // build() has added its adapters
  std::optional<ModelPackage> package = compileModelInMemory(
      std::move(module), options, request.input, diags, &result.reports);
  return package && showReport<print>(*package, request, place, diags);
}

/// Reports on the program as it would be printed as MIL; on a MIL program as it
/// is, so that the report says what the target makes of it; on a model as its
/// package.
template <Print print>
static bool compileToReport(std::unique_ptr<Module> module,
                            const BuildRequest &given, const OutputPlace &place,
                            BuildResult &result, Diagnostics &diags) {
  if (isModel(*module, sourceFormat(given.input), given.options))
    return compileToShow<print>(std::move(module), given, place, result, diags);
  BuildRequest request = given;
  request.hasPasses |= sourceFormat(request.input).stage == SourceStage::MIL;
  std::optional<CompiledProgram> program =
      compileKernel(std::move(module), request, result, diags);
  if (!program)
    return false;
  result.module = std::move(program->program);
  const PassManagerOptions &passes = request.options.passes;
  RunCost cost = predictOnce(*result.module, *passes.target);
  Subject subject{llvm::sys::path::filename(request.input).str(),
                  result.module.get(),
                  nullptr,
                  cost,
                  *passes.target,
                  passes.targetChosen};
  return place.write([&](llvm::raw_ostream &out) { print(subject, out); },
                     diags);
}

static constexpr RequestFlags takenByReport =
    requests::weights | requests::models | requests::decoding |
    RequestFlags{RequestFlag::Target, RequestFlag::Kernel, RequestFlag::Passes};
static constexpr RequestFlags takenByPasses =
    requests::passes |
    RequestFlags{RequestFlag::Assume, RequestFlag::OS, RequestFlag::Precision};
static constexpr RequestFlags shown = {RequestFlag::Target};

constinit const OutputFormat outputs::Report = {
    .name = "report",
    .summary = "ops, weights, operations and peak activation memory",
    .runs = RunsPasses::OfPrograms,
    .takes = takenByReport | RequestFlags{RequestFlag::Format},
    .takesWithPasses = takenByPasses,
    .shows = shown | RequestFlags{RequestFlag::Format},
    .compile = compileToReport<printText>,
    .show = showReport<printText>,
    .check = PackageCheck::Presence,
};

constinit const OutputFormat outputs::ReportJson = {
    .name = "json",
    .ending = ".json",
    .summary = "the report as JSON",
    .runs = RunsPasses::OfPrograms,
    .takes = takenByReport,
    .takesWithPasses = takenByPasses,
    .shows = shown,
    .compile = compileToReport<printJson>,
    .show = showReport<printJson>,
    .check = PackageCheck::Presence,
};

constinit const OutputFormat outputs::ReportPage = {
    .name = "html",
    .ending = ".html",
    .summary = "an HTML page with predicted costs and graphs",
    .runs = RunsPasses::OfPrograms,
    .takes = takenByReport,
    .takesWithPasses = takenByPasses,
    .shows = shown,
    .compile = compileToReport<printPage>,
    .show = showReport<printPage>,
    .check = PackageCheck::Presence,
};
