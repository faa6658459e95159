//===- HostProgram.h - ops between kernels ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops of a host schedule, prepared to run on memory that the schedule owns:
/// their parameters, results and gradients have fixed addresses. They run like
/// the ops of kernels.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_HOSTPROGRAM_H
#define ANEC_LIB_RUNTIME_CPU_HOSTPROGRAM_H

#include "anec/IR/IR.h"
#include "anec/Runtime/Backend.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace anec::cpu {

struct HostMemory {
  /// The memory of each parameter and of each result, with a 4-byte word per
  /// element.
  std::vector<uint32_t *> parameters, results;
  /// The gradient that each `accumulate` op adds to, in the order of the ops.
  struct Gradient {
    float *memory;
    bool overwrite; ///< this op starts the sum
  };
  std::vector<Gradient> gradients;
};

class HostProgram {
public:
  /// `function` consists of ops with a reference, and `accumulate`. It can be
  /// destroyed afterwards.
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

/// Whether the op has an implementation that is faster than its reference.
bool hasStep(const OpDef &def);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_HOSTPROGRAM_H
