//===- ProbeCommand.cpp - ane-run probe -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../NumberFlag.h"
#include "../Signals.h"
#include "BackendFlags.h"
#include "CommandTable.h"
#include "anec/Target/Rule.h"
#include "lib/Probe/Probe.h"
#include "lib/Support/Endings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Process.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Probe : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  std::string check() const;
  ProbeOptions options() const;

  BackendFlags backend;
  cl::list<std::string> rules{
      "rule", cl::value_desc("RULE"),
      cl::desc("Probe only this rule; can be repeated")};
  WholeFlag<unsigned> timeLimit{
      "time-limit", cl::value_desc("SECONDS"), cl::init(60),
      cl::desc("Time limit of each program (default 60)")};
  cl::opt<std::string> report{
      "o", cl::value_desc("FILE.json"),
      cl::desc("Write the results to FILE.json, for anec --target=FILE.json")};
  cl::opt<bool> resume{
      "resume",
      cl::desc("Keep the results that FILE.json has for this machine, and "
               "probe only the others, or the rules of --rule")};
  cl::opt<bool> skipDangerous{
      "skip-dangerous",
      cl::desc("Skip rules whose programs are known to crash the compiler or "
               "to need gigabytes of memory")};
  cl::opt<bool> time{"time",
                     cl::desc("Also time performance rules on the CPU, where "
                              "times say nothing about an engine")};
  cl::opt<bool> json{
      "json", cl::desc("Print the contents of FILE.json instead of text")};
};
} // namespace

/// The error in the flags; empty when they are valid.
std::string Probe::check() const {
  if (std::string wrong = backend.check(); !wrong.empty())
    return wrong;
  for (const std::string &id : rules)
    if (!findRule(id))
      return "there is no rule `" + id +
             "`; docs/reference/rules.md lists them";
  if (timeLimit == 0)
    return "--time-limit must be at least 1";
  if (std::string wrong = wrongEnding(report, {".json"});
      !report.empty() && !wrong.empty())
    return "-o: " + wrong;
  if (resume && report.empty())
    return "--resume requires -o with the file to continue";
  return "";
}

ProbeOptions Probe::options() const {
  ProbeOptions options;
  options.machine = backend.choice().record();
  options.rules = {rules.begin(), rules.end()};
  options.secondsEach = timeLimit;
  options.output = report;
  options.resume = resume;
  options.skipDangerous = skipDangerous;
  options.time = time;
  options.json = json;
  if (llvm::sys::Process::StandardErrIsDisplayed())
    options.status = &llvm::errs();
  options.stop = &stopRequested();
  options.highestErrorCode = MachineError;
  options.childCommand = {ownExecutable(), "probe-one",
                          "--time-limit=" + std::to_string(timeLimit)};
  llvm::append_range(options.childCommand, backend.words());
  return options;
}

ExitCode Probe::run(const Invocation &call) {
  if (std::string wrong = check(); !wrong.empty())
    return call.usageError(wrong);
  // A program that is refused is a result, not an error.
  return runReporting([&](Diagnostics &diags) {
    catchRequestsToStop();
    // A backend that cannot be opened would fail all programs. With a heartbeat
    // it keeps the engine awake between processes.
    BackendChoice choice = backend.choice();
    std::unique_ptr<Backend> awake = choice.open(diags);
    if (!awake)
      return false;
    if (choice.settings.values.count("heartbeat") == 0)
      awake.reset();
    return probe(options(), llvm::outs(), diags);
  });
}

constinit const CommandDef commands::Probe = {
    .name = "probe",
    .group = commands::machines,
    .summary = "Run programs that break and follow each rule, to find the "
               "rules that apply to this machine",
    .details = "Rules whose programs may crash more than their own process are "
               "probed last; FILE.json\n"
               "has the results of all other rules by then.\n",
    .exits = "0 rules were tested, whatever the verdicts, 1 invalid input, 2 "
             "wrong usage,\n  3 system failure, or no engine",
    .usual = "o rule skip-dangerous resume time json backend",
    .examples = R"(  ane-run probe --backend=ane -o here.json
  ane-run probe --backend=ane -o here.json --resume
  ane-run probe --backend=ane --rule=concat-extent
  anec check --target=here.json model.mil
)",
    .make = makeCommand<::Probe>,
};
