//===- PeakMemory.cpp - memory of the process -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/PeakMemory.h"
#include <sys/resource.h>

uint64_t anec::peakMemoryBytes() {
  struct rusage usage = {};
  (void)::getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  constexpr uint64_t unit = 1;
#else
  constexpr uint64_t unit = 1024;
#endif
  return uint64_t(usage.ru_maxrss) * unit;
}
