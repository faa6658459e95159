//===- CheckCommand.cpp - anec check FILE|PACKAGE... ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "TargetFlags.h"
#include "anec/API/Inspect.h"
#include "anec/Report/FindingReport.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

enum class CheckFormat { Text, Json, Sarif };

class Check : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  void print(const CheckResult &result, Diagnostics &diags) const;

  cl::list<std::string> paths{cl::Positional};
  cl::opt<CheckFormat> format{
      "format", cl::desc("Output format of findings:"),
      cl::init(CheckFormat::Text),
      cl::values(clEnumValN(CheckFormat::Text, "text", "for people"),
                 clEnumValN(CheckFormat::Json, "json", "for programs"),
                 clEnumValN(CheckFormat::Sarif, "sarif", "for code review"))};
  TargetFlags target;
};

} // namespace

void Check::print(const CheckResult &result, Diagnostics &diags) const {
  switch (format) {
  case CheckFormat::Text:
    return printFindings(result, diags, llvm::outs());
  case CheckFormat::Json:
    return printFindingsJson(result, diags, llvm::outs());
  case CheckFormat::Sarif:
    return printFindingsSarif(result, diags, llvm::outs());
  }
}

ExitCode Check::run(const Invocation &call) {
  if (paths.empty())
    return call.usageError("check takes programs; see anec check --help");
  CompileOptions options;
  if (ExitCode code = target.read(call, options.passes); code != Done)
    return code;
  // Diagnostics of the programs are printed among the findings.
  Diagnostics diags;
  CheckResult result{options.passes.target, options.passes.assumptions, {}};
  for (const std::string &path : paths)
    llvm::append_range(result.findings, checkFile(path, options, diags));
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
  anec check llama.anepkg --target=m4 --format=sarif
)",
    .make = makeCommand<::Check>,
};
