//===- ProbeFile.cpp - the report of a probe ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Probe/ProbeFile.h"
#include "Trials.h"
#include "anec/Target/Rule.h"
#include "anec/Target/Target.h"
#include "lib/Probe/Diags.h"
#include "lib/Probe/HazardVerdict.h"
#include "lib/Probe/Verdicts.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"

using namespace anec;
namespace json = llvm::json;

static constexpr int64_t probeFileVersion = 3;

ProbeFile ProbeFile::ofMachine(const MachineRecord &machine) {
  ProbeFile report;
  const Target *target = findTargetOfChip(machine.chip);
  report.backend = machine.backend;
  report.framework = machine.framework.empty() ? "system" : machine.framework;
  report.path = machine.path;
  report.chip = machine.chip;
  report.system = machine.system;
  report.target = (target ? *target : genericTarget()).name.str();
  return report;
}

bool ProbeFile::isOfSameMachine(const ProbeFile &other) const {
  return backend == other.backend && framework == other.framework &&
         chip == other.chip && system == other.system;
}

const json::Object *ProbeFile::find(llvm::StringRef rule) const {
  for (const json::Object &entry : rules)
    if (entry.getString("rule") == rule)
      return &entry;
  return nullptr;
}

const json::Object *ProbeFile::findTrial(llvm::StringRef path,
                                         llvm::StringRef trial) const {
  for (const json::Object &entry : trials)
    if (entry.getString("path") == path && entry.getString("trial") == trial)
      return &entry;
  return nullptr;
}

std::vector<std::string> ProbeFile::deriveAssumptions() const {
  std::vector<llvm::StringRef> denied = rulesSeen(trials);
  std::vector<std::string> result;
  for (llvm::StringRef rule : denied)
    result.push_back((rule + "=deny").str());
  for (const json::Object &entry : rules)
    if (llvm::StringRef rule = entry.getString("rule").value_or("");
        wordAt<RuleVerdict>(entry, "verdict") == RuleVerdict::DoesNotHold &&
        !llvm::is_contained(denied, rule))
      result.push_back((rule + "=allow").str());
  llvm::sort(result);
  return result;
}

std::string ProbeFile::macOS() const {
  llvm::SmallVector<llvm::StringRef, 2> found;
  return isOfEngine() &&
                 llvm::Regex("([0-9]+([.][0-9]+)*)").match(system, &found)
             ? found[1].str()
             : "";
}

std::vector<std::pair<llvm::StringRef, unsigned>> ProbeFile::counts() const {
  std::vector<std::pair<llvm::StringRef, unsigned>> counts;
  for (llvm::StringRef verdict : allWords<RuleVerdict>())
    if (unsigned count = llvm::count_if(rules, [&](const json::Object &entry) {
          return entry.getString("verdict") == verdict;
        }))
      counts.push_back({verdict, count});
  return counts;
}

static json::Array toArray(llvm::ArrayRef<json::Object> objects) {
  json::Array array;
  for (const json::Object &object : objects)
    array.push_back(json::Object(object));
  return array;
}

static json::Array hazardsOf(const ProbeFile &file) {
  json::Array hazards;
  for (const HazardVerdict &hazard :
       judgeHazards(file.trials, file.isOfEngine())) {
    json::Object entry{{"hazard", hazard.hazard},
                       {"verdict", hazard.verdict},
                       {"right", hazard.right},
                       {"tried", hazard.tried}};
    if (!hazard.source.empty())
      entry["source"] = hazard.source;
    if (!hazard.why.empty())
      entry["why"] = hazard.why;
    if (!hazard.failed.empty())
      entry["failed"] = json::Array(hazard.failed);
    hazards.push_back(std::move(entry));
  }
  return hazards;
}

json::Value ProbeFile::toJson() const {
  json::Object count;
  for (auto [verdict, number] : counts())
    count[verdict] = number;
  json::Object object{{"probe", probeFileVersion},
                      {"anec", ANEC_VERSION},
                      {"complete", isComplete},
                      {"backend", backend},
                      {"framework", framework},
                      {"path", path},
                      {"chip", chip},
                      {"system", system},
                      {"target", target},
                      {"assume", json::Array(deriveAssumptions())},
                      {"counts", std::move(count)},
                      {"rules", toArray(rules)},
                      {"inspection", inspection},
                      {"paths", toArray(paths)},
                      {"hazards", hazardsOf(*this)},
                      {"trials", toArray(trials)}};
  if (!running.empty())
    object["running"] = running;
  return object;
}

bool anec::writeProbeFile(const ProbeFile &file, llvm::StringRef path,
                          Diagnostics &diags) {
  AtomicFiles files(diags);
  OutputFile *out = files.add(path);
  if (!out)
    return false;
  *out << llvm::formatv("{0:2}", file.toJson()) << '\n';
  return files.commit(AtomicFiles::Durability::Synced);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads a file, and reports the first thing that is wrong with it.
class Reader {
public:
  Reader(llvm::StringRef path, llvm::StringRef text, Diagnostics &diags)
      : path(path), text(text), diags(diags) {}
  bool read(ProbeFile &file);

private:
  bool readRule(const json::Value &value, ProbeFile &file);
  bool readTrial(const json::Value &value, ProbeFile &file);
  bool readAssumption(const json::Value &value, ProbeFile &file);
  bool wrong(const std::string &what) {
    diags.reportFile(path, diag::NoProbe, what);
    return false;
  }
  /// The same for the first occurrence of the string `value` in the text.
  bool wrongAt(llvm::StringRef value, const std::string &what) {
    size_t at = text.find(("\"" + value + "\"").str());
    if (at == llvm::StringRef::npos)
      return wrong(what);
    auto begin = llvm::SMLoc::getFromPointer(text.data() + at);
    auto end =
        llvm::SMLoc::getFromPointer(begin.getPointer() + value.size() + 2);
    diags.report({begin, end}, diag::NoProbe, what);
    return false;
  }

  llvm::StringRef path, text;
  Diagnostics &diags;
};

} // namespace

