//===- ProbeOneCommand.cpp - tries one program, for probe -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BackendFlags.h"
#include "CommandTable.h"
#include "anec/Probe/Probe.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class ProbeOne : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  BackendFlags backend;
  cl::opt<unsigned> timeLimit{
      "time-limit", cl::value_desc("SECONDS"), cl::init(60),
      cl::desc("Time limit of each program (default 60)")};
  cl::opt<std::string> name{cl::Positional};
};
} // namespace

ExitCode ProbeOne::run(const Invocation &call) {
  if (std::string wrong = backend.check(); !wrong.empty())
    return call.usageError(wrong);
  if (timeLimit == 0)
    return call.usageError("--time-limit must be at least 1");
  if (!isRuleProgram(name))
    return call.usageError("there is no program `" + name + "`");
  return runReporting([&](Diagnostics &diags) {
    std::unique_ptr<Backend> opened = backend.choice().open(diags);
    if (!opened)
      return false;
    llvm::StringRef rule = name;
    llvm::json::Object result =
        rule.consume_back(".times")
            ? timeRulePrograms(rule, timeLimit, *opened,
                               backend.load().workspace)
            : runRuleProgram(name, *opened, backend.load().workspace);
    llvm::outs() << llvm::json::Value(std::move(result)) << '\n';
    return true;
  });
}

constinit const CommandDef commands::ProbeOne = {
    .name = "probe-one",
    .summary = "Run one program of a rule, in a child process of probe",
    .synopsis = "RULE.bad|good|times",
    .isHidden = true,
    .make = makeCommand<::ProbeOne>,
};
