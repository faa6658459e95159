//===- ProbedTarget.cpp - a target as a probe found it --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Probe/ProbedTarget.h"
#include "anec/Target/Rule.h"
#include "lib/Probe/Diags.h"
#include "lib/Probe/Measured.h"
#include "lib/Probe/ProbeFile.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// Warns when rules, or programs of `doctor --run`, remain to be tried.
static void warnOfRest(const ProbeFile &file, llvm::StringRef path,
                       Diagnostics &diags) {
  if (file.isComplete)
    return;
  size_t all = allRules().size(), tried = file.rules.size();
  bool isOfDoctor = tried == 0 && !file.paths.empty();
  if (isOfDoctor || tried >= all)
    diags.reportFile(path, diag::DoctorIncomplete);
  else
    diags.reportFile(path, diag::ProbeIncomplete, all - tried, all,
                     file.target);
}

std::optional<ProbedTarget> anec::readProbedTarget(llvm::StringRef path,
                                                   llvm::StringRef macOS,
                                                   Diagnostics &diags) {
  std::optional<ProbeFile> file = readProbeFile(path, diags);
  if (!file)
    return std::nullopt;
  if (!file->isOfEngine())
    diags.reportFile(path, diag::ProbeOfNoEngine);
  warnOfRest(*file, path, diags);
  std::string probed = file->macOS();
  if (!probed.empty() && !macOS.empty() && probed != macOS)
    diags.reportFile(path, diag::ProbeOfOtherSystem, probed, macOS);
  std::optional<double> floor = measuredFloor(*file);
  return ProbedTarget{std::move(file->target), std::move(file->assumptions),
                      floor};
}

std::vector<std::string>
anec::assumptionsOf(const ProbedTarget &target,
                    llvm::ArrayRef<std::string> given) {
  auto ruleOf = [](llvm::StringRef text) { return text.split('=').first; };
  std::vector<std::string> assumptions = target.assumptions;
  llvm::erase_if(assumptions, [&](const std::string &assumption) {
    return llvm::any_of(given, [&](const std::string &other) {
      return ruleOf(other) == ruleOf(assumption);
    });
  });
  llvm::append_range(assumptions, given);
  return assumptions;
}
