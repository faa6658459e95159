//===- Machine.h - threads and memory that programs share -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_MACHINE_H
#define ANEC_LIB_RUNTIME_CPU_MACHINE_H

#include "Storage.h"
#include "anec/Runtime/CPU/Parallel.h"

namespace anec::cpu {

/// What programs that never run at the same time have in common.
struct Machine {
  explicit Machine(unsigned threads) : pool(threads) {}
  ThreadPool pool;
  SharedArenas arenas;
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_MACHINE_H
