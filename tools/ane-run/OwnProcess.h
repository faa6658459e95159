//===- OwnProcess.h - runs a command in a process of its own ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Some paths to the engine call compilers that can crash their process. A
/// command with such a path runs in a child process, so that a crash becomes an
/// error with a name.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_OWNPROCESS_H
#define ANEC_TOOLS_ANE_RUN_OWNPROCESS_H

#include "../Command.h"
#include <optional>

namespace anec {

/// Runs the same command line in a child process when the backend that its
/// flags choose needs one, and returns the exit code. Returns nothing when the
/// command is to run here.
std::optional<int> runInOwnProcess(const CommandDef &command, char **arguments);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_OWNPROCESS_H
