//===- Trace.h - what a training step does when -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A timeline in the format of Chrome's about:tracing, which Perfetto reads
/// too, with one row each for kernels, host ops, the optimizer and files.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_TRACE_H
#define ANEC_LIB_TRAIN_TRACE_H

#include "anec/Support/Diagnostics.h"
#include <chrono>

namespace anec {

class Trace {
public:
  using Clock = std::chrono::steady_clock;
  enum Row : uint8_t { Steps, Kernels, Host, Gradients, Optimizer, Files };

  void add(Row row, llvm::StringRef name, Clock::time_point begin,
           double seconds, uint64_t step);
  [[nodiscard]] bool write(llvm::StringRef path, Diagnostics &diags) const;

private:
  struct Event {
    Row row;
    std::string name;
    Clock::time_point begin;
    double seconds;
    uint64_t step;
  };
  std::vector<Event> events;
};

} // namespace anec

#endif // ANEC_LIB_TRAIN_TRACE_H
