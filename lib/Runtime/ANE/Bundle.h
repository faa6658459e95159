//===- Bundle.h - staged files as the framework expects them ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_BUNDLE_H
#define ANEC_LIB_RUNTIME_ANE_BUNDLE_H

#include "Staging.h"
#import <Foundation/Foundation.h>

namespace anec::ane {

/// Adds a note for each file that the framework hashed for `model`, and what
/// the staged one is. The error itself names no file. Frameworks before macOS
/// 27 hash nothing, and nothing is added.
void describeBundle(id model, const StagedProgram &staged,
                    Diagnostics::Report report);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_BUNDLE_H
