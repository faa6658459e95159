//===- Doctor.cpp - composed programs on this machine ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Probe/Doctor.h"
#include "DoctorText.h"
#include "ProbeChild.h"
#include "StatusLine.h"
#include "Trials.h"
#include "lib/Probe/Diags.h"
#include "lib/Probe/HazardVerdict.h"
#include "lib/Probe/ProbeFile.h"
#include "lib/Probe/Verdicts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace anec;
namespace json = llvm::json;

namespace {

class Doctor {
public:
  Doctor(const DoctorOptions &options, llvm::raw_ostream &out,
         Diagnostics &diags)
      : options(options), out(out), diags(diags) {}
  bool run();

private:
  bool resume();
  bool isOfPaths(const json::Object &entry) const;
  bool isTriedAgain(const json::Object &entry) const;
  bool save();
  bool tryAll();
  bool tryOtherPath();
  void list(const DoctorPath &path);
  bool tryTrial(const Trial &trial, size_t number);
  json::Object tryBy(const DoctorPath &path, const Trial &trial);
  json::Object outcomeBy(const DoctorPath &path, const Trial &trial);
  std::string whyNot(const DoctorPath &path, const Trial &trial) const;
  bool isRight(const DoctorPath &path, llvm::StringRef trial) const;
  bool isHopeless(const DoctorPath &path) const;
  bool works(const DoctorPath &path) const;
  bool isStopped() const { return options.stop && *options.stop; }
  void printSummary() const;

  const DoctorOptions &options;
  llvm::raw_ostream &out;
  Diagnostics &diags;
  ProbeFile report;
  std::vector<const Trial *> trials;
  /// Whether an earlier probe left rules to be tried.
  bool rulesRemain = false;
  /// Those that are tried, and those of them that the table shows.
  std::vector<DoctorPath> paths = options.paths, shown = options.paths;
  DoctorTable table{shown};
  StatusLine status{options.status};
};

} // namespace

//===----------------------------------------------------------------------===//
// Trying
//===----------------------------------------------------------------------===//

bool Doctor::isRight(const DoctorPath &path, llvm::StringRef trial) const {
  const json::Object *entry = report.findTrial(path.name, trial);
  return entry && trialVerdict(*entry) == ProgramOutcome::Right;
}

/// Whether the basic programs were tried by a path, and none is right.
bool Doctor::isHopeless(const DoctorPath &path) const {
  return llvm::all_of(basicTrials, [&](llvm::StringRef basic) {
    return report.findTrial(path.name, basic) && !isRight(path, basic);
  });
}

/// Why a trial is not tried; empty when it is.
std::string Doctor::whyNot(const DoctorPath &path, const Trial &trial) const {
  if (!path.unavailable.empty())
    return path.unavailable;
  if (trial.kind == TrialKind::AfterIdle && !options.isSlow)
    return llvm::formatv("it waits {0} s for the engine to go to sleep, with "
                         "`--slow` only",
                         idleSeconds);
  if (const json::Object *before = report.findTrial(path.name, trial.before);
      before && !hasRun(*before))
    return ("`" + trial.before + "` is " + *before->getString("verdict") +
            " by this path")
        .str();
  if (isHopeless(path))
    return "none of `" +
           llvm::join(std::begin(basicTrials), std::end(basicTrials), "`, `") +
           "` is right by this path";
  return "";
}

/// The texts of a trial that reach the backend as they are.
static llvm::SmallVector<llvm::StringRef> textsOf(const Trial &trial) {
  llvm::SmallVector<llvm::StringRef> texts;
  for (const Trial *one : {&trial, findTrial(trial.before)})
    if (one && !programOf(*one).isSource())
      texts.push_back(programOf(*one).text);
  return texts;
}

/// Runs a trial in a child process.
json::Object Doctor::outcomeBy(const DoctorPath &path, const Trial &trial) {
  ProbeChild child{path.childCommand, options.secondsEach,
                   options.highestErrorCode, options.stop,
                   options.machine.stagingFolder};
  return child.run(("trial/" + trial.name).str(), textsOf(trial));
}

/// The entry of the report.
json::Object Doctor::tryBy(const DoctorPath &path, const Trial &trial) {
  json::Object entry{{"trial", trial.name}, {"path", path.name}};
  if (std::string why = whyNot(path, trial); !why.empty()) {
    entry["verdict"] = spelling(ProgramOutcome::NotTried);
    entry["why"] = why;
    return entry;
  }
  json::Object outcome = outcomeBy(path, trial);
  auto what = wordAt<ProgramOutcome>(outcome, "outcome");
  // A program without results to compare says nothing.
  bool isKnown = what && size_t(*what) < trialVerdicts;
  entry["verdict"] = spelling(isKnown ? *what : ProgramOutcome::NotTried);
  for (auto &[key, value] : outcome)
    if (llvm::StringRef name = key; name == "message")
      entry["why"] = std::move(value);
    else if (name != "outcome")
      entry[name.str()] = std::move(value);
  return entry;
}

/// Tries a trial by each path that the report has no entry of.
bool Doctor::tryTrial(const Trial &trial, size_t number) {
  bool isNew = false;
  for (const DoctorPath &path : shown) {
    if (report.findTrial(path.name, trial.name))
      continue;
    report.running = (path.name + "/" + trial.name).str();
    if (!save())
      return false;
    status.show(llvm::formatv("{0}/{1} {2}, {3}", number + 1, trials.size(),
                              trial.name, path.name)
                    .str());
    json::Object entry = tryBy(path, trial);
    report.running.clear();
    status.clear();
    if (isStopped())
      return true;
    report.trials.push_back(std::move(entry));
    isNew = true;
    if (!save())
      return false;
  }
  if (isNew && !options.json) {
    table.printRow(report, trial.name, out);
    out.flush();
  }
  return true;
}

