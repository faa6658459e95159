//===- ExplainCommand.cpp - anec explain RULE, and explain --log ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../ChoiceFlag.h"
#include "CommandTable.h"
#include "TargetFlags.h"
#include "anec/API/Inspect.h"
#include "anec/Report/ErrorDescription.h"
#include "anec/Report/RuleDescription.h"
#include "lib/Report/DiagnosticDescription.h"
#include "lib/Report/ErrorReport.h"
#include "lib/Report/ReferencePages.h"
#include "lib/Support/Suggestion.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

enum class ExplainFormat { Text, Json };

class Explain : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  ExitCode explainLog(const Invocation &call);
  ExitCode explainId(const Invocation &call) const;

  cl::opt<std::string> id{cl::Positional};
  cl::opt<std::string> log{
      "log", cl::value_desc("FILE|-"),
      cl::desc("Explain the errors of the engine and of Core ML in a log")};
  cl::opt<std::string> program{
      "program", cl::value_desc("FILE|PACKAGE"),
      cl::desc("The program of the log: show the places that can cause the "
               "errors")};
  ChoiceFlag<ExplainFormat> format{
      "format", cl::desc("Output format of --log:"),
      cl::init(ExplainFormat::Text),
      cl::values(clEnumValN(ExplainFormat::Text, "text", "for people"),
                 clEnumValN(ExplainFormat::Json, "json", "for programs"))};
  FrameworkFlag framework;
  TargetFlags target;
};

} // namespace

ExitCode Explain::explainLog(const Invocation &call) {
  CompileOptions options;
  if (ExitCode code = target.read(call, options.passes); code != Done)
    return code;
  options.passes.assumptions.path =
      framework.of(program.empty() ? llvm::ArrayRef<std::string>()
                                   : llvm::ArrayRef(program.getValue()));
  ExplainedLog explained;
  explained.path = log == "-" ? "<stdin>" : log.getValue();
  explained.program = program;
  ExitCode code = runReporting([&](Diagnostics &diags) {
    std::optional<ErrorLog> found = findErrorsInFile(log, diags);
    if (found)
      explained.log = std::move(*found);
    return found.has_value();
  });
  if (code != Done)
    return code;
  // Diagnostics of the program are printed among the errors.
  Diagnostics diags;
  explained.check.targets = {options.passes.target};
  explained.check.assumptions = options.passes.assumptions;
  if (!program.empty())
    explained.check.findings = checkFile(program, options, diags).findings;
  bool isRead = !diags.hasErrors();
  if (format == ExplainFormat::Json)
    printErrorsJson(explained, diags, llvm::outs());
  else
    printErrors(explained, diags, llvm::outs());
  return runReporting([&](Diagnostics &) { return isRead; });
}

ExitCode Explain::explainId(const Invocation &call) const {
  if (const Rule *rule = findRule(id)) {
    printRule(*rule, llvm::outs());
    return Done;
  }
  if (const KnownError *error = findKnownError(id)) {
    printKnownError(*error, llvm::outs());
    return Done;
  }
  std::vector<diag::AnyKind> messages = libraryDiagnostics();
  for (diag::AnyKind message : messages)
    if (message->id == id) {
      printDiagnostic(message, llvm::outs());
      return Done;
    }
  Suggestion suggestion(id);
  for (const Rule *rule : allRules())
    suggestion.consider(rule->id);
  for (const KnownError *error : allKnownErrors())
    suggestion.consider(error->id);
  for (diag::AnyKind message : messages)
    suggestion.consider(message->id);
  llvm::StringRef meant = suggestion.found();
  return call.usageError(
      "there is no rule, error or message `" + id + "`; " +
      (meant.empty() ? "docs/reference/rules.md, docs/reference/errors.md and "
                       "docs/reference/diagnostics.md "
                       "list them"
                     : "did you mean `" + meant + "`?"));
}

ExitCode Explain::run(const Invocation &call) {
  if (id.empty() == log.empty())
    return call.usageError(
        "explain takes a rule, an error, the id of a "
        "message, or --log; docs/reference/rules.md, docs/reference/errors.md "
        "and docs/reference/diagnostics.md list them");
  if (log.empty() && !program.empty())
    return call.usageError("--program belongs to --log");
  return log.empty() ? explainId(call) : explainLog(call);
}

constinit const CommandDef commands::Explain = {
    .name = "explain",
    .group = commands::rules,
    .summary = "Explain a rule, an error, a message, or the errors in a log",
    .synopsis = "RULE|ERROR|MESSAGE",
    .exits =
        "0 success, whatever the log has, 1 a file cannot be read, 2 wrong "
        "usage, or\n  an unknown id, 3 system failure",
    .examples = R"(  anec explain io-row-64
  anec explain ane-surface-size
  anec explain broadcast-mismatch             why, and an example of it
  anec explain --log=console.txt --program=model.mil --target=m4
)",
    .make = makeCommand<::Explain>,
};
