//===- Machine.h - what programs ran on ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_MACHINE_H
#define ANEC_TOOLS_ANE_RUN_MACHINE_H

#include "BackendChoice.h"
#include "anec/Target/Target.h"

namespace anec {

/// For reports that people compare.
struct Machine {
  std::string chip = "not known", system = "not known";
};
/// The chip with the engine or, of the cpu backend, the processor.
Machine thisMachine(const BackendChoice &choice);

/// The target that goes with the name that the system has for the chip; null
/// when there is none.
const Target *targetOf(llvm::StringRef chip);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_MACHINE_H
