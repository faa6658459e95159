//===- ProbedTarget.cpp - a target as a probe found it --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Probe/ProbedTarget.h"
#include "anec/Probe/Diags.h"
#include "anec/Probe/Measured.h"
#include "anec/Probe/ProbeFile.h"
#include "anec/Target/Rule.h"

using namespace anec;

std::optional<ProbedTarget> anec::readProbedTarget(llvm::StringRef path,
                                                   llvm::StringRef macOS,
                                                   Diagnostics &diags) {
  std::optional<ProbeFile> file = readProbeFile(path, diags);
  if (!file)
    return std::nullopt;
  if (!file->isOfEngine())
    diags.reportFile(path, diag::ProbeOfNoEngine);
  if (!file->isComplete)
    diags.reportFile(path, diag::ProbeIncomplete,
                     allRules().size() - file->rules.size(), allRules().size(),
                     file->target);
  std::string probed = file->macOS();
  if (!probed.empty() && !macOS.empty() && probed != macOS)
    diags.reportFile(path, diag::ProbeOfOtherSystem, probed, macOS);
  std::optional<double> floor = measuredFloor(*file);
  return ProbedTarget{std::move(file->target), std::move(file->assumptions),
                      floor};
}
