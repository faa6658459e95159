//===- DoctorCommand.cpp - ane-run doctor ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../NumberFlag.h"
#include "../Signals.h"
#include "BackendFlags.h"
#include "CommandTable.h"
#include "lib/Probe/Doctor.h"
#include "lib/Support/Endings.h"
#include "lib/Support/Json.h"
#include "llvm/Support/Process.h"

using namespace anec;
namespace cl = llvm::cl;

static constexpr BackendOption::Scope scopes[] = {BackendOption::Machine,
                                                  BackendOption::Inspect};

namespace {
class Doctor : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  std::string check();
  DoctorPath pathOf(BackendChoice choice, llvm::StringRef path) const;
  std::vector<DoctorPath> paths(const BackendChoice &choice) const;
  DoctorOptions options(const BackendChoice &choice) const;
  bool inspect(Diagnostics &diags) const;
  bool tryPrograms(Diagnostics &diags) const;

  MachineFlags machine{scopes};
  cl::opt<bool> json{"json", cl::desc("Print JSON")};
  cl::opt<bool> runs{
      "run", cl::desc("Run programs by every path, or by that of --path, and "
                      "compare them with the CPU backend")};
  cl::opt<bool> dryRun{
      "dry-run", cl::desc("With --run, print what would be done, and what may "
                          "happen, and run nothing")};
  cl::list<std::string> trials{
      "trial", cl::value_desc("NAME"),
      cl::desc("With --run, run only this program; can be repeated")};
  WholeFlag<unsigned> timeLimit{
      "time-limit", cl::value_desc("SECONDS"), cl::init(30),
      cl::desc("With --run, the time limit of each program (default 30)")};
  cl::opt<std::string> report{
      "o", cl::value_desc("FILE.json"),
      cl::desc("With --run, write a report to send, which "
               "anec --target=FILE.json reads")};
  cl::opt<bool> resume{
      "resume",
      cl::desc("With --run, keep the results that FILE.json has for this "
               "machine, and run only the others, or those of --trial")};
  cl::opt<bool> slow{
      "slow", cl::desc("With --run, also wait for the engine to go to sleep, "
                       "which takes 6 s for each path")};
};
} // namespace

/// The error in the flags; empty when they are valid.
std::string Doctor::check() {
  if (!runs)
    machine.require(
        "doctor", [](const BackendRow &row) { return row.inspect != nullptr; });
  if (std::string wrong = machine.check(); !wrong.empty())
    return wrong;
  const std::reference_wrapper<const cl::Option> ofRuns[] = {
      dryRun, trials, timeLimit, report, resume, slow};
  for (const cl::Option &flag : ofRuns)
    if (flag.getNumOccurrences() && !runs)
      return (flag.ArgStr.size() == 1 ? "-" : "--") + flag.ArgStr.str() +
             " requires --run";
  for (const std::string &name : trials)
    if (!isTrial(name))
      return "there is no program `" + name +
             "`; see ane-run doctor --run --dry-run";
  if (timeLimit == 0)
    return "--time-limit must be at least 1";
  if (std::string wrong = wrongEnding(report, {".json"});
      !report.empty() && !wrong.empty())
    return "-o: " + wrong;
  if (resume && report.empty())
    return "--resume requires -o with the file to continue";
  return "";
}

/// The path, with the reason why it cannot be opened.
DoctorPath Doctor::pathOf(BackendChoice choice, llvm::StringRef path) const {
  DoctorPath result{choice.row->name};
  result.childCommand = {ownExecutable(), "probe-one",
                         "--time-limit=" + std::to_string(timeLimit),
                         "--backend=" + choice.row->name};
  if (!path.empty()) {
    result.name = path.str();
    result.childCommand.push_back(("--path=" + path).str());
    choice.settings.values["path"] = path.str();
  }
  if (dryRun)
    return result;
  Diagnostics diags;
  if (!choice.open(diags)) {
    const Diagnostic &last = diags.all().back();
    result.unavailable = last.message + " [" + last.kind->id.str() + "]";
  }
  return result;
}

/// The path that is asked for, or all that the backend has.
std::vector<DoctorPath> Doctor::paths(const BackendChoice &choice) const {
  const BackendOption *option = choice.row->findOption("path");
  if (!option)
    return {pathOf(choice, "")};
  if (auto given = choice.settings.values.find("path");
      given != choice.settings.values.end())
    return {pathOf(choice, given->second)};
  std::vector<DoctorPath> all;
  for (const BackendOption::Value &path : option->choices)
    all.push_back(pathOf(choice, path.name));
  return all;
}

DoctorOptions Doctor::options(const BackendChoice &choice) const {
  DoctorOptions options;
  options.machine = choice.record();
  options.paths = paths(choice);
  if (choice.row->otherPath)
    options.otherPath =
        [this, choice](llvm::StringRef message) -> std::optional<DoctorPath> {
      std::string other = choice.row->otherPath(choice.settings, message);
      if (other.empty())
        return std::nullopt;
      return pathOf(choice, other);
    };
  options.trials = {trials.begin(), trials.end()};
  options.secondsEach = timeLimit;
  options.isSlow = slow;
  options.output = report;
  options.resume = resume;
  options.json = json;
  if (llvm::sys::Process::StandardErrIsDisplayed())
    options.status = &llvm::errs();
  options.stop = &stopRequested();
  options.highestErrorCode = MachineError;
  return options;
}

/// The inspection of the machine, with what is missing; null without one.
static llvm::json::Value inspectionOf(const BackendChoice &choice) {
  if (!choice.row->inspect)
    return nullptr;
  std::string text;
  llvm::raw_string_ostream out(text);
  Diagnostics missing;
  (void)choice.row->inspect(choice.settings, /*json=*/true, out, missing);
  JsonError error;
  std::optional<llvm::json::Value> value = parseJson(out.str(), error);
  return value ? std::move(*value) : llvm::json::Value(nullptr);
}

bool Doctor::inspect(Diagnostics &diags) const {
  BackendChoice choice = machine.choice();
  return choice.row->inspect(choice.settings, json, llvm::outs(), diags);
}

bool Doctor::tryPrograms(Diagnostics &diags) const {
  BackendChoice choice = machine.choice();
  DoctorOptions what = options(choice);
  if (dryRun) {
    printDoctorPlan(what, llvm::outs());
    return true;
  }
  // Nothing to report about a machine.
  if (!choice.row->isBuilt)
    return choice.open(diags) != nullptr;
  catchRequestsToStop();
  what.inspection = inspectionOf(choice);
  return runDoctor(what, llvm::outs(), diags);
}

ExitCode Doctor::run(const Invocation &call) {
  if (std::string wrong = check(); !wrong.empty())
    return call.usageError(wrong);
  return runReporting([&](Diagnostics &diags) {
    return runs ? tryPrograms(diags) : inspect(diags);
  });
}

constinit const CommandDef commands::Doctor = {
    .name = "doctor",
    .group = commands::machines,
    .summary = "Print which parts of the Neural Engine are available, and try "
               "programs on it",
    .details =
        "With --run, the report has the available parts, too. Programs that "
        "the compiler crashes on,\nor that never end, end only a process of "
        "their own. FILE.json is written before and after\neach.\n",
    .exits =
        "0 success, whatever the verdicts, 1 invalid input, 2 wrong usage, "
        "3 system\n  failure, no engine, or with --run no program that runs",
    .examples = R"(  ane-run doctor
  ane-run doctor --path=direct --json
  ane-run doctor --run --dry-run
  ane-run doctor --run -o here.json
  anec --target=here.json model.tdsl -o model.mil
)",
    .make = makeCommand<::Doctor>,
};
