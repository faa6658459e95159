//===- Deployment.cpp - systems that Core ML packages are for -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/CoreML/Deployment.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using llvm::StringRef;

/// Versions as coremltools writes them.
static constexpr Deployment deploymentTable[] = {
    {"macos12", "ios15", "CoreML5", 6},  {"macos13", "ios16", "CoreML6", 7},
    {"macos14", "ios17", "CoreML7", 8},  {"macos15", "ios18", "CoreML8", 9},
    {"macos26", "ios26", "CoreML9", 10},
};

llvm::ArrayRef<Deployment> anec::deployments() { return deploymentTable; }

const Deployment *anec::findDeployment(StringRef name) {
  for (const Deployment &row : deploymentTable)
    if (row.macOS.equals_insensitive(name) || row.iOS.equals_insensitive(name))
      return &row;
  return nullptr;
}

const Deployment *anec::deploymentOfOpset(StringRef opset) {
  for (const Deployment &row : deploymentTable)
    if (row.iOS == opset)
      return &row;
  return nullptr;
}
