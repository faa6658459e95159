//===- BackendChoice.cpp - what programs run on ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BackendChoice.h"
#include "anec/Runtime/Diags.h"

#include <cstdlib>

using namespace anec;

AneOptions anec::defaultAneOptions() {
  AneOptions options;
  if (const char *framework = std::getenv("ANEC_ANE_FRAMEWORK"))
    options.framework = framework;
  return options;
}

std::unique_ptr<Backend> anec::makeBackend(const BackendChoice &choice,
                                           Diagnostics &diags) {
  if (choice.kind == BackendKind::Cpu)
    return createCpuBackend();
#ifdef ANEC_HAS_ANE
  return createAneBackend(choice.ane, diags);
#else
  diags.report({}, diag::AneNotBuilt);
  return nullptr;
#endif
}

bool anec::compileStaged(llvm::StringRef folder, const AneOptions &options,
                         Diagnostics &diags) {
#ifdef ANEC_HAS_ANE
  return compileStagedProgram(folder, options, diags);
#else
  diags.report({}, diag::AneNotBuilt);
  return false;
#endif
}
