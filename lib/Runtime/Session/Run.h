//===- Run.h - the execution of a plan --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SESSION_RUN_H
#define ANEC_LIB_RUNTIME_SESSION_RUN_H

#include "Context.h"
#include "Plan.h"
#include <chrono>

namespace anec::session {

/// The state of a plan's executions, one at a time. All memory that one takes
/// is allocated when this is made.
class Run {
public:
  /// `plan` and `context` have to outlive this.
  Run(const Plan &plan, SessionContext &context);

  /// Executes the plan once, as Session::run has it.
  [[nodiscard]] bool
  execute(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
          llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
          Gradients gradients, GradientReady ready, Diagnostics &diags);
  /// Computes what follows from the weights alone, and brings it to kernels.
  [[nodiscard]] bool stage(Diagnostics &diags);

  /// What the steps of the last execution took.
  std::vector<PartTime> times() const;

private:
  struct Timing {
    std::chrono::steady_clock::time_point begin;
    double seconds = 0;
  };
  class Timer;
  /// A step that overlaps others.
  struct Task {
    const PlanStep *step;
    TaskQueue::Task body;
    uint64_t number = 0; ///< of the queue's, when it was submitted
  };

  [[nodiscard]] bool runSteps(Gradients gradients, GradientReady ready,
                              Diagnostics &diags);
  [[nodiscard]] bool runKernel(const KernelStep &kernel, Diagnostics &diags);
  void runHost(const PlanStep &step);
  void waitForTasks(size_t count, GradientReady ready);

  const Plan &plan;
  SessionContext &context;
  std::vector<Timing> timings; ///< of each step
  Gradients mode = Gradients::Replace;

  std::vector<Task> tasks; ///< in the order of their steps
  size_t submitted = 0, finished = 0;
  /// In order, so that sums have one. Gone first: it waits for the tasks.
  std::optional<TaskQueue> queue;
};

} // namespace anec::session

#endif // ANEC_LIB_RUNTIME_SESSION_RUN_H
