//===- Engine.h - what the programs of a process share ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_ENGINE_H
#define ANEC_LIB_RUNTIME_ANE_ENGINE_H

#include "../Apple/SharedPrograms.h"
#include "PrivateFramework.h"
#include <atomic>
#include <chrono>
#include <list>
#include <mutex>

namespace anec::ane {

class Program;

struct Engine {
  PrivateFramework framework;
  AneOptions options; ///< `compiles` and `executor` are not null
  std::string temporaryFolder;
  /// Distinguishes this process in the names of its programs; empty when
  /// processes share programs.
  std::string process;

  /// Held while loading, running or unloading, but not while compiling.
  std::mutex use;
  /// The loaded programs, the most recently used first.
  std::list<Program *> loaded;
  std::chrono::steady_clock::time_point lastUse;
  /// Set when a program compiled by a child was not visible here: this process
  /// then compiles, too.
  std::atomic<bool> compilesItself{false};

  SharedPrograms<Program> programs;
  std::atomic<unsigned> numbered{0};

  /// A new word for the name of a program with each call.
  std::string nextSalt();

  [[nodiscard]] static std::shared_ptr<Engine> open(const AneOptions &options,
                                                    Diagnostics &diags);
};

/// The folder where programs are staged, the only one that the compiler is
/// allowed to read.
std::string temporaryFolder();

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_ENGINE_H
