//===- Shrink.h - smaller programs that fail alike --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_MODELS_SHRINK_H
#define ANEC_TEST_FUZZ_MODELS_SHRINK_H

#include "Configuration.h"
#include "ProgramTree.h"

namespace anec::fuzz {

/// Whether a program still fails, in the way that is looked for.
using StillFails = std::function<bool(const Program &program,
                                      const Configuration &configuration)>;

/// Makes `program` and `configuration` smaller, step by step, as long as they
/// still fail. Steps may give programs that are not well-formed: those fail in
/// another way.
void shrink(Program &program, Configuration &configuration,
            const StillFails &stillFails);

} // namespace anec::fuzz

#endif // ANEC_TEST_FUZZ_MODELS_SHRINK_H
