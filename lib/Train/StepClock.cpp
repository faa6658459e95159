//===- StepClock.cpp - where the time of a step goes ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StepClock.h"

using namespace anec;

double StepClock::note(Trace::Row row, llvm::StringRef what) {
  double seconds = secondsSince(since);
  if (isTracing())
    events.add(row, what, since, seconds, number);
  since = Clock::now();
  return seconds * 1e3;
}

/// Parts run in sequence, so each starts where the previous one ended.
void StepClock::addKernels(llvm::ArrayRef<PartTime> parts) {
  for (const PartTime &part : parts) {
    bool isKernel = part.kind == PartTime::Kernel;
    if (!part.overlaps)
      (isKernel ? record.kernelMs : record.hostMs) += part.seconds * 1e3;
    if (isTracing())
      events.add(isKernel        ? Trace::Kernels
                 : part.overlaps ? Trace::Gradients
                                 : Trace::Host,
                 part.name, part.begin, part.seconds, number);
  }
  since = Clock::now();
}

void StepClock::end(StepRecord &step) {
  double seconds = secondsSince(start);
  step.ms = (seconds - leftOut) * 1e3;
  step.kernelMs = record.kernelMs;
  step.hostMs = record.hostMs;
  step.optimizerMs = record.optimizerMs;
  step.ioMs = record.ioMs;
  if (isTracing()) {
    events.add(Trace::Steps, "step " + std::to_string(number), start, seconds,
               number);
    --traced;
  }
}
