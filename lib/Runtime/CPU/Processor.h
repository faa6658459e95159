//===- Processor.h - the names of the processor -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PROCESSOR_H
#define ANEC_LIB_RUNTIME_CPU_PROCESSOR_H

#include "anec/Runtime/Backends.h"

namespace anec::cpu {

/// The names of the processor and the system.
MachineNames thisProcessor();

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PROCESSOR_H
