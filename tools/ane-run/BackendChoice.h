//===- BackendChoice.h - what programs run on ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `--backend=cpu|ane` and what belongs to it. ANEC_ANE_FRAMEWORK names a
/// framework other than the system's: tests bring a double of it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_BACKENDCHOICE_H
#define ANEC_TOOLS_ANE_RUN_BACKENDCHOICE_H

#include "DefaultBackend.h"
#include "anec/Runtime/ANE/AneBackend.h"
#include "anec/Runtime/Backend.h"

namespace anec {

struct BackendChoice {
  BackendKind kind = BackendKind::Cpu;
  AneOptions ane;
};

/// With the framework that the environment names.
AneOptions defaultAneOptions();

/// Null, with the reason reported, when it is not to be had.
std::unique_ptr<Backend> makeBackend(const BackendChoice &choice,
                                     Diagnostics &diags);

/// Prints what of the engine is there. False, with what is missing reported,
/// when programs cannot be run.
bool runDoctor(const AneOptions &options, bool json, llvm::raw_ostream &out,
               Diagnostics &diags);

/// What `--isolate` has a child do.
bool compileStaged(llvm::StringRef folder, const AneOptions &options,
                   Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_BACKENDCHOICE_H
