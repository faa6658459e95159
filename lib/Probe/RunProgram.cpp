//===- RunProgram.cpp - runs one program of a rule ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbeOutcome.h"
#include "lib/Probe/Probe.h"
#include "lib/Target/RuleProgram.h"
#include <chrono>

using namespace anec;

static ProbeOutcome runProgram(ProbeSubject &subject, Backend &backend) {
  if (std::string why = subject.prepare(); !why.empty())
    return {ProgramOutcome::NotTried, why};
  return tryProgram(subject, backend,
                    [&](Executable &executable, auto &outputs, auto &diags) {
                      return subject.run(executable, outputs, diags);
                    });
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
  ProbeSubject subject(program->text, meaning->text, probeSetting(rule),
                       std::move(workspace));
  ProbeOutcome outcome = runProgram(subject, backend);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  return toJson(outcome, seconds.count());
}
