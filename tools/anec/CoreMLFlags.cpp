//===- CoreMLFlags.cpp - the flags of Core ML packages --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CoreMLFlags.h"
#include "anec/CoreML/WantedDescription.h"

using namespace anec;

static std::string deploymentNames() {
  std::string names;
  for (const Deployment &row : deployments())
    names +=
        (names.empty() ? "" : ", ") + row.macOS.str() + ", " + row.iOS.str();
  return names;
}

std::string CoreMLFlags::check() const {
  if (deployment.getNumOccurrences() && !findDeployment(deployment))
    return "--deployment takes " + deploymentNames() + ", not `" + deployment +
           "`";
  return "";
}

bool CoreMLFlags::read(CoreMLOptions &options, Diagnostics &diags) const {
  options.deployment = findDeployment(deployment);
  if (interface.getNumOccurrences())
    options.floats = interface.getValue();
  if (!describe.getNumOccurrences())
    return true;
  std::optional<WantedDescription> wanted =
      readWantedDescription(describe, diags);
  if (wanted)
    options.wanted = std::make_shared<WantedDescription>(std::move(*wanted));
  return options.wanted != nullptr;
}
