//===- Engine.h - what the programs of a process share ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_ENGINE_H
#define ANEC_LIB_RUNTIME_ANE_ENGINE_H

#include "PrivateFramework.h"
#include "llvm/ADT/StringMap.h"
#include <atomic>
#include <chrono>
#include <list>
#include <mutex>

namespace anec::ane {

class Program;

struct Engine {
  PrivateFramework framework;
  AneOptions options; ///< with a count and an executor
  std::string temporaryFolder;
  /// Tells this process from others in the names of its programs; empty when
  /// they share them.
  std::string process;

  /// Held by whoever loads, runs or unloads; not while compiling.
  std::mutex use;
  /// Programs that are loaded, the one used last first.
  std::list<Program *> loaded;
  std::chrono::steady_clock::time_point lastUse;
  /// What a child compiled was not seen here: this process compiles, too.
  std::atomic<bool> compilesItself{false};

  /// Programs by digest, as long as something uses them; under `tableMutex`.
  llvm::StringMap<std::weak_ptr<Program>> programs;
  std::mutex tableMutex;
  std::atomic<unsigned> numbered{0};

  /// Another word for the names of a program, each time.
  std::string nextSalt();

  [[nodiscard]] static std::shared_ptr<Engine> open(const AneOptions &options,
                                                    Diagnostics &diags);
};

/// Where programs are staged: the only place that the compiler may read.
std::string temporaryFolder();

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_ENGINE_H
