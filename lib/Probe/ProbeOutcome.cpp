//===- ProbeOutcome.cpp - what became of a program ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbeOutcome.h"
#include "anec/Target/KnownError.h"
#include "lib/Probe/Diags.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;

std::string anec::lastMessage(const Diagnostics &diags) {
  if (diags.all().empty())
    return "";
  const Diagnostic &last = diags.all().back();
  std::string text = last.message + " [" + last.kind->id.str() + "]";
  for (const Diagnostic &note : last.notes)
    text += "; " + note.message;
  return text;
}

/// Whether the engine or its compiler refused the program. Other errors say
/// nothing about the program.
static bool isRefusal(const Diagnostics &diags) {
  if (diags.all().empty())
    return false;
  diag::AnyKind kind = diags.all().back().kind;
  if (const KnownError *known = findKnownError(kind->id))
    return !known->isTransient && !known->isOfMachine;
  static constexpr diag::AnyKind kinds[] = {
      diag::FrameworkUnknown, diag::AneNoObject, diag::ProbeNotRead};
  return llvm::is_contained(kinds, kind);
}

ProbeOutcome anec::failedOutcome(const Diagnostics &diags) {
  return {isRefusal(diags) ? ProgramOutcome::Refused : ProgramOutcome::NotTried,
          lastMessage(diags)};
}

ProbeOutcome anec::tryProgram(ProbeSubject &subject, Backend &backend,
                              ProbeRun run) {
  std::vector<std::vector<uint8_t>> results;
  {
    Diagnostics diags;
    std::unique_ptr<Executable> executable = subject.load(backend, diags);
    if (!executable)
      return failedOutcome(diags);
    if (subject.hasStates())
      return {ProgramOutcome::Loaded, "anec has no way to give it its states"};
    if (!run(*executable, results, diags))
      return failedOutcome(diags);
  }
  Diagnostics ofCpu;
  std::optional<ProbeError> error = subject.compare(std::move(results), ofCpu);
  if (!error)
    return {ProgramOutcome::Ran, lastMessage(ofCpu)};
  return {subject.isRight(*error) ? ProgramOutcome::Right
                                  : ProgramOutcome::Wrong,
          "", error};
}

double anec::asNumber(double value) {
  return std::isfinite(value) ? value : 1e30;
}

llvm::json::Object anec::toJson(const ProbeOutcome &outcome, double seconds) {
  llvm::json::Object json{{"outcome", spelling(outcome.what)},
                          {"seconds", seconds}};
  if (!outcome.message.empty())
    json["message"] = outcome.message;
  if (outcome.error) {
    json["relative_error"] = asNumber(outcome.error->relative);
    json["largest_error"] = asNumber(outcome.error->largest);
  }
  return json;
}
