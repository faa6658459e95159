//===- Restart.h - continues a run in a new process -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The engine's compiler compiles about a hundred programs in each process. A
/// training run that needs more is saved, and the process is replaced by a new
/// one of this program with the same arguments. An environment variable states
/// where to continue.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_RESTART_H
#define ANEC_TOOLS_ANE_RUN_RESTART_H

#include "anec/Train/Trainer.h"

namespace anec {

class Restart {
public:
  /// Reads what an earlier process left in the environment; `arguments` are
  /// those of `main`.
  explicit Restart(char **arguments);

  bool isRestarted() const { return before.isNeeded; }
  bool validatesFirst() const { return before.validates; }
  TrainRestart &wanted() { return next; }

  /// Restarts the program. Returns, with the reason reported, only on failure,
  /// or when this process got no further than the one before it.
  [[nodiscard]] bool run(Diagnostics &diags);

private:
  char **arguments;
  TrainRestart before, next;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_RESTART_H
