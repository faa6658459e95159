//===- Restart.h - a run goes on in a new process --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The engine's compiler gives each process some hundred programs. A training
/// run that needs more is saved, and this program begins anew in its place,
/// with the same arguments: what it goes on from says the environment.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_RESTART_H
#define ANEC_TOOLS_ANE_RUN_RESTART_H

#include "anec/Train/Trainer.h"

namespace anec {

class Restart {
public:
  /// Looks for what an earlier process left; `arguments` are those of `main`.
  explicit Restart(char **arguments);

  bool isRestarted() const { return before.isNeeded; }
  bool validatesFirst() const { return before.validates; }
  TrainRestart &wanted() { return next; }

  /// Begins anew; returns only when that fails, with the reason reported. A
  /// process that got no further than the one before it is the last one.
  [[nodiscard]] bool run(Diagnostics &diags);

private:
  char **arguments;
  TrainRestart before, next;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_RESTART_H