bool Reader::readRule(const json::Value &value, ProbeFile &file) {
  const json::Object *entry = value.getAsObject();
  auto id = entry ? entry->getString("rule") : std::nullopt;
  auto verdict = entry ? entry->getString("verdict") : std::nullopt;
  if (!id || !verdict)
    return wrong("an entry of `rules` has no `rule`, or no `verdict`");
  if (!findRule(*id))
    return wrongAt(*id, ("there is no rule `" + *id +
                         "`; another version of anec wrote it: probe again")
                            .str());
  if (!parseWord<RuleVerdict>(*verdict))
    return wrongAt(*verdict, ("there is no verdict `" + *verdict + "`").str());
  if (file.find(*id))
    return wrongAt(*id, ("rule `" + *id + "` occurs twice").str());
  file.rules.push_back(*entry);
  return true;
}

bool Reader::readTrial(const json::Value &value, ProbeFile &file) {
  const json::Object *entry = value.getAsObject();
  auto trial = entry ? entry->getString("trial") : std::nullopt;
  auto path = entry ? entry->getString("path") : std::nullopt;
  auto verdict = entry ? entry->getString("verdict") : std::nullopt;
  if (!trial || !path || !verdict)
    return wrong("an entry of `trials` has no `trial`, `path` or `verdict`");
  if (!anec::findTrial(*trial))
    return wrongAt(*trial, ("there is no trial `" + *trial +
                            "`; another version of anec wrote it: run "
                            "`ane-run doctor --run` again")
                               .str());
  if (!llvm::is_contained(allWords<ProgramOutcome>().first(trialVerdicts),
                          *verdict))
    return wrongAt(*verdict, ("there is no verdict `" + *verdict + "`").str());
  if (file.findTrial(*path, *trial))
    return wrongAt(
        *trial,
        ("trial `" + *trial + "` occurs twice by path `" + *path + "`").str());
  file.trials.push_back(*entry);
  return true;
}

bool Reader::readAssumption(const json::Value &value, ProbeFile &file) {
  llvm::StringRef assumption = value.getAsString().value_or("");
  auto [id, sense] = assumption.split('=');
  if (sense != "allow" && sense != "deny")
    return wrongAt(assumption, "an entry of `assume` is not `RULE=allow`");
  if (!findRule(id))
    return wrongAt(assumption,
                   ("there is no rule `" + id +
                    "`; another version of anec wrote it: probe again")
                       .str());
  file.assumptions.push_back(assumption.str());
  return true;
}

bool Reader::read(ProbeFile &file) {
  std::optional<json::Value> value = parseJson(text, diag::NoProbe, diags);
  if (!value)
    return false;
  const json::Object *object = value->getAsObject();
  if (!object)
    return wrong("it is not an object");
  auto version = object->getInteger("probe");
  if (!version)
    return wrong("it has no number called `probe`");
  if (*version != probeFileVersion)
    return wrong(llvm::formatv("it is of version {0}, and this anec reads {1}: "
                               "probe again",
                               *version, probeFileVersion)
                     .str());
  for (auto [name, to] : {std::pair("backend", &file.backend),
                          {"framework", &file.framework},
                          {"path", &file.path},
                          {"chip", &file.chip},
                          {"system", &file.system},
                          {"target", &file.target}}) {
    auto string = object->getString(name);
    if (!string)
      return wrong("it has no string called `" + std::string(name) + "`");
    *to = string->str();
  }
  if (!findTarget(file.target))
    return wrongAt(file.target, "there is no target `" + file.target + "`");
  auto complete = object->getBoolean("complete");
  const json::Array *rules = object->getArray("rules");
  const json::Array *assume = object->getArray("assume");
  const json::Array *trials = object->getArray("trials");
  if (!complete || !rules || !assume || !trials)
    return wrong("it has no `complete`, or no list called `rules`, `trials` or "
                 "`assume`");
  if (const json::Value *inspection = object->get("inspection"))
    file.inspection = *inspection;
  if (const json::Array *paths = object->getArray("paths"))
    for (const json::Value &path : *paths)
      if (const json::Object *entry = path.getAsObject())
        file.paths.push_back(*entry);
  file.isComplete = *complete;
  file.running = object->getString("running").value_or("").str();
  return llvm::all_of(
             *rules,
             [&](const json::Value &entry) { return readRule(entry, file); }) &&
         llvm::all_of(*trials,
                      [&](const json::Value &entry) {
                        return readTrial(entry, file);
                      }) &&
         llvm::all_of(*assume, [&](const json::Value &entry) {
           return readAssumption(entry, file);
         });
}

std::optional<ProbeFile> anec::readProbeFile(llvm::StringRef path,
                                             Diagnostics &diags) {
  std::optional<llvm::StringRef> text = diags.addFile(path);
  ProbeFile file;
  if (!text || !Reader(path, *text, diags).read(file))
    return std::nullopt;
  return file;
}
