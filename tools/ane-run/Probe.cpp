//===- Probe.cpp - ane-run probe ------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Probe.h"
#include "../Diags.h"
#include "../ExitCode.h"
#include "BackendFlags.h"
#include "ProbeProgram.h"
#include "anec/Support/AtomicFile.h"
#include "anec/Target/Rule.h"
#include "anec/Target/Target.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
namespace cl = llvm::cl;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// What a child says of one program; what became of the child, otherwise.
static json::Object runChild(const ProbeOptions &options, llvm::StringRef rule,
                             llvm::StringRef kind, Diagnostics &diags) {
  if (!findProbeProgram(rule, kind))
    return json::Object{{"outcome", "no-program"}};
  llvm::SmallString<128> file;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("probe", "json", file)) {
    diags.reportFile("<temporary>", diag::CannotWrite, code.message());
    return {};
  }
  std::string name = (rule + "." + kind).str();
  llvm::SmallVector<llvm::StringRef, 8> words(options.childCommand.begin(),
                                              options.childCommand.end());
  words.push_back(name);
  std::string error;
  bool failed = false;
  int code = llvm::sys::ExecuteAndWait(
      words.front(), words, std::nullopt, {"", llvm::StringRef(file), ""},
      options.secondsEach, 0, &error, &failed);
  auto text = llvm::MemoryBuffer::getFile(file);
  std::string said = text ? (*text)->getBuffer().str() : "";
  (void)llvm::sys::fs::remove(file);
  if (llvm::Expected<json::Value> value = json::parse(said)) {
    if (json::Object *object = value->getAsObject(); object && code == 0)
      return *object;
  } else {
    llvm::consumeError(value.takeError());
  }
  bool late = llvm::StringRef(error).contains("timed out");
  return json::Object{{"outcome", late ? "timed-out" : "crashed"},
                      {"message", error.empty()
                                      ? "exit code " + std::to_string(code)
                                      : error}};
}

static llvm::StringRef outcomeOf(const json::Object &object) {
  return object.getString("outcome").value_or("");
}

