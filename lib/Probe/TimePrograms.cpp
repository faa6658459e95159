//===- TimePrograms.cpp - times the programs of a rule --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbeOutcome.h"
#include "lib/Probe/Probe.h"
#include "lib/Probe/Verdicts.h"
#include "lib/Target/RuleProgram.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <chrono>

using namespace anec;
namespace json = llvm::json;
using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

namespace {

/// One of the two programs, with its times.
struct Runner {
  Runner(const RuleProgram &program, const RuleProgram &meaning,
         const std::shared_ptr<Workspace> &workspace)
      : subject(program.text, meaning.text, probeSetting(program.rule),
                workspace) {}

  /// Why it cannot be timed; empty when it is ready to.
  std::string load(Backend &backend);
  bool execute(Diagnostics &diags) {
    Clock::time_point begin = Clock::now();
    bool ok = executable->execute(diags);
    seconds.push_back(secondsSince(begin));
    return ok;
  }
  /// The time per operation that `share` of all runs do not exceed.
  double perOperation(double share) {
    llvm::sort(seconds);
    return seconds[size_t(share * double(seconds.size() - 1))] /
           subject.operations();
  }
  json::Object toJson() {
    llvm::sort(seconds);
    return json::Object{{"median", seconds[seconds.size() / 2]},
                        {"lowest", seconds.front()},
                        {"highest", seconds.back()},
                        {"compile", loadSeconds},
                        {"operations", subject.operations()},
                        {"relative_error", asNumber(error.relative)}};
  }

  ProbeSubject subject;
  std::unique_ptr<Executable> executable;
  std::vector<double> seconds;
  double loadSeconds = 0;
  ProbeError error;
};

} // namespace

std::string Runner::load(Backend &backend) {
  Diagnostics diags;
  auto last = [&] {
    return diags.all().empty() ? "" : diags.all().back().message;
  };
  Clock::time_point begin = Clock::now();
  executable = subject.load(backend, diags);
  loadSeconds = secondsSince(begin);
  std::vector<std::vector<uint8_t>> results;
  if (!executable || !subject.run(*executable, results, diags))
    return "refused: " + last();
  // Outputs are checked, because a program that computes nothing is fast.
  std::optional<ProbeError> off = subject.compare(std::move(results), diags);
  if (!off)
    return "ran: " + last();
  error = *off;
  return subject.isRight(error) ? "" : "wrong";
}

/// Runs both alternately, so that other work of the machine slows down both.
static bool takeTurns(Runner &bad, Runner &good, double seconds,
                      Diagnostics &diags) {
  constexpr unsigned fewest = 5, most = 41, warmUp = 2;
  Clock::time_point begin = Clock::now();
  for (unsigned turn = 0; turn < most + warmUp; ++turn) {
    if (!bad.execute(diags) || !good.execute(diags))
      return false;
    if (turn + 1 == warmUp) {
      bad.seconds.clear();
      good.seconds.clear();
    }
    if (turn + 1 >= fewest + warmUp && secondsSince(begin) > seconds)
      break;
  }
  return true;
}

static json::Object failed(ProgramOutcome what, llvm::StringRef why) {
  return json::Object{{"outcome", spelling(what)}, {"message", why}};
}

/// The ratios of the times per operation of the program that breaks the rule to
/// those of the other: of the medians, and of the quartiles that are closest
/// and furthest apart.
static json::Object compareTimes(Runner &bad, Runner &good) {
  json::Object times{{"outcome", spelling(ProgramOutcome::Timed)}};
  if (bad.subject.setting().ofCompiling) {
    double ratio = bad.loadSeconds / good.loadSeconds;
    times["ratio"] = times["least_ratio"] = times["most_ratio"] = ratio;
  } else {
    times["ratio"] = bad.perOperation(0.5) / good.perOperation(0.5);
    times["least_ratio"] = bad.perOperation(0.25) / good.perOperation(0.75);
    times["most_ratio"] = bad.perOperation(0.75) / good.perOperation(0.25);
  }
  times["threshold"] = bad.subject.setting().slowerFrom;
  times["runs"] = int64_t(bad.seconds.size());
  times["breaking"] = bad.toJson();
  times["keeping"] = good.toJson();
  return times;
}

static json::Object run(const RuleProgram &bad, const RuleProgram &good,
                        unsigned limit, Backend &backend,
                        const std::shared_ptr<Workspace> &workspace) {
  Runner breaking(bad, good, workspace), keeping(good, good, workspace);
  for (Runner *one : {&breaking, &keeping})
    if (std::string why = one->subject.prepare(); !why.empty())
      return failed(ProgramOutcome::NotTried, why);
  if (std::string why = breaking.load(backend); !why.empty())
    return failed(ProgramOutcome::Failed, "the one that breaks it is " + why);
  if (std::string why = keeping.load(backend); !why.empty())
    return failed(ProgramOutcome::Failed, "the one that keeps it is " + why);
  Diagnostics diags;
  // Much of the limit was used for compiling and comparing.
  if (!takeTurns(breaking, keeping, limit / 4.0, diags))
    return failed(ProgramOutcome::Failed, diags.all().back().message);
  return compareTimes(breaking, keeping);
}

json::Object anec::timeRulePrograms(llvm::StringRef rule, unsigned seconds,
                                    Backend &backend,
                                    std::shared_ptr<Workspace> workspace) {
  const RuleProgram *bad = findRuleProgram(rule, "bad");
  const RuleProgram *good = findRuleProgram(rule, "good");
  assert(bad && good && "see isRuleProgram");
  return run(*bad, *good, seconds, backend, workspace);
}
