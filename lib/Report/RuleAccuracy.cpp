//===- RuleAccuracy.cpp - rules beside recorded verdicts ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/RuleAccuracy.h"
#include "anec/MIL/Reader.h"
#include "anec/Target/Predict.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Ops.h"
#include "lib/Support/Digest.h"
#include "lib/Support/Json.h"
#include "lib/Target/Diags.h"
#include "lib/Target/Tasks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <map>
#include <set>

using namespace anec;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool parseLine(llvm::StringRef line, RecordedVerdicts &record,
                      std::string &wrong) {
  JsonError error;
  std::optional<json::Value> value = parseJson(line, error);
  if (!value) {
    wrong = error.message;
    return false;
  }
  const json::Object *object = value->getAsObject();
  const json::Object *accepted =
      object ? object->getObject("accepted") : nullptr;
  std::optional<llvm::StringRef> text =
      object ? object->getString("mil") : std::nullopt;
  if (!accepted || !text) {
    wrong = "it has no `mil` and `accepted`";
    return false;
  }
  record.text = text->str();
  record.family = object->getString("family").value_or("other").str();
  record.reason = object->getString("reason").value_or("").str();
  for (const auto &[target, verdict] : *accepted) {
    std::optional<bool> isAccepted = verdict.getAsBoolean();
    if (!isAccepted) {
      wrong = "`accepted` has values that are not `true` or `false`";
      return false;
    }
    record.accepted.push_back({target.str(), *isAccepted});
  }
  llvm::sort(record.accepted);
  const json::Object *tasks = object->getObject("tasks");
  if (object->get("tasks") && !tasks) {
    wrong = "`tasks` is not an object";
    return false;
  }
  if (tasks)
    for (const auto &[target, count] : *tasks) {
      std::optional<int64_t> number = count.getAsInteger();
      if (!number || *number < 1) {
        wrong = "`tasks` has values that are not positive integers";
        return false;
      }
      record.tasks.push_back({target.str(), *number});
    }
  llvm::sort(record.tasks);
  return true;
}

std::optional<std::vector<RecordedVerdicts>>
anec::readVerdicts(llvm::StringRef path, Diagnostics &diags) {
  std::optional<llvm::StringRef> text = diags.addFile(path);
  if (!text)
    return std::nullopt;
  std::vector<RecordedVerdicts> records;
  while (!text->empty()) {
    auto [line, rest] = text->split('\n');
    std::string wrong;
    if (!line.trim().empty() &&
        !parseLine(line, records.emplace_back(), wrong)) {
      diags.report({llvm::SMLoc::getFromPointer(line.begin()),
                    llvm::SMLoc::getFromPointer(line.end())},
                   diag::BadVerdict, wrong);
      return std::nullopt;
    }
    text = rest;
  }
  return records;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

namespace {

/// Numbers of programs.
struct VerdictCounts {
  unsigned accepted = 0, acceptedWithError = 0, acceptedWithWarning = 0;
  unsigned refused = 0, refusedWithError = 0;
};

struct RuleCounts {
  unsigned accepted = 0, refused = 0;
};

/// Predicted numbers of tasks, or numbers of ops, beside those recorded.
struct TaskCounts {
  unsigned equal = 0;
  llvm::SmallVector<double> logs; ///< of ratios, without their signs
  void add(double predicted, int64_t recorded) {
    equal += predicted == double(recorded);
    logs.push_back(
        std::fabs(std::log(std::max(predicted, 1.0) / double(recorded))));
  }
};

class Accuracy {
public:
  explicit Accuracy(const Assumptions &assumptions)
      : assumptions(assumptions) {}
  void add(const RecordedVerdicts &record);
  void print(llvm::raw_ostream &out) const;

private:
  void add(const RecordedVerdicts &record, llvm::StringRef target,
           bool isAccepted, bool hasError,
           const std::set<const Rule *> &broken);
  void printCounts(llvm::StringRef title,
                   const std::map<std::string, VerdictCounts> &rows,
                   llvm::raw_ostream &out) const;
  void printRules(llvm::raw_ostream &out) const;
  void printReasons(llvm::raw_ostream &out) const;
  void addTasks(const RecordedVerdicts &record, const Module &module);
  void printTasks(llvm::raw_ostream &out) const;

  const Assumptions &assumptions;
  std::map<std::string, VerdictCounts> ofTarget, ofFamily;
  std::map<std::string, RuleCounts> ofRule;
  /// By target, by whether the program is held out, and by what is counted.
  std::map<std::tuple<std::string, bool, std::string>, TaskCounts> ofTasks;
  std::map<std::string, unsigned> unparsed; ///< accepted, by their errors
  std::map<std::string, unsigned> notFound; ///< refused, by their reasons
  /// Refused for their weight files, which are not there, by their reasons.
  std::map<std::string, unsigned> ofWeightFile;
  std::map<std::string, unsigned> unknown; ///< by the names of targets
};

} // namespace

void Accuracy::add(const RecordedVerdicts &record) {
  Diagnostics diags;
  llvm::StringRef text = diags.addBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(record.text, "program.mil"));
  MILReadOptions reading;
  reading.missingWeights = MILReadOptions::MissingWeights::Ignore;
  std::unique_ptr<Module> module = readMIL(text, "", opTable(), diags, reading);
  if (module && !diags.hasErrors())
    addTasks(record, *module);
  MILOutline outline = outlineMIL(text);
  for (const auto &[name, isAccepted] : record.accepted) {
    const Target *target = findTarget(name);
    if (!target) {
      ++unknown[name];
      continue;
    }
    bool hasError = diags.hasErrors();
    if (hasError && isAccepted)
      ++unparsed[diags.all().front().kind->id.str()];
    std::set<const Rule *> broken;
    for (const Finding &finding :
         checkProgram(&outline, module.get(), *target, assumptions))
      broken.insert(finding.rule);
    for (const Rule *rule : broken)
      hasError |= assumptions.isError(*rule);
    add(record, target->name, isAccepted, hasError, broken);
  }
}

