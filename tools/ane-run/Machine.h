//===- Machine.h - targets by the names of chips ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_MACHINE_H
#define ANEC_TOOLS_ANE_RUN_MACHINE_H

#include "anec/Target/Target.h"

namespace anec {

/// The target that goes with the name that the system has for the chip; null
/// when there is none.
const Target *targetOf(llvm::StringRef chip);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_MACHINE_H
