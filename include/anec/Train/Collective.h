//===- Collective.h - processes that train one model -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The processes of a parallel run, such as `mpirun -n 4 ane-run train ...`.
/// Each process computes a share of a step's windows; sums over all processes
/// are the same in each. A single process is a collective of one, whose
/// operations do nothing.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_COLLECTIVE_H
#define ANEC_TRAIN_COLLECTIVE_H

#include "anec/Support/Diagnostics.h"

namespace anec {

class Collective {
public:
  Collective() = default;
  virtual ~Collective();
  Collective(const Collective &) = delete;
  Collective &operator=(const Collective &) = delete;

  /// The number of this process and the number of processes. The first process
  /// writes files and prints progress.
  unsigned rank() const { return number; }
  unsigned size() const { return count; }
  bool isFirst() const { return number == 0; }

  /// Replaces every element by its sum over all processes; the sums are
  /// bit-identical in all of them.
  virtual void sum(llvm::MutableArrayRef<double> values) {}
  /// The same asynchronously: the array must not be used until `finishSums`
  /// returns. All processes must start the same sums in the same order.
  virtual void beginSum(llvm::MutableArrayRef<float> array) {}
  virtual void finishSums() {}
  /// A barrier: returns when all processes have called it.
  virtual void meet() {}
  /// Ends all processes including this one if there are several; they would
  /// otherwise wait for this one forever.
  virtual void endAll(int exitCode) {}

protected:
  unsigned number = 0, count = 1;
};

/// Joins the processes that this one was started with. Returns null, with the
/// reason reported, when there are others and this build lacks MPI.
[[nodiscard]] std::unique_ptr<Collective> joinCollective(Diagnostics &diags);

/// Whether this build has MPI.
bool hasMpi();

} // namespace anec

#endif // ANEC_TRAIN_COLLECTIVE_H
