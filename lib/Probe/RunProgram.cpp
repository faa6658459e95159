//===- RunProgram.cpp - runs one program of a rule ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbeSubject.h"
#include "anec/Probe/Diags.h"
#include "anec/Probe/Probe.h"
#include "anec/Runtime/Diags.h"
#include "anec/Target/KnownError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>

using namespace anec;

namespace {
/// The outcome of a program.
struct Outcome {
  llvm::StringLiteral what = "";
  std::string message;
  std::optional<ProbeError> error;
};
} // namespace

static std::string firstMessage(const Diagnostics &diags) {
  return diags.all().empty() ? ""
                             : diags.all().back().message + " [" +
                                   diags.all().back().kind->id.str() + "]";
}

/// Whether the engine or its compiler refused the program. Other errors say
/// nothing about the program.
static bool isRefusal(const Diagnostics &diags) {
  if (diags.all().empty())
    return false;
  diag::AnyKind kind = diags.all().back().kind;
  if (const KnownError *known = findKnownError(kind->id))
    return !known->isTransient && !known->isOfMachine;
  static constexpr diag::AnyKind kinds[] = {diag::AneUnknown, diag::AneNoObject,
                                            diag::ProbeNotRead};
  return llvm::is_contained(kinds, kind);
}

static Outcome failed(const Diagnostics &diags) {
  return {isRefusal(diags) ? llvm::StringLiteral("refused")
                           : llvm::StringLiteral("not-tried"),
          firstMessage(diags),
          {}};
}

static bool isRight(const ProbeError &error, const ProbeSetting &setting) {
  return setting.absolute > 0 ? error.largest <= setting.absolute
                              : error.relative <= setting.relative;
}

/// Tries the backend first: a refused program needs no reference outputs.
static Outcome runProgram(ProbeSubject &subject, Backend &backend) {
  if (std::string why = subject.prepare(); !why.empty())
    return {"not-tried", why, {}};
  std::vector<std::vector<uint8_t>> results;
  {
    Diagnostics diags;
    std::unique_ptr<Executable> executable = subject.load(backend, diags);
    if (!executable)
      return failed(diags);
    if (subject.hasStates())
      return {"loaded", "anec has no way to give it its states", {}};
    if (!subject.run(*executable, results, diags))
      return failed(diags);
  }
  Diagnostics ofCpu;
  std::optional<ProbeError> error = subject.compare(std::move(results), ofCpu);
  if (!error)
    return {"ran", firstMessage(ofCpu), {}};
  return {isRight(*error, subject.setting()) ? llvm::StringLiteral("right")
                                             : llvm::StringLiteral("wrong"),
          "", error};
}

/// JSON has no infinity.
static double asNumber(double value) {
  return std::isfinite(value) ? value : 1e30;
}

static llvm::json::Object toJson(const Outcome &outcome, double seconds) {
  llvm::json::Object json{{"outcome", outcome.what}, {"seconds", seconds}};
  if (!outcome.message.empty())
    json["message"] = outcome.message;
  if (outcome.error) {
    json["relative_error"] = asNumber(outcome.error->relative);
    json["largest_error"] = asNumber(outcome.error->largest);
  }
  return json;
}

bool anec::isRuleProgram(llvm::StringRef name) {
  auto [rule, kind] = name.split('.');
  return findRuleProgram(rule, kind == "times" ? "bad" : kind) != nullptr;
}

llvm::json::Object anec::runRuleProgram(llvm::StringRef name, Backend &backend,
                                        std::shared_ptr<Workspace> workspace) {
  auto begin = std::chrono::steady_clock::now();
  auto [rule, kind] = name.split('.');
  const RuleProgram *program = findRuleProgram(rule, kind);
  const RuleProgram *meaning = findRuleProgram(rule, "good");
  assert(program && meaning && "see isRuleProgram");
  ProbeSubject subject(*program, *meaning, std::move(workspace));
  Outcome outcome = runProgram(subject, backend);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  return toJson(outcome, seconds.count());
}
