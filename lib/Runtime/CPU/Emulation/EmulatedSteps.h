//===- EmulatedSteps.h - ops as a chip's engine runs them -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_EMULATION_EMULATEDSTEPS_H
#define ANEC_LIB_RUNTIME_CPU_EMULATION_EMULATEDSTEPS_H

#include "../Steps.h"
#include "Mac.h"
#include <deque>

namespace anec::cpu {

/// The counters of hazards, by op. It must outlive the steps that count.
class HazardList {
public:
  HazardCounter &add(const Op &op);
  /// The ops that had hazards.
  std::vector<OpHazards> found() const;

private:
  struct Entry {
    OpHazards op;
    HazardCounter counter;
  };
  std::deque<Entry> entries;
};

/// The step of `op` on the engine that `ctx.numerics` emulates; empty when the
/// op computes nothing, or does not compute in fp16.
StepFn makeEmulated(const Op &op, StepContext &ctx);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_EMULATION_EMULATEDSTEPS_H
