//===- ChildProcess.h - a process that may do anything ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_CHILDPROCESS_H
#define ANEC_TOOLS_ANE_RUN_CHILDPROCESS_H

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace anec {

struct ChildResult {
  enum How : uint8_t {
    Exited,     ///< with `code`
    Crashed,    ///< by the signal `code`
    TimedOut,   ///< and was ended
    Stopped,    ///< was ended because the caller was asked to stop
    NotStarted, ///< with `code` of errno
  } how = NotStarted;
  int code = 0;
  std::string output; ///< what it wrote to standard output
  std::string errors; ///< the end of what it wrote to standard error
};

/// Runs `words`, and what that starts in turn, as a group of its own, which
/// ends with it: after `limit`, when `stop` is set, or when it ends itself.
ChildResult runChild(const std::vector<std::string> &words,
                     std::chrono::milliseconds limit,
                     const std::atomic<bool> &stop);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_CHILDPROCESS_H
