//===- CheckCommand.cpp - anec check FILE|PACKAGE... ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../ChoiceFlag.h"
#include "../FixFlag.h"
#include "../PartFlag.h"
#include "../ShapeFlag.h"
#include "../Terminal.h"
#include "CommandTable.h"
#include "TargetFlags.h"
#include "anec/API/Inspect.h"
#include "lib/Report/Baseline.h"
#include "lib/Report/FindingReport.h"
#include "lib/Support/ShownText.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

enum class CheckFormat { Text, Json, Sarif, GitHub };
enum class FailOn { Error, Warning, Remark, Never };

class Check : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  void print(const CheckResult &result, const Diagnostics &diags) const;
  ExitCode writeKnown(const CheckResult &result,
                      const Diagnostics &sources) const;

  cl::list<std::string> paths{cl::Positional};
  ChoiceFlag<CheckFormat> format{
      "format", cl::value_desc("text|json|sarif|github"),
      cl::desc("Output format of findings:"), cl::init(CheckFormat::Text),
      cl::values(clEnumValN(CheckFormat::Text, "text", "for people"),
                 clEnumValN(CheckFormat::Json, "json", "for programs"),
                 clEnumValN(CheckFormat::Sarif, "sarif", "for code review"),
                 clEnumValN(CheckFormat::GitHub, "github",
                            "annotations of GitHub Actions"))};
  FrameworkFlag framework;
  ChoiceFlag<FailOn> failOn{
      "fail-on", cl::value_desc("error|warning|remark|never"),
      cl::desc("Exit with 1 if there are findings that are at least "
               "as severe as:"),
      cl::init(FailOn::Error),
      cl::values(clEnumValN(FailOn::Error, "error", "an error (default)"),
                 clEnumValN(FailOn::Warning, "warning", "a warning"),
                 clEnumValN(FailOn::Remark, "remark", "a remark"),
                 clEnumValN(FailOn::Never, "never",
                            "only if a program cannot "
                            "be read"))};
  cl::opt<std::string> baseline{
      "baseline", cl::value_desc("FILE.json"),
      cl::desc("Leave out the findings that the file lists, so that only "
               "others fail")};
  cl::opt<std::string> writeBaseline{
      "write-baseline", cl::value_desc("FILE.json"),
      cl::desc("Write the findings that would fail to the file, and exit "
               "with 0")};
  cl::opt<bool> all{"all", cl::desc("Print every place where a rule is broken, "
                                    "and all that is known of the rule")};
  ShapeFlag shapes;
  PartFlag part{
      "Of a pipeline of Core ML models, only the program of this part, "
      "from 0 (default: each)"};
  FixFlag fixed;
  TargetFlags target;
};

} // namespace

static ReportStyle textStyle(llvm::ArrayRef<std::string> files) {
  ReportStyle style;
  style.files = files.vec();
  // Longer lines are hard to read.
  if (unsigned columns = terminalColumns())
    style.width = std::min<size_t>(std::max(columns, 40u), style.width);
  style.colors = hasColors(llvm::outs());
  return style;
}

void Check::print(const CheckResult &result, const Diagnostics &diags) const {
  FindingDetail detail = all ? FindingDetail::All : FindingDetail::ByRule;
  switch (format) {
  case CheckFormat::Text:
    return printFindings(result, detail, textStyle(paths), diags, llvm::outs());
  case CheckFormat::GitHub:
    return printFindingAnnotations(result, detail, diags, llvm::outs());
  case CheckFormat::Json:
    return printFindingsJson(result, diags, llvm::outs());
  case CheckFormat::Sarif:
    return printFindingsSarif(result, diags, llvm::outs());
  }
}

static Severity severityOf(FailOn failOn) {
  return failOn == FailOn::Error     ? Severity::Error
         : failOn == FailOn::Warning ? Severity::Warning
                                     : Severity::Remark;
}

ExitCode Check::writeKnown(const CheckResult &result,
                           const Diagnostics &sources) const {
  if (failOn == FailOn::Never)
    return Done;
  Baseline written(writeBaseline, result, severityOf(failOn), sources);
  ExitCode code =
      runReporting([&](Diagnostics &diags) { return written.write(diags); });
  if (code == Done)
    llvm::outs() << showText(writeBaseline) << ": " << written.size()
                 << (written.size() == 1 ? " finding\n" : " findings\n");
  return code;
}

ExitCode Check::run(const Invocation &call) {
  if (paths.empty())
    return call.usageError("check takes programs; see anec check --help");
  for (const std::string &wrong : {shapes.check(), fixed.check()})
    if (!wrong.empty())
      return call.usageError(wrong);
  if (!baseline.empty() && !writeBaseline.empty())
    return call.usageError("--baseline and --write-baseline are for different "
                           "runs");
  CompileOptions options;
  options.shapes = shapes.values();
  options.part = part.value();
  options.values = fixed.values();
  CheckResult result;
  result.targets.clear();
  if (ExitCode code = target.read(call, options.passes, result.targets);
      code != Done)
    return code;
  options.passes.assumptions.path = framework.of(paths);
  result.assumptions = options.passes.assumptions;
  std::optional<Baseline> known;
  if (!baseline.empty())
    if (ExitCode code = runReporting([&](Diagnostics &diags) {
          known = Baseline::read(baseline, diags);
          return known.has_value();
        });
        code != Done)
      return code;
  // Diagnostics of the programs are printed among the findings.
  Diagnostics diags;
  for (const std::string &path : paths) {
    CheckedPrograms checked =
        checkFile(path, result.targets, options, diags,
                  format == CheckFormat::Text ? &result.outlooks : nullptr);
    llvm::append_range(result.findings, checked.findings);
    llvm::append_range(result.placements, checked.placements);
  }
  bool isRead = !diags.hasErrors();
  if (isRead && !writeBaseline.empty())
    return writeKnown(result, diags);
  if (known)
    known->apply(result, diags);
  print(result, diags);
  bool fails = failOn != FailOn::Never && result.reaches(severityOf(failOn));
  return runReporting([&](Diagnostics &) { return isRead && !fails; });
}

constinit const CommandDef commands::Check = {
    .name = "check",
    .group = commands::rules,
    .summary = "Report the rules of a chip that programs break",
    .synopsis = "FILE.tdsl|.ir|.mil|.onnx|.pt2|.mlpackage|.mlmodel|.mlmodelc|."
                "anepkg...",
    .details = "--target takes several chips, separated by commas.\n",
    .exits = "0 nothing that --fail-on names, 1 something is, or a program "
             "cannot\n  be read, 2 wrong usage, 3 system failure",
    .usual = "target for os fail-on assume baseline write-baseline all "
             "format shape",
    .examples = R"(  anec check out.mil --target=m1
  anec check out.mil --target=m1 --os=15.6
  anec check model.mil --target=m4 --for=coreml   which ops leave the engine
  anec check model.mil --target=m4 --shape=x=1x3x64   if its extents are unknown
  anec check model.mlpackage --target=m1
  anec check llama.anepkg --target=m4 --format=sarif
  anec check model.mlpackage --target=m1,m2,m4 --for=coreml --fail-on=warning
  anec check model.mlpackage --target=m1 --write-baseline=anec-baseline.json
  anec check model.mlpackage --target=m1 --baseline=anec-baseline.json
)",
    .make = makeCommand<::Check>,
};