/// Whether the rule is one of this machine's: programs that break it fail or
/// are wrong, and those that keep it are right.
static llvm::StringRef judge(const Rule &rule, const json::Object &breaking,
                             const json::Object &keeping) {
  // What is only slow is no failure, and text anec writes in one way.
  if (rule.ofText || rule.impact == Impact::Performance)
    return "not-probed";
  llvm::StringRef bad = outcomeOf(breaking), good = outcomeOf(keeping);
  bool breaks = bad == "refused" || bad == "wrong" || bad == "crashed" ||
                bad == "timed-out";
  if (good == "right" && breaks)
    return "holds";
  if (good != "right" || bad != "right")
    return "unclear";
  // What is wrong for some values need not be so for these.
  return rule.impact == Impact::Error ? "does-not-hold" : "not-seen";
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

/// The target that goes with the name that the system has for the chip.
static llvm::StringRef targetOf(llvm::StringRef chip) {
  struct Row {
    const char *words, *target;
  };
  static constexpr Row rows[] = {{"M3 Ultra", "m3-ultra"}, {"M1", "m1"},
                                 {"M2", "m2"},             {"M3", "m3"},
                                 {"M4", "m4"},             {"M5", "m5"}};
  for (const Row &row : rows)
    if (chip.contains(row.words) && findTarget(row.target))
      return row.target;
  return "generic";
}

namespace {
struct Machine {
  std::string chip = "not known", system = "not known";
};
} // namespace

static Machine thisMachine(const BackendChoice &choice) {
  Machine machine;
#ifdef ANEC_HAS_ANE
  if (choice.kind == BackendKind::Ane) {
    AneInspection found = inspectAne(choice.ane);
    machine = {found.chip, found.system};
  }
#endif
  return machine;
}

static bool writeReport(const ProbeOptions &options, json::Array rules,
                        json::Array assumptions, Diagnostics &diags) {
  Machine machine = thisMachine(options.backend);
  json::Object report{
      {"probe", 1},
      {"backend", options.backend.kind == BackendKind::Ane ? "ane" : "cpu"},
      {"chip", machine.chip},
      {"system", machine.system},
      {"target", targetOf(machine.chip)},
      {"assume", std::move(assumptions)},
      {"rules", std::move(rules)}};
  AtomicFiles files(diags);
  OutputFile *file = files.add(options.output);
  if (!file)
    return false;
  *file << llvm::formatv("{0:2}", json::Value(std::move(report))) << '\n';
  return files.commit();
}

bool anec::probe(const ProbeOptions &options, llvm::raw_ostream &out,
                 Diagnostics &diags) {
  json::Array rules, assumptions;
  llvm::StringMap<unsigned> counts;
  // One that cannot be had at all would fail all programs.
  if (!makeBackend(options.backend, diags))
    return false;
  for (const Rule *rule : allRules()) {
    if (!options.rules.empty() && !llvm::is_contained(options.rules, rule->id))
      continue;
    bool runs = !rule->ofText && rule->impact != Impact::Performance;
    json::Object bad, good;
    if (runs) {
      bad = runChild(options, rule->id, "bad", diags);
      good = runChild(options, rule->id, "good", diags);
    }
    if (diags.hasErrors())
      return false;
    llvm::StringRef verdict = judge(*rule, bad, good);
    ++counts[verdict];
    out << llvm::formatv("{0,-14} {1}", verdict, rule->id);
    if (runs)
      out << ": breaking it " << outcomeOf(bad) << ", keeping it "
          << outcomeOf(good);
    out << '\n';
    out.flush();
    if (verdict == "does-not-hold")
      assumptions.push_back((rule->id + "=allow").str());
    rules.push_back(json::Object{{"rule", rule->id},
                                 {"verdict", verdict},
                                 {"breaking", std::move(bad)},
                                 {"keeping", std::move(good)}});
  }
  out << counts["holds"] << " hold, " << counts["does-not-hold"] << " do not, " << counts["not-seen"] << " were not seen, " << counts["unclear"]
      << " are unclear, " << counts["not-probed"]
      << " cannot be probed\n";
  return options.output.empty() ||
         writeReport(options, std::move(rules), std::move(assumptions), diags);
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

namespace {
cl::OptionCategory probeCategory("ane-run probe options");
cl::SubCommand
    probeCommand("probe",
                 "Run programs that break and keep each rule, to see which "
                 "hold here\n\n"
                 "EXAMPLES:\n"
                 "  ane-run probe --backend=ane -o here.json\n"
                 "  anec check --target=here.json model.mil\n"
                 "  ane-run probe --backend=ane --rule=concat-extent");
cl::SubCommand oneCommand("probe-one",
                          "What probe has children do; not for people");
cl::list<std::string> ruleIds("rule", cl::value_desc("RULE"),
                              cl::desc("This rule alone; may be repeated"),
                              cl::sub(probeCommand), cl::cat(probeCategory));
cl::opt<unsigned> timeLimit("time-limit", cl::value_desc("SECONDS"),
                            cl::init(60),
                            cl::desc("For each program (default 60)"),
                            cl::sub(probeCommand), cl::cat(probeCategory));
cl::opt<std::string> reportFile("o", cl::value_desc("FILE.json"),
                                cl::desc("Write what was seen there, for anec "
                                         "--target=FILE.json"),
                                cl::sub(probeCommand), cl::cat(probeCategory));
cl::opt<std::string> probeName(cl::Positional, cl::desc("RULE.bad|good"),
                               cl::sub(oneCommand), cl::cat(probeCategory));
BackendFlags probeBackend(probeCategory, probeCommand, oneCommand);
} // namespace

void anec::hideFlagsInProbe() {
  cl::HideUnrelatedOptions(probeCategory, probeCommand);
  cl::HideUnrelatedOptions(probeCategory, oneCommand);
}

static ExitCode runProbe() {
  if (std::string wrong = probeBackend.check(); !wrong.empty())
    return usageError("ane-run", wrong);
  for (const std::string &id : ruleIds)
    if (!findRule(id))
      return usageError("ane-run", "there is no rule `" + id +
                                       "`; see anec --dump-docs=rules");
  if (timeLimit == 0)
    return usageError("ane-run", "--time-limit is at least 1");
  Diagnostics diags;
  ProbeOptions options;
  options.backend = probeBackend.choice();
  options.rules = {ruleIds.begin(), ruleIds.end()};
  options.secondsEach = timeLimit;
  options.output = reportFile;
  options.childCommand = {ownExecutable(), "probe-one"};
  llvm::append_range(options.childCommand, probeBackend.words());
  bool ok = oneCommand ? probeOne(probeName, options.backend, llvm::outs(),
                                  diags)
                       : probe(options, llvm::outs(), diags);
  finishOutput(diags);
  diags.print(llvm::errs(), llvm::errs().has_colors());
  // A program that is refused is what a probe wants to know.
  return ok ? Done : exitCode(ok, diags);
}

std::optional<int> anec::runProbeCommands() {
  if (probeCommand || oneCommand)
    return runProbe();
  return std::nullopt;
}