void Accuracy::addTasks(const RecordedVerdicts &record, const Module &module) {
  std::string digest = sha256(llvm::arrayRefFromStringRef(record.text));
  bool isHeldOut = llvm::hexDigitValue(digest[1]) % 2; // of the first byte
  for (const auto &[name, tasks] : record.tasks)
    if (const Target *target = findTarget(name)) {
      unsigned predicted = 0, ops = 0;
      for (const auto &function : module.functions) {
        predicted += countTasks(*function, *target);
        ops += countCost(*function).ops;
      }
      auto counts = [&](llvm::StringRef what) -> TaskCounts & {
        return ofTasks[{target->name.str(), isHeldOut, what.str()}];
      };
      counts("predicted tasks").add(predicted, tasks);
      counts("number of ops").add(ops, tasks);
    }
}

void Accuracy::printTasks(llvm::raw_ostream &out) const {
  if (ofTasks.empty())
    return;
  out << "\n## Tasks\n\n"
         "The compiler splits a program into tasks, of which the number is "
         "recorded. Beside it\n"
         "are the number that anec predicts (`--emit=report`) and the number "
         "of ops. Programs are\n"
         "held out if the first byte of their SHA-256 is odd: the prediction "
         "has nothing from\n"
         "them. The ratio is that of the two numbers, above 1 in either "
         "direction.\n\n"
         "| target | programs | what | number | equal | median ratio | typical "
         "ratio | worst ratio |\n"
         "|---|---|---|--:|--:|--:|--:|--:|\n";
  for (const auto &[key, counts] : ofTasks) {
    const auto &[target, isHeldOut, what] = key;
    PredictionError error = summarizeErrors(counts.logs);
    out << "| " << target << " | " << (isHeldOut ? "held out" : "others")
        << " | " << what
        << llvm::format(" | %u | %u | %.2f | %.2f | %.2f |\n", error.count,
                        counts.equal, error.median, error.typical, error.worst);
  }
}

/// Whether the program was refused for a weight file that whoever tried it had
/// written wrong: it says nothing of the text.
static bool isOfWeightFile(const RecordedVerdicts &record) {
  return llvm::StringRef(record.reason).starts_with("blob-header:");
}

