//===- DoctorText.cpp - the text that the doctor prints -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DoctorText.h"
#include "lib/Probe/HazardVerdict.h"
#include "lib/Probe/Verdicts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace anec;
namespace json = llvm::json;

static constexpr size_t lineWidth = 80;
static constexpr size_t nameWidth = 18, cellWidth = 10;

std::vector<const Trial *> anec::chosenTrials(const DoctorOptions &options) {
  std::vector<const Trial *> chosen;
  for (const Trial &trial : allTrials())
    if (options.trials.empty() ||
        llvm::is_contained(options.trials, trial.name))
      chosen.push_back(&trial);
  return chosen;
}

/// Prints words in lines that are indented and no longer than 80 columns, where
/// words allow that.
static void printWrapped(llvm::StringRef text, size_t indent,
                         llvm::raw_ostream &out) {
  size_t column = 0;
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(text, words);
  for (llvm::StringRef word : words) {
    if (column > 0 && column + 1 + word.size() > lineWidth) {
      out << '\n';
      column = 0;
    }
    if (column == 0)
      out.indent(unsigned(indent));
    else
      out << ' ';
    column += (column == 0 ? indent : 1) + word.size();
    out << word;
  }
  out << '\n';
}

//===----------------------------------------------------------------------===//
// Before
//===----------------------------------------------------------------------===//

static std::string minutesText(unsigned seconds) {
  return seconds < 120 ? llvm::formatv("{0} s", seconds).str()
                       : llvm::formatv("{0} min", (seconds + 59) / 60).str();
}

/// `1 path`, `4 paths`.
static std::string counted(size_t count, llvm::StringRef noun) {
  return (llvm::Twine(count) + " " + noun + (count == 1 ? "" : "s")).str();
}

static std::string namesOf(llvm::ArrayRef<DoctorPath> paths) {
  std::vector<std::string> names;
  for (const DoctorPath &path : paths)
    names.push_back(path.name);
  return llvm::join(names, ", ");
}

static void printPlan(const DoctorOptions &options, llvm::raw_ostream &out) {
  size_t count = chosenTrials(options).size();
  bool isEngine = options.machine.isEngine;
  if (!isEngine)
    out << "no engine: the " << options.machine.backend
        << " backend stands for it\n";
  printWrapped(
      llvm::formatv("{0} by {1} ({2}), each in a process of its own that is "
                    "ended after {3} s: at most {4} in all. Ctrl-C ends it "
                    "early.",
                    counted(count, "program"),
                    counted(options.paths.size(), "path"),
                    namesOf(options.paths), options.secondsEach,
                    minutesText(unsigned(count * options.paths.size()) *
                                options.secondsEach))
          .str(),
      0, out);
  if (!isEngine)
    return;
  printWrapped("What may happen: the engine's compiler crashes or never ends, "
               "which ends only that process; macOS may show a crash report.",
               0, out);
  if (options.isSlow)
    printWrapped("With `--slow`, a program runs after 6 s without work: on "
                 "macOS 26.5 and earlier, this was once seen to freeze the "
                 "machine. Save your work.",
                 0, out);
}

void anec::announceDoctor(const DoctorOptions &options,
                          llvm::raw_ostream &out) {
  printPlan(options, out);
  std::vector<std::string> names;
  for (const Trial *trial : chosenTrials(options))
    names.push_back(trial->name.str());
  printWrapped("Programs: " + llvm::join(names, ", "), 0, out);
  for (const DoctorPath &path : options.paths)
    if (!path.unavailable.empty())
      printWrapped(path.name + " cannot be opened: " + path.unavailable, 0,
                   out);
  out << '\n';
  DoctorTable(options.paths).printHead(out);
}