/// Whether a path could be opened, and runs programs as far as they were tried.
bool Doctor::works(const DoctorPath &path) const {
  return path.unavailable.empty() && !isHopeless(path);
}

bool Doctor::tryAll() {
  if (llvm::none_of(shown, [](const DoctorPath &path) {
        return path.unavailable.empty();
      }))
    return true;
  for (size_t number = 0; number < trials.size() && !isStopped(); ++number)
    if (!tryTrial(*trials[number], number))
      return false;
  return true;
}

/// Tries the programs by another path when the first one refused one of them
/// for a reason that the other need not have.
bool Doctor::tryOtherPath() {
  if (!options.otherPath || isStopped())
    return true;
  std::optional<DoctorPath> other;
  for (const Trial *trial : trials)
    if (const json::Object *entry =
            report.findTrial(paths.front().name, trial->name);
        entry && !other && trialVerdict(*entry) == ProgramOutcome::Refused)
      other = options.otherPath(entry->getString("why").value_or(""));
  if (!other || llvm::any_of(paths, [&](const DoctorPath &path) {
        return path.name == other->name;
      }))
    return true;
  std::string first = paths.front().name;
  shown = {*other};
  table = DoctorTable(shown);
  paths.push_back(*other);
  list(*other);
  if (!options.json) {
    out << llvm::formatv(
        "\n{0} refuses programs for a reason that {1} need not "
        "have\n",
        first, other->name);
    table.printHead(out);
  }
  return tryAll();
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

bool Doctor::save() {
  return options.output.empty() ||
         writeProbeFile(report, options.output, diags);
}

/// Whether an entry is of a path that programs are run by now.
bool Doctor::isOfPaths(const json::Object &entry) const {
  return llvm::any_of(paths, [&](const DoctorPath &path) {
    return entry.getString("path") == path.name;
  });
}

/// Whether an entry of an earlier run is left to this one: of a trial that is
/// asked for, or one that was not tried, unless it ended the machine.
bool Doctor::isTriedAgain(const json::Object &entry) const {
  if (!isOfPaths(entry))
    return false;
  if (!options.trials.empty())
    return llvm::is_contained(options.trials, *entry.getString("trial"));
  return trialVerdict(entry) == ProgramOutcome::NotTried &&
         !entry.getBoolean("interrupted").value_or(false);
}

/// Takes over the entries of an earlier run on this machine, and the rules of a
/// probe.
bool Doctor::resume() {
  if (!llvm::sys::fs::exists(options.output))
    return true;
  std::optional<ProbeFile> before = readProbeFile(options.output, diags);
  if (!before)
    return false;
  if (!before->isOfSameMachine(report)) {
    diags.reportFile(options.output, diag::ProbeOfOtherMachine, before->chip,
                     before->system, report.chip, report.system);
    return false;
  }
  rulesRemain = !before->isComplete && !before->rules.empty() &&
                before->rules.size() < allRules().size();
  if (!before->rules.empty())
    report.path = before->path;
  report.rules = std::move(before->rules);
  for (json::Object &path : before->paths)
    if (!isOfPaths(path))
      report.paths.push_back(std::move(path));
  for (json::Object &entry : before->trials)
    if (!isTriedAgain(entry))
      report.trials.push_back(std::move(entry));
  auto [path, name] = llvm::StringRef(before->running).split('/');
  if (const Trial *trial = findTrial(name);
      trial && !report.findTrial(path, name) &&
      !llvm::is_contained(options.trials, name))
    report.trials.push_back(json::Object{
        {"trial", trial->name},
        {"path", path.str()},
        {"verdict", spelling(ProgramOutcome::NotTried)},
        {"interrupted", true},
        {"why", ("the machine or `ane-run` ended during it; `--trial=" + name +
                 "` tries it again")
                    .str()}});
  return true;
}

/// Adds a path to the report.
void Doctor::list(const DoctorPath &path) {
  json::Object entry{{"path", path.name}, {"opened", path.unavailable.empty()}};
  if (!path.unavailable.empty())
    entry["why"] = path.unavailable;
  llvm::erase_if(report.paths, [&](const json::Object &known) {
    return known.getString("path") == path.name;
  });
  report.paths.push_back(std::move(entry));
}

void Doctor::printSummary() const {
  if (options.json) {
    out << llvm::formatv("{0:2}", report.toJson()) << '\n';
    return;
  }
  printHazards(report, out);
  if (isStopped() && !options.output.empty())
    out << "stopped; `--resume` continues\n";
}

bool Doctor::run() {
  report = ProbeFile::ofMachine(options.machine);
  report.inspection = options.inspection;
  for (const DoctorPath &path : paths)
    list(path);
  if (options.resume && !resume())
    return false;
  trials = chosenTrials(options);
  if (!options.json) {
    announceDoctor(options, out);
    out.flush();
  }
  if (!tryAll() || !tryOtherPath())
    return false;
  report.isComplete = !rulesRemain && !isStopped();
  if (!save())
    return false;
  printSummary();
  if (llvm::any_of(paths, [&](const DoctorPath &path) { return works(path); }))
    return true;
  std::vector<std::string> names;
  for (const DoctorPath &path : paths)
    names.push_back(path.name);
  diags.report({}, diag::NoPathWorks, llvm::join(names, ", "));
  return false;
}

bool anec::runDoctor(const DoctorOptions &options, llvm::raw_ostream &out,
                     Diagnostics &diags) {
  return Doctor(options, out, diags).run();
}
