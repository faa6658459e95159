//===- Collective.h - processes that train one model -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `mpirun -n 4 ane-run train ...`: each process takes a share of a step's
/// windows, and all have the same sums afterwards. One process alone is a
/// collective of one, which does nothing.
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

  /// Which of how many this process is. The first writes files and talks.
  unsigned rank() const { return number; }
  unsigned size() const { return count; }
  bool isFirst() const { return number == 0; }

  /// Replaces every element by its sum over all processes, which is the same,
  /// bit for bit, in all of them.
  virtual void sum(llvm::MutableArrayRef<double> values) {}
  /// The same while this process goes on; the array is to be left alone until
  /// `finishSums`. All processes begin the same sums in the same order.
  virtual void beginSum(llvm::MutableArrayRef<float> array) {}
  virtual void finishSums() {}
  /// Returns when all processes have come here.
  virtual void meet() {}
  /// Ends all processes, this one with them, when there are others: they would
  /// wait for it forever.
  virtual void endAll(int exitCode) {}

protected:
  unsigned number = 0, count = 1;
};

/// The processes that this one was started with; null, with the reason
/// reported, when there are others and this build cannot talk to them.
std::unique_ptr<Collective> joinCollective(Diagnostics &diags);

/// Whether this build can talk to other processes.
bool hasMpi();

} // namespace anec

#endif // ANEC_TRAIN_COLLECTIVE_H
