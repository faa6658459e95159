//===- ProbedTarget.cpp - a target as a probe found it --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Probe/ProbedTarget.h"
#include "anec/Probe/Diags.h"
#include "anec/Probe/ProbeFile.h"
#include "anec/Target/Rule.h"
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

using namespace anec;

/// The version of macOS of this machine; empty on other systems.
static std::string ownMacOS() {
#ifdef __APPLE__
  char version[64] = {};
  size_t size = sizeof(version) - 1;
  if (sysctlbyname("kern.osproductversion", version, &size, nullptr, 0) == 0)
    return version;
#endif
  return "";
}

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
  std::string wanted = macOS.empty() ? ownMacOS() : macOS.str();
  if (!probed.empty() && !wanted.empty() && probed != wanted)
    diags.reportFile(path, diag::ProbeOfOtherSystem, probed, wanted);
  return ProbedTarget{std::move(file->target), std::move(file->assumptions)};
}
