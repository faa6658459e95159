//===- RunTrial.cpp - runs one trial --------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbeOutcome.h"
#include "TrainTrial.h"
#include "TrialModule.h"
#include "lib/Support/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include <thread>

using namespace anec;
namespace json = llvm::json;
//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {

/// Runs the program of a trial, and what goes before it.
class TrialRun {
public:
  TrialRun(const Trial &trial, const TrialOptions &options, Backend &backend)
      : trial(trial), options(options), backend(backend),
        workspace(std::make_shared<Workspace>(options.session.threads)) {}
  json::Object run();

private:
  std::unique_ptr<ProbeSubject> subjectOf(const Trial &which,
                                          std::string &why) const;
  std::string runBefore();
  bool perform(ProbeSubject &subject, Executable &executable,
               std::vector<std::vector<uint8_t>> &outputs, Diagnostics &diags);
  void note(const Timing &timing);
  void noteSlowdown(const Timing &timing);

  const Trial &trial;
  const TrialOptions &options;
  Backend &backend;
  std::shared_ptr<Workspace> workspace;
  json::Object measured;
};

} // namespace

/// The prepared program of a trial. Returns null, with the reason in `why`,
/// when it cannot be made.
std::unique_ptr<ProbeSubject> TrialRun::subjectOf(const Trial &which,
                                                  std::string &why) const {
  const TrialProgram &program = programOf(which);
  std::unique_ptr<ProbeSubject> subject;
  if (program.isSource()) {
    Diagnostics diags;
    std::unique_ptr<Module> module =
        compileTrial(program, *options.target, diags);
    if (!module) {
      why = "anec does not compile it: " + lastMessage(diags);
      return nullptr;
    }
    subject = std::make_unique<ProbeSubject>(std::move(module), which.setting,
                                             workspace);
  } else {
    subject = std::make_unique<ProbeSubject>(program.text, program.text,
                                             which.setting, workspace);
  }
  why = subject->prepare();
  return why.empty() ? std::move(subject) : nullptr;
}

/// Runs the program that comes before. Returns why it did not run; empty when
/// it did, with any results.
std::string TrialRun::runBefore() {
  const Trial *other = findTrial(trial.before);
  if (!other)
    return "";
  std::string why;
  std::unique_ptr<ProbeSubject> subject = subjectOf(*other, why);
  if (!subject)
    return why;
  Diagnostics diags;
  std::unique_ptr<Executable> executable = subject->load(backend, diags);
  std::vector<std::vector<uint8_t>> results;
  if (!executable || !subject->run(*executable, results, diags))
    return ("`" + trial.before + "` does not run: " + lastMessage(diags)).str();
  return "";
}

/// Times runs with the inputs as they are: `most`, or fewer in `seconds`.
/// Returns nothing, with the reason reported, when the machine failed.
static std::optional<Timing> timeRuns(Executable &executable, size_t most,
                                      double seconds, Diagnostics &diags) {
  Timing timing;
  Stopwatch all;
  while (timing.size() < most && all.milliseconds() < 1000 * seconds) {
    Stopwatch one;
    if (!executable.execute(diags))
      return std::nullopt;
    timing.add(one.milliseconds());
  }
  return timing;
}

void TrialRun::note(const Timing &timing) {
  measured["median_ms"] = timing.median();
  measured["runs"] = int64_t(timing.size());
}

/// Compares the times of the first and of the last runs.
void TrialRun::noteSlowdown(const Timing &timing) {
  constexpr size_t share = 200;
  if (timing.size() < 2 * share)
    return;
  auto medianOf = [](llvm::ArrayRef<double> runs) {
    Timing part;
    for (double milliseconds : runs)
      part.add(milliseconds);
    return part.median();
  };
  double first = medianOf(timing.runs().take_front(share));
  double last = medianOf(timing.runs().take_back(share));
  measured["first_ms"] = first;
  measured["last_ms"] = last;
  measured["slowdown"] = last / first;
}

/// Runs the program as the trial says; the outputs are those of the last run.
bool TrialRun::perform(ProbeSubject &subject, Executable &executable,
                       std::vector<std::vector<uint8_t>> &outputs,
                       Diagnostics &diags) {
  if (!subject.run(executable, outputs, diags))
    return false;
  std::optional<Timing> timing;
  switch (trial.kind) {
  case TrialKind::Once:
    timing = timeRuns(executable, 21, 0.5, diags);
    if (timing)
      note(*timing);
    return timing.has_value();
  case TrialKind::AfterIdle:
    std::this_thread::sleep_for(std::chrono::seconds(idleSeconds));
    return subject.run(executable, outputs, diags);
  case TrialKind::Many:
    // Much of the limit is left for compiling.
    timing = timeRuns(executable, 30000, options.seconds / 3.0, diags);
    if (!timing)
      return false;
    note(*timing);
    noteSlowdown(*timing);
    return subject.run(executable, outputs, diags);
  case TrialKind::Training:
    break;
  }
  llvm_unreachable("a trial without a program");
}

/// The errors of the outputs that are wrong.
static json::Array wrongOutputs(const ProbeSubject &subject,
                                const ProbeError &error) {
  json::Array outputs;
  for (auto [port, one] : llvm::zip(subject.outputs(), error.ofOutputs))
    if (!subject.isRight(one))
      outputs.push_back(json::Object{{"name", port.name},
                                     {"relative_error", asNumber(one.relative)},
                                     {"largest_error", asNumber(one.largest)}});
  return outputs;
}

json::Object TrialRun::run() {
  Stopwatch whole;
  std::string why;
  std::unique_ptr<ProbeSubject> subject = subjectOf(trial, why);
  if (subject)
    why = runBefore();
  if (!why.empty())
    return toJson({ProgramOutcome::NotTried, why}, whole.milliseconds() / 1000);
  Stopwatch load;
  ProbeOutcome outcome =
      tryProgram(*subject, backend,
                 [&](Executable &executable, auto &outputs, auto &diags) {
                   measured["load_ms"] = load.milliseconds();
                   return perform(*subject, executable, outputs, diags);
                 });
  json::Object json = toJson(outcome, whole.milliseconds() / 1000);
  if (outcome.what == ProgramOutcome::Wrong)
    json["outputs"] = wrongOutputs(*subject, *outcome.error);
  if (outcome.error)
    json["measured"] = std::move(measured);
  return json;
}

//===----------------------------------------------------------------------===//
// A trial
//===----------------------------------------------------------------------===//

bool anec::isTrial(llvm::StringRef name) { return findTrial(name); }

json::Object anec::runTrial(llvm::StringRef name, const TrialOptions &options) {
  const Trial *trial = findTrial(name);
  assert(trial && "see isTrial");
  if (trial->kind == TrialKind::Training)
    return trainTrial(*trial, options);
  Diagnostics diags;
  const ProgramSessionOptions &session = options.session;
  Backends builtin = Backends::builtin();
  const Backends &backends = session.backends ? *session.backends : builtin;
  std::unique_ptr<Backend> backend =
      backends.open(session.backend, session.settings, diags);
  if (!backend)
    return toJson(failedOutcome(diags), 0);
  return TrialRun(*trial, options, *backend).run();
}
