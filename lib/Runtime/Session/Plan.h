//===- Plan.h - an entry, ready to run --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What PlanBuilder makes of an entry: a list of steps whose programs, memory
/// and copies are decided. Nothing of it changes when it runs; what does is in
/// Run.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SESSION_PLAN_H
#define ANEC_LIB_RUNTIME_SESSION_PLAN_H

#include "KernelProgram.h"
#include "States.h"
#include "anec/Runtime/Session.h"
#include "lib/Runtime/CPU/HostProgram.h"

namespace anec::session {

/// A copy between a part of a kernel's port and the session's memory.
struct Transfer {
  unsigned port;
  Region region;
  float *memory;
};

/// A kernel, and what is copied around it.
struct KernelStep {
  std::shared_ptr<KernelProgram> program;
  std::vector<Transfer> staged; ///< inputs that change with the weights alone
  std::vector<Transfer> inputs, outputs;
};

/// Host ops between kernels.
struct HostStep {
  /// Gradients that the first of this step's accumulations adds rows to: zeros
  /// before, unless the run adds to what is there.
  std::vector<llvm::MutableArrayRef<float>> zeroed;
  /// For runs that start gradients anew, and for those that add to them; the
  /// second is null where it would be the same.
  std::unique_ptr<cpu::HostProgram> replacing, adding;

  cpu::HostProgram &program(Gradients gradients) const {
    return gradients == Gradients::Add && adding ? *adding : *replacing;
  }
};

/// What runs at a time: a kernel, host ops, or updates of states.
struct PlanStep {
  PartTime description; ///< without times
  std::optional<KernelStep> kernel;
  HostStep host;
  std::vector<StateUpdate> updates; ///< in place of host ops
  /// Of the steps that overlap others (`description.overlaps`), so many have to
  /// be done before this one starts.
  size_t waitsFor = 0;
  /// Gradients that no later step adds to.
  std::vector<llvm::MutableArrayRef<float>> finished;
};

struct Plan {
  std::vector<Port> inputs, outputs;
  /// Where their elements are, four bytes each.
  std::vector<uint32_t *> inputWords, outputWords;
  std::vector<NamedFloats> states;
  /// Computes what follows from the weights alone; null for nothing.
  std::unique_ptr<cpu::HostProgram> staging;
  std::vector<PlanStep> steps;
  /// How many steps overlap others, and how many of them may wait or run at a
  /// time.
  size_t overlapping = 0, mostOverlapping = 0;

  /// Whether weights are constants of host programs, with the values that they
  /// had when this was made.
  bool readsStored = false;

  std::vector<AlignedArray> memory;
  uint64_t memoryBytes = 0;

  /// Adds the programs that weights are constants of, in the order they run.
  void appendBaked(std::vector<std::shared_ptr<KernelProgram>> &baked) const;
};

} // namespace anec::session

#endif // ANEC_LIB_RUNTIME_SESSION_PLAN_H
