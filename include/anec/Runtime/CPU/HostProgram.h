//===- HostProgram.h - ops between kernels ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops of a host schedule, prepared to run on memory that the schedule owns:
/// what they read, what they give and the gradients they add to have places
/// that never change. They run as the ops of kernels do.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_HOSTPROGRAM_H
#define ANEC_RUNTIME_CPU_HOSTPROGRAM_H

#include "anec/IR/IR.h"
#include "anec/Runtime/Backend.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace anec::cpu {

struct HostMemory {
  /// Of each parameter, and of each result.
  std::vector<uint32_t *> parameters, results;
  /// Of the gradient that each `accumulate` op adds to, in their order.
  struct Gradient {
    float *memory;
    bool overwrite; ///< the sum begins with this op
  };
  std::vector<Gradient> gradients;
};

class HostProgram {
public:
  /// `function` has ops with a reference, and `accumulate`. It may go away.
  HostProgram(const Function &function, const HostMemory &memory,
              Numerics numerics, std::shared_ptr<Workspace> workspace);
  ~HostProgram();
  HostProgram(const HostProgram &) = delete;
  HostProgram &operator=(const HostProgram &) = delete;

  void run() {
    for (const auto &step : steps)
      step();
  }

private:
  HostProgram(Numerics numerics, const Function &function,
              const HostMemory &memory, std::shared_ptr<Workspace> workspace);

  struct State;
  std::unique_ptr<State> state;
  std::vector<std::function<void()>> steps;
};

/// Whether there is a way to run the op that is faster than its reference.
bool hasStep(const OpDef &def);

} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_HOSTPROGRAM_H
