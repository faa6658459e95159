//===- ChildProcess.h - runs a program in a child process -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_CHILDPROCESS_H
#define ANEC_LIB_SUPPORT_CHILDPROCESS_H

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace anec {

struct ChildResult {
  enum How : uint8_t {
    Exited,     ///< with `code`
    Crashed,    ///< by the signal `code`
    TimedOut,   ///< and was killed
    Stopped,    ///< was killed because the caller was asked to stop
    NotStarted, ///< with `code` of errno
  } how = NotStarted;
  int code = 0;
  int process = 0;    ///< its id; 0 when it was not started
  std::string output; ///< its standard output
  std::string errors; ///< the end of its standard error
};

/// Runs the program `words[0]` with the remaining words as arguments, in its
/// own process group. The whole group is killed when the program ends, after
/// `limit`, or when `stop` is set.
ChildResult runChild(const std::vector<std::string> &words,
                     std::chrono::milliseconds limit,
                     const std::atomic<bool> &stop);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_CHILDPROCESS_H
