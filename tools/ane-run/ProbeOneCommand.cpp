//===- ProbeOneCommand.cpp - tries one program ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../NumberFlag.h"
#include "BackendFlags.h"
#include "CommandTable.h"
#include "anec/Target/Target.h"
#include "lib/Probe/Doctor.h"
#include "lib/Probe/Probe.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class ProbeOne : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  bool isKnown() const;
  llvm::json::Object runTrialNamed(llvm::StringRef trial) const;
  std::optional<llvm::json::Object> runRule(Diagnostics &diags) const;

  BackendFlags backend;
  WholeFlag<unsigned> timeLimit{
      "time-limit", cl::value_desc("SECONDS"), cl::init(60),
      cl::desc("Time limit of each program (default 60)")};
  cl::opt<std::string> name{cl::Positional};
};
} // namespace

bool ProbeOne::isKnown() const {
  auto [kind, trial] = llvm::StringRef(name).split('/');
  return isRuleProgram(name) || (kind == "trial" && isTrial(trial));
}

llvm::json::Object ProbeOne::runTrialNamed(llvm::StringRef trial) const {
  BackendChoice choice = backend.choice();
  TrialOptions options;
  options.session.backend = choice.row->name;
  options.session.backends = &toolBackends();
  options.session.settings = choice.settings;
  const Target *target = findTargetOfChip(choice.record().chip);
  options.target = target ? target : &genericTarget();
  options.seconds = timeLimit;
  return runTrial(trial, options);
}

/// Returns nothing, with the reason reported, when the backend cannot be
/// opened.
std::optional<llvm::json::Object> ProbeOne::runRule(Diagnostics &diags) const {
  std::unique_ptr<Backend> opened = backend.choice().open(diags);
  if (!opened)
    return std::nullopt;
  llvm::StringRef rule = name;
  if (rule.consume_back(".times"))
    return timeRulePrograms(rule, timeLimit, *opened, backend.load().workspace);
  return runRuleProgram(name, *opened, backend.load().workspace);
}

ExitCode ProbeOne::run(const Invocation &call) {
  if (std::string wrong = backend.check(); !wrong.empty())
    return call.usageError(wrong);
  if (timeLimit == 0)
    return call.usageError("--time-limit must be at least 1");
  if (!isKnown())
    return call.usageError("there is no program `" + name + "`");
  return runReporting([&](Diagnostics &diags) {
    llvm::StringRef trial = llvm::StringRef(name).split('/').second;
    std::optional<llvm::json::Object> result =
        trial.empty() ? runRule(diags) : runTrialNamed(trial);
    if (!result)
      return false;
    llvm::outs() << llvm::json::Value(std::move(*result)) << '\n';
    return true;
  });
}

constinit const CommandDef commands::ProbeOne = {
    .name = "probe-one",
    .summary = "Run one program of a rule or a trial, in a child process of "
               "probe or doctor",
    .synopsis = "RULE.bad|good|times|trial/NAME",
    .isHidden = true,
    .make = makeCommand<::ProbeOne>,
};
