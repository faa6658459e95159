//===- CheckCommand.cpp - anec check FILE|PACKAGE... ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../ShapeFlag.h"
#include "CommandTable.h"
#include "TargetFlags.h"
#include "anec/API/Inspect.h"
#include "anec/Report/FindingReport.h"
#include "anec/Report/RuleAccuracy.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

enum class CheckFormat { Text, Json, Sarif };

class Check : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  void print(const CheckResult &result, Diagnostics &diags) const;
  ExitCode compare(const Assumptions &assumptions) const;

  cl::list<std::string> paths{cl::Positional};
  cl::opt<CheckFormat> format{
      "format", cl::desc("Output format of findings:"),
      cl::init(CheckFormat::Text),
      cl::values(clEnumValN(CheckFormat::Text, "text", "for people"),
                 clEnumValN(CheckFormat::Json, "json", "for programs"),
                 clEnumValN(CheckFormat::Sarif, "sarif", "for code review"))};
  FrameworkFlag framework;
  cl::opt<bool> all{"all", cl::desc("Print every place where a rule is broken, "
                                    "instead of the first one of each")};
  cl::opt<std::string> verdicts{
      "verdicts", cl::value_desc("FILE.jsonl"),
      cl::desc("Compare the rules with recorded verdicts of the vendor's "
               "compiler, instead of checking programs; prints Markdown")};
  ShapeFlag shapes;
  TargetFlags target;
};

} // namespace

void Check::print(const CheckResult &result, Diagnostics &diags) const {
  switch (format) {
  case CheckFormat::Text:
    return printFindings(result,
                         all ? FindingDetail::All : FindingDetail::ByRule,
                         diags, llvm::outs());
  case CheckFormat::Json:
    return printFindingsJson(result, diags, llvm::outs());
  case CheckFormat::Sarif:
    return printFindingsSarif(result, diags, llvm::outs());
  }
}

ExitCode Check::compare(const Assumptions &assumptions) const {
  return runReporting([&](Diagnostics &diags) {
    std::optional<std::vector<RecordedVerdicts>> records =
        readVerdicts(verdicts, diags);
    if (records)
      printRuleAccuracy(*records, assumptions, llvm::outs());
    return records.has_value();
  });
}

ExitCode Check::run(const Invocation &call) {
  if (paths.empty() == verdicts.empty())
    return call.usageError("check takes either programs or --verdicts; see "
                           "anec check --help");
  if (std::string wrong = shapes.check(); !wrong.empty())
    return call.usageError(wrong);
  CompileOptions options;
  options.shapes = shapes.values();
  if (ExitCode code = target.read(call, options.passes); code != Done)
    return code;
  options.passes.assumptions.path = framework;
  if (!verdicts.empty())
    return compare(options.passes.assumptions);
  // Diagnostics of the programs are printed among the findings.
  Diagnostics diags;
  CheckResult result{options.passes.target, options.passes.assumptions, {}, {}};
  for (const std::string &path : paths) {
    CheckedPrograms checked = checkFile(path, options, diags);
    llvm::append_range(result.findings, checked.findings);
    llvm::append_range(result.placements, checked.placements);
  }
  print(result, diags);
  return runReporting(
      [&](Diagnostics &) { return !diags.hasErrors() && !result.hasErrors(); });
}

constinit const CommandDef commands::Check = {
    .name = "check",
    .group = commands::rules,
    .summary = "Report the rules of a chip that programs break",
    .synopsis = "FILE|PACKAGE...",
    .details = "Exits with 1 if a program breaks a rule that is an error, or "
               "cannot be read.\n",
    .examples = R"(  anec check out.mil --target=m1
  anec check out.mil --target=m1 --os=15.6
  anec check model.mil --target=m4 --for=coreml   which ops leave the engine
  anec check model.mil --target=m4 --shape=x=1x3x64   if its extents are unknown
  anec check model.mlpackage --target=m1
  anec check llama.anepkg --target=m4 --format=sarif
)",
    .make = makeCommand<::Check>,
};