void Accuracy::add(const RecordedVerdicts &record, llvm::StringRef target,
                   bool isAccepted, bool hasError,
                   const std::set<const Rule *> &broken) {
  if (!isAccepted && isOfWeightFile(record)) {
    ++ofWeightFile[record.reason];
    return;
  }
  bool hasWarning = llvm::any_of(broken, [&](const Rule *rule) {
    return assumptions.severityOf(*rule) == Severity::Warning;
  });
  for (VerdictCounts *counts :
       {&ofTarget[target.str()], &ofFamily[record.family]}) {
    counts->accepted += isAccepted;
    counts->acceptedWithError += isAccepted && hasError;
    counts->acceptedWithWarning += isAccepted && !hasError && hasWarning;
    counts->refused += !isAccepted;
    counts->refusedWithError += !isAccepted && hasError;
  }
  for (const Rule *rule : broken)
    ++(isAccepted ? ofRule[rule->id.str()].accepted
                  : ofRule[rule->id.str()].refused);
  if (!isAccepted && !hasError)
    ++notFound[record.reason.empty() ? "not known" : record.reason];
}

void Accuracy::printCounts(llvm::StringRef title,
                           const std::map<std::string, VerdictCounts> &rows,
                           llvm::raw_ostream &out) const {
  out << "\n| " << title
      << " | accepted | with an error | with warnings | refused | found | not "
         "found |\n|---|--:|--:|--:|--:|--:|--:|\n";
  VerdictCounts sum;
  auto row = [&](llvm::StringRef name, const VerdictCounts &counts) {
    out << "| " << name << " | " << counts.accepted << " | "
        << counts.acceptedWithError << " | " << counts.acceptedWithWarning
        << " | " << counts.refused << " | " << counts.refusedWithError << " | "
        << counts.refused - counts.refusedWithError << " |\n";
  };
  for (const auto &[name, counts] : rows) {
    row(name, counts);
    sum.accepted += counts.accepted;
    sum.acceptedWithError += counts.acceptedWithError;
    sum.acceptedWithWarning += counts.acceptedWithWarning;
    sum.refused += counts.refused;
    sum.refusedWithError += counts.refusedWithError;
  }
  row("all", sum);
}

void Accuracy::printRules(llvm::raw_ostream &out) const {
  out << "\n## Rules\n\n"
         "| rule | impact | accepted programs that break it | refused ones |\n"
         "|---|---|--:|--:|\n";
  for (const auto &[id, counts] : ofRule)
    out << "| [" << id << "](rules.md#" << id << ") | "
        << spelling(findRule(id)->impact) << " | " << counts.accepted << " | "
        << counts.refused << " |\n";
}

void Accuracy::printReasons(llvm::raw_ostream &out) const {
  auto list = [&](llvm::StringRef title,
                  const std::map<std::string, unsigned> &rows) {
    if (rows.empty())
      return;
    out << "\n## " << title << "\n\n";
    for (const auto &[name, count] : rows)
      out << "- " << name << ": " << count << '\n';
  };
  list("Accepted and not parsed", unparsed);
  list("Refused and not found", notFound);
  list("Refused for the weight file", ofWeightFile);
  list("Verdicts for chips that are not targets", unknown);
}

void Accuracy::print(llvm::raw_ostream &out) const {
  printCounts("target", ofTarget, out);
  out << "\n## Kinds of programs\n";
  printCounts("kind", ofFamily, out);
  printRules(out);
  printTasks(out);
  printReasons(out);
}

void anec::printRuleAccuracy(llvm::ArrayRef<RecordedVerdicts> programs,
                             const Assumptions &assumptions,
                             llvm::raw_ostream &out) {
  Accuracy accuracy(assumptions);
  for (const RecordedVerdicts &record : programs)
    accuracy.add(record);
  out << "# Accuracy of the rules\n\n"
         "Programs of which the verdict of the vendor's compiler is recorded, "
         "and what\n"
         "`anec check --for="
      << spelling(assumptions.path)
      << "` says of them. *With an error*: the\n"
         "compiler accepts them, and `check` does not. *Not found*: the "
         "compiler refuses\n"
         "them, and `check` does not. A program counts once for each target "
         "that has a\n"
         "verdict. Being accepted does not say that results are right. A "
         "refusal because of a\n"
         "weight file that was written wrong says nothing of the text, and is "
         "listed apart: the compiler's message is that the metadata of a "
         "record "
         "do not match.\n";
  accuracy.print(out);
}
