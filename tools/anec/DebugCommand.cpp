//===- DebugCommand.cpp - anec debug --------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../ChoiceFlag.h"
#include "CommandTable.h"
#include "TargetFlags.h"
#include "lib/Probe/Measured.h"
#include "lib/Report/ReferencePages.h"
#include "lib/Report/RuleAccuracy.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

/// The page of chips, which needs the folder of measurements. The other pages
/// are those of `referencePageNames`.
constexpr llvm::StringLiteral chipsPage = "chips";

/// --dump-docs: the name of a page.
enum class PageIndex : size_t {};
struct PageFlag : ChoiceFlag<PageIndex> {
  PageFlag()
      : opt("dump-docs", cl::value_desc("PAGE"),
            cl::desc("Print a page of docs/ that is made from the tables:")) {
    names.push_back(chipsPage);
    for (auto [index, name] : llvm::enumerate(names))
      getParser().addLiteralOption(name, PageIndex(index), "");
  }
  llvm::StringRef name() const { return names[size_t(getValue())]; }

private:
  std::vector<llvm::StringRef> names = referencePageNames();
};

class Debug : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  ExitCode printPage() const;
  ExitCode compareVerdicts(const Invocation &call) const;

  PageFlag page;
  cl::opt<std::string> verdicts{
      "verdicts", cl::value_desc("FILE.jsonl"),
      cl::desc("Compare the rules with recorded verdicts of the vendor's "
               "compiler; prints Markdown")};
  TargetFlags target;
};

} // namespace

ExitCode Debug::printPage() const {
  return runReporting([&](Diagnostics &diags) {
    return page.name() == chipsPage
               ? printChipsPage(measuredFolder(), llvm::outs(), diags)
               : printReferencePage(page.name(), libraryDiagnostics(),
                                    llvm::outs());
  });
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
  bool isPage = page.getNumOccurrences() != 0;
  if (isPage != verdicts.empty())
    return call.usageError("debug takes either --dump-docs or --verdicts; see "
                           "anec debug --help");
  return isPage ? printPage() : compareVerdicts(call);
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
