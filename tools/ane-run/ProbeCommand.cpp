//===- ProbeCommand.cpp - the command line of ane-run probe ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../ExitCode.h"
#include "BackendFlags.h"
#include "Probe.h"
#include "ProbeProgram.h"
#include "StopRequest.h"
#include "anec/Target/Rule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Process.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
cl::OptionCategory probeCategory("ane-run probe options");
cl::SubCommand
    probeCommand("probe",
                 "Run programs that break and keep each rule, to see which "
                 "hold here\n\n"
                 "EXAMPLES:\n"
                 "  ane-run probe --backend=ane -o here.json\n"
                 "  ane-run probe --backend=ane -o here.json --resume\n"
                 "  ane-run probe --backend=ane --rule=concat-extent\n"
                 "  anec check --target=here.json model.mil\n\n"
                 "Rules whose programs may take more than a process with them "
                 "come last; what was seen is in FILE.json by then.");
cl::SubCommand oneCommand("probe-one",
                          "What probe has children do; not for people");
cl::list<std::string> ruleIds("rule", cl::value_desc("RULE"),
                              cl::desc("This rule alone; may be repeated"),
                              cl::sub(probeCommand), cl::cat(probeCategory));
cl::opt<unsigned> timeLimit("time-limit", cl::value_desc("SECONDS"),
                            cl::init(60),
                            cl::desc("For each program (default 60)"),
                            cl::sub(probeCommand), cl::sub(oneCommand),
                            cl::cat(probeCategory));
cl::opt<std::string> reportFile("o", cl::value_desc("FILE.json"),
                                cl::desc("Write what was seen there, for anec "
                                         "--target=FILE.json"),
                                cl::sub(probeCommand), cl::cat(probeCategory));
cl::opt<bool> resumeFlag("resume",
                         cl::desc("Keep what FILE.json has of this machine, "
                                  "and try the rest, or the rules of --rule"),
                         cl::sub(probeCommand), cl::cat(probeCategory));
cl::opt<bool> skipDangerous(
    "skip-dangerous",
    cl::desc("Leave out rules whose programs were seen to crash the compiler, "
             "or take gigabytes"),
    cl::sub(probeCommand), cl::cat(probeCategory));
cl::opt<bool> timeFlag("time",
                       cl::desc("Also time rules about speed where that says "
                                "nothing of an engine: on the processor"),
                       cl::sub(probeCommand), cl::cat(probeCategory));
cl::opt<bool> jsonFlag("json",
                       cl::desc("Print what FILE.json gets, instead of lines"),
                       cl::sub(probeCommand), cl::cat(probeCategory));
cl::opt<std::string> probeName(cl::Positional, cl::desc("RULE.bad|good|times"),
                               cl::sub(oneCommand), cl::cat(probeCategory));
BackendFlags probeBackend(probeCategory, probeCommand, oneCommand);
} // namespace

void anec::hideFlagsInProbe() {
  cl::HideUnrelatedOptions(probeCategory, probeCommand);
  cl::HideUnrelatedOptions(probeCategory, oneCommand);
}

/// What is wrong with the flags; empty when nothing is.
static std::string checkProbeFlags() {
  if (std::string wrong = probeBackend.check(); !wrong.empty())
    return wrong;
  for (const std::string &id : ruleIds)
    if (!findRule(id))
      return "there is no rule `" + id + "`; see anec --dump-docs=rules";
  if (timeLimit == 0)
    return "--time-limit is at least 1";
  if (resumeFlag && reportFile.empty())
    return "--resume goes on with the file of -o";
  auto [rule, kind] = llvm::StringRef(probeName).split('.');
  bool isProgram = kind == "times" ? findProbeProgram(rule, "bad") != nullptr
                                   : findProbeProgram(rule, kind) != nullptr;
  if (oneCommand && !isProgram)
    return "there is no program `" + probeName + "`";
  return "";
}

static ProbeOptions probeOptions() {
  ProbeOptions options;
  options.backend = probeBackend.choice();
  options.rules = {ruleIds.begin(), ruleIds.end()};
  options.secondsEach = timeLimit;
  options.output = reportFile;
  options.resume = resumeFlag;
  options.skipDangerous = skipDangerous;
  options.time = timeFlag;
  options.json = jsonFlag;
  options.showStatus = llvm::sys::Process::StandardErrIsDisplayed();
  options.stop = &stopRequested();
  options.childCommand = {ownExecutable(), "probe-one",
                          "--time-limit=" + std::to_string(timeLimit)};
  llvm::append_range(options.childCommand, probeBackend.words());
  return options;
}

static bool runOne(Diagnostics &diags) {
  auto [rule, kind] = llvm::StringRef(probeName).split('.');
  BackendChoice choice = probeBackend.choice();
  return kind == "times"
             ? probeTimes(rule, timeLimit, choice, llvm::outs(), diags)
             : probeOne(probeName, choice, llvm::outs(), diags);
}

static ExitCode runProbe() {
  if (std::string wrong = checkProbeFlags(); !wrong.empty())
    return usageError("ane-run", wrong);
  Diagnostics diags;
  bool ok = false;
  if (oneCommand) {
    ok = runOne(diags);
  } else {
    catchRequestsToStop();
    ok = probe(probeOptions(), llvm::outs(), diags);
  }
  finishOutput(diags);
  diags.print(llvm::errs(), llvm::errs().has_colors());
  // A program that is refused is what a probe wants to know.
  return exitCode(ok, diags);
}

std::optional<int> anec::runProbeCommands() {
  if (probeCommand || oneCommand)
    return runProbe();
  return std::nullopt;
}
