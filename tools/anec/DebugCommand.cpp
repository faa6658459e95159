//===- DebugCommand.cpp - anec debug --------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "TargetFlags.h"
#include "lib/Probe/Measured.h"
#include "lib/Report/ReferencePages.h"
#include "lib/Report/RuleAccuracy.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

class Debug : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  ExitCode printPage(const Invocation &call) const;
  ExitCode compareVerdicts(const Invocation &call) const;

  cl::opt<std::string> dumpDocs{
      "dump-docs",
      cl::value_desc("ops|passes|rules|targets|chips|errors|diagnostics|onnx|"
                     "pytorch"),
      cl::desc("Print a page of docs/ that is made from the tables")};
  cl::opt<std::string> verdicts{
      "verdicts", cl::value_desc("FILE.jsonl"),
      cl::desc("Compare the rules with recorded verdicts of the vendor's "
               "compiler; prints Markdown")};
  TargetFlags target;
};

} // namespace

ExitCode Debug::printPage(const Invocation &call) const {
  if (dumpDocs == "chips")
    return runReporting([](Diagnostics &diags) {
      return printChipsPage(measuredFolder(), llvm::outs(), diags);
    });
  if (printReferencePage(dumpDocs, libraryDiagnostics(), llvm::outs()))
    return Done;
  return call.usageError(
      "--dump-docs takes `ops`, `passes`, `rules`, `targets`, `chips`, "
      "`errors`, `diagnostics`, `onnx` or `pytorch`, not `" +
      dumpDocs + "`");
}

ExitCode Debug::compareVerdicts(const Invocation &call) const {
  PassManagerOptions options;
  if (ExitCode code = target.read(call, options); code != Done)
    return code;
  return runReporting([&](Diagnostics &diags) {
    std::optional<std::vector<RecordedVerdicts>> records =
        readVerdicts(verdicts, diags);
    if (records)
      printRuleAccuracy(*records, options.assumptions, llvm::outs());
    return records.has_value();
  });
}

ExitCode Debug::run(const Invocation &call) {
  bool isPage = dumpDocs.getNumOccurrences() != 0;
  if (isPage != verdicts.empty())
    return call.usageError("debug takes either --dump-docs or --verdicts; see "
                           "anec debug --help");
  return isPage ? printPage(call) : compareVerdicts(call);
}

constinit const CommandDef commands::Debug = {
    .name = "debug",
    .group = commands::development,
    .summary = "Print what the tables of anec say, for those who change it",
    .usual = "dump-docs verdicts",
    .examples = R"(  anec debug --dump-docs=ops > docs/reference/ops.md
  anec debug --verdicts=test/Target/Inputs/verdicts.jsonl
)",
    .make = makeCommand<::Debug>,
};
