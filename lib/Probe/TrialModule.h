//===- TrialModule.h - the program of a trial -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_TRIALMODULE_H
#define ANEC_PROBE_TRIALMODULE_H

#include "Trials.h"
#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include "anec/Target/Target.h"

namespace anec {

/// The program, compiled for `target` as users compile it, written and read
/// back. Returns null, with the reason reported, on failure.
[[nodiscard]] std::unique_ptr<Module> compileTrial(const TrialProgram &program,
                                                   const Target &target,
                                                   Diagnostics &diags);

} // namespace anec

#endif // ANEC_PROBE_TRIALMODULE_H