void anec::printDoctorPlan(const DoctorOptions &options,
                           llvm::raw_ostream &out) {
  printPlan(options, out);
  out << '\n';
  auto summaryOf = [](const Trial &trial) {
    for (const Hazard &hazard : allHazards())
      if (hazard.id == trial.hazard)
        return hazard.summary;
    llvm_unreachable("a trial without a hazard");
  };
  for (const Trial *trial : chosenTrials(options))
    out << llvm::left_justify(trial->name, nameWidth) << ' '
        << summaryOf(*trial) << '\n';
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static std::string padded(llvm::StringRef text, size_t width) {
  std::string result = text.str();
  result.resize(std::max(width, text.size()), ' ');
  return result;
}

/// As many columns as fit, and the others in lines below.
void DoctorTable::printCells(
    llvm::StringRef name,
    llvm::function_ref<llvm::StringRef(const DoctorPath &)> cell,
    llvm::raw_ostream &out) const {
  std::string line = padded(name, nameWidth);
  auto endLine = [&] { out << llvm::StringRef(line).rtrim() << '\n'; };
  for (const DoctorPath &path : paths) {
    size_t width = std::max(cellWidth - 1, path.name.size());
    if (line.size() + 1 + width > lineWidth) {
      endLine();
      line = std::string(nameWidth, ' ');
    }
    line += ' ' + padded(cell(path), width);
  }
  endLine();
}

void DoctorTable::printHead(llvm::raw_ostream &out) const {
  printCells(
      "program",
      [](const DoctorPath &path) { return llvm::StringRef(path.name); }, out);
}

/// Whether there is something to say about an entry.
static bool isRemarkable(const json::Object &entry, const ProbeFile &report) {
  return trialVerdict(entry) != ProgramOutcome::Right ||
         (report.isOfEngine() && slowdownOf(entry) > slowerFrom);
}

/// What a failure was, in words.
static std::string reasonOf(const json::Object &entry) {
  std::string words;
  auto relative = entry.getNumber("relative_error");
  auto largest = entry.getNumber("largest_error");
  if (trialVerdict(entry) == ProgramOutcome::Wrong && relative && largest) {
    words = llvm::formatv("relative error {0}, of one element {1}",
                          llvm::format("%.3g", *relative),
                          llvm::format("%.3g", *largest));
    std::vector<std::string> names;
    if (const json::Array *outputs = entry.getArray("outputs"))
      for (const json::Value &output : *outputs)
        if (const json::Object *object = output.getAsObject())
          names.push_back(object->getString("name").value_or("").str());
    if (!names.empty())
      words += " in " + llvm::join(names, ", ");
  }
  if (double slowdown = slowdownOf(entry); slowdown > slowerFrom)
    words += llvm::formatv("{0}the last runs took {1:F2} times as long as the "
                           "first",
                           words.empty() ? "" : "; ", slowdown);
  if (auto why = entry.getString("why"))
    words += (words.empty() ? "" : "; ") + why->str();
  return words;
}

void DoctorTable::printRow(const ProbeFile &report, llvm::StringRef trial,
                           llvm::raw_ostream &out) {
  printCells(
      trial,
      [&](const DoctorPath &path) -> llvm::StringRef {
        const json::Object *entry = report.findTrial(path.name, trial);
        return entry ? *entry->getString("verdict") : "";
      },
      out);
  // Paths that fail alike are one line.
  std::vector<std::pair<std::string, std::string>> reasons; ///< and the paths
  for (const DoctorPath &path : paths) {
    const json::Object *entry = report.findTrial(path.name, trial);
    if (!entry || !isRemarkable(*entry, report))
      continue;
    // Said before the table.
    if (!path.unavailable.empty())
      continue;
    std::string reason = reasonOf(*entry);
    bool isSaid = trialVerdict(*entry) == ProgramOutcome::NotTried &&
                  !said.insert(path.name + ": " + reason).second;
    if (reason.empty() || isSaid)
      continue;
    auto same = llvm::find_if(
        reasons, [&](const auto &other) { return other.first == reason; });
    if (same == reasons.end())
      reasons.emplace_back(reason, path.name);
    else
      same->second += ", " + path.name;
  }
  for (const auto &[reason, names] : reasons)
    printWrapped(names + ": " + reason, 4, out);
}

//===----------------------------------------------------------------------===//
// After
//===----------------------------------------------------------------------===//

static unsigned countOf(llvm::ArrayRef<HazardVerdict> hazards,
                        llvm::StringRef verdict) {
  return unsigned(llvm::count_if(hazards, [&](const HazardVerdict &hazard) {
    return hazard.verdict == verdict;
  }));
}

void anec::printHazards(const ProbeFile &report, llvm::raw_ostream &out) {
  std::vector<HazardVerdict> hazards =
      judgeHazards(report.trials, report.isOfEngine());
  out << '\n'
      << llvm::left_justify("hazard", nameWidth) << ' '
      << llvm::left_justify("verdict", cellWidth) << "right/tried\n";
  for (const HazardVerdict &hazard : hazards) {
    out << llvm::left_justify(hazard.hazard, nameWidth) << ' '
        << llvm::left_justify(hazard.verdict, cellWidth)
        << llvm::formatv("{0}/{1}\n", hazard.right, hazard.tried);
    if (!hazard.failed.empty())
      printWrapped((llvm::join(hazard.failed, ", ") + ": " + hazard.summary +
                    (hazard.source.empty() ? "" : "; reported by ") +
                    hazard.source)
                       .str(),
                   4, out);
    if (!hazard.why.empty())
      printWrapped(hazard.why, 4, out);
  }
  out << llvm::formatv(
      "{0}: {1} not-seen, {2} present, {3} unclear\n",
      counted(hazards.size(), "hazard"), countOf(hazards, "not-seen"),
      countOf(hazards, "present"), countOf(hazards, "unclear"));
  printWrapped("A program that is right proves nothing for other shapes and "
               "values: no rule is dropped because of it. `ane-run probe "
               "--resume -o` tries the rules.",
               0, out);
  if (!report.isOfEngine())
    out << "no engine was tried: these results say nothing about an engine\n";
}
