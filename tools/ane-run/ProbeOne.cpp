//===- ProbeOne.cpp - one program of a probe ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Diags.h"
#include "Probe.h"
#include "ProbeSubject.h"
#include "anec/Runtime/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>

using namespace anec;

namespace {
/// What came of a program.
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

/// Whether it was the engine, or its compiler, that said no. All else says
/// nothing of the program.
static bool isRefusal(const Diagnostics &diags) {
  static constexpr diag::AnyKind kinds[] = {
      diag::AneInvalidProgram, diag::AneRefused,    diag::AneSurfaceSize,
      diag::AneMemoryWindow,   diag::AneNotAllowed, diag::AneUnknown,
      diag::AneNoObject,       diag::ProbeNotRead};
  return !diags.all().empty() &&
         llvm::is_contained(kinds, diags.all().back().kind);
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

/// The engine comes first: what it refuses needs no values.
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

static void print(const Outcome &outcome, double seconds,
                  llvm::raw_ostream &out) {
  llvm::json::OStream json(out);
  json.object([&] {
    json.attribute("outcome", outcome.what);
    if (!outcome.message.empty())
      json.attribute("message", outcome.message);
    if (outcome.error) {
      json.attribute("relative_error", asNumber(outcome.error->relative));
      json.attribute("largest_error", asNumber(outcome.error->largest));
    }
    json.attribute("seconds", seconds);
  });
  out << '\n';
}

bool anec::probeOne(llvm::StringRef name, const BackendChoice &choice,
                    llvm::raw_ostream &out, Diagnostics &diags) {
  auto begin = std::chrono::steady_clock::now();
  auto [rule, kind] = name.split('.');
  const ProbeProgram *program = findProbeProgram(rule, kind);
  const ProbeProgram *meaning = findProbeProgram(rule, "good");
  assert(program && meaning && "checked by the command line");
  std::unique_ptr<Backend> backend = choice.open(diags);
  if (!backend)
    return false;
  ProbeSubject subject(*program, *meaning);
  Outcome outcome = runProgram(subject, *backend);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  print(outcome, seconds.count(), out);
  return true;
}
