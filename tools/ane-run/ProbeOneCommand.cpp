//===- ProbeOneCommand.cpp - what probe has children do -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BackendFlags.h"
#include "CommandTable.h"
#include "Probe.h"
#include "ProbeProgram.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class ProbeOne : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  BackendFlags backend;
  cl::opt<unsigned> timeLimit{"time-limit", cl::value_desc("SECONDS"),
                              cl::init(60),
                              cl::desc("For each program (default 60)")};
  cl::opt<std::string> name{cl::Positional};
};
} // namespace

ExitCode ProbeOne::run(const Invocation &call) {
  if (std::string wrong = backend.check(); !wrong.empty())
    return call.usageError(wrong);
  if (timeLimit == 0)
    return call.usageError("--time-limit is at least 1");
  auto [rule, kind] = llvm::StringRef(name).split('.');
  bool isTimed = kind == "times";
  if (!findProbeProgram(rule, isTimed ? "bad" : kind))
    return call.usageError("there is no program `" + name + "`");
  BackendChoice choice = backend.choice();
  llvm::StringRef timedRule = rule;
  return runReporting([&](Diagnostics &diags) {
    return isTimed
               ? probeTimes(timedRule, timeLimit, choice, llvm::outs(), diags)
               : probeOne(name, choice, llvm::outs(), diags);
  });
}

constinit const CommandDef commands::ProbeOne = {
    .name = "probe-one",
    .summary = "Run one program of a rule, as a child process of probe",
    .synopsis = "RULE.bad|good|times",
    .isHidden = true,
    .make = makeCommand<::ProbeOne>,
};
