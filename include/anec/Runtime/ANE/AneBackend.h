//===- AneBackend.h - programs on the Neural Engine ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The backend that hands MIL text and weights to the private framework of the
/// Apple Neural Engine. docs/ane.md says what is known of it, and from whom. A
/// library of its own, anec-ane.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_ANE_ANEBACKEND_H
#define ANEC_RUNTIME_ANE_ANEBACKEND_H

#include "anec/Runtime/Backends.h"
#include <atomic>

namespace anec {

/// The row of the backend, which is in the library anec-ane. Backends that the
/// row opens count their compilations together.
BackendRow aneBackend();
/// The row of a program without that library: it has the options, and says what
/// is missing when it is opened.
BackendRow aneBackendNotBuilt();

/// The private methods that programs are compiled, loaded and run by. What is
/// published of each, and what contradicts, stands in docs/ane.md.
enum class AnePath : uint8_t {
  InMemory, ///< `_ANEInMemoryModel`: what all known programs in use go by
  Client,   ///< `_ANEClient` with a `_ANEModel` of the staged folder
  Direct,   ///< the same, evaluated without the system's daemon
  RealTime, ///< the same as `Direct`, at the quality of service of real time
};
inline constexpr AnePath anePaths[] = {AnePath::InMemory, AnePath::Client,
                                       AnePath::Direct, AnePath::RealTime};
constexpr llvm::StringLiteral spelling(AnePath path) {
  switch (path) {
  case AnePath::InMemory:
    return "in-memory";
  case AnePath::Client:
    return "client";
  case AnePath::Direct:
    return "direct";
  case AnePath::RealTime:
    return "real-time";
  }
  return "";
}

struct AneOptions {
  AnePath path = AnePath::InMemory;
  /// The framework's binary; empty for the system's. For tests, which bring
  /// a double of it.
  std::string framework;
  /// Compilations that a process may ask for before `load` refuses: the
  /// compiler fails from about 119 on, whatever is asked of it.
  unsigned compileLimit = 110;
  /// Programs loaded at a time; the one used longest ago makes room.
  unsigned loadedLimit = 120;
  /// Calls that fail for a reason that passes are tried so often in all, after
  /// waiting so long, and twice as long each time.
  unsigned attempts = 5;
  unsigned backoffMilliseconds = 50;
  /// Runs a small program when nothing ran for so long: on some versions of
  /// macOS, work that arrives while the engine goes to sleep is lost. 0 never
  /// does.
  double heartbeatSeconds = 0;
  /// Files for the arrays of a program; one each as far as they go. A compiler
  /// of M1 was once reported to refuse several arrays in one file, and those of
  /// later systems refuse the 17th file.
  unsigned mostWeightFiles = 1;
  /// Keeps staged programs, and loads what an earlier process compiled.
  bool reuse = false;
  /// Compiles in a child process, run as these words and the staged folder;
  /// empty compiles in this one. What crashes the compiler then crashes a
  /// child, and its compilations are not counted here.
  std::vector<std::string> compileCommand;
  /// A child that takes longer is ended: a compiler that hangs is as dead as
  /// one that crashes.
  unsigned compileSeconds = 300;
  /// Counts what this process has asked the compiler for, whose own count is of
  /// the process, too: all backends of a process should have the same. Null for
  /// one of the backend's own.
  std::shared_ptr<std::atomic<unsigned>> compiles = nullptr;
  /// Writes weights, and owns the thread of the heartbeat; null for one of the
  /// backend's own that has no workers.
  std::shared_ptr<Executor> executor = nullptr;
};

/// What `settings` of the row say.
AneOptions aneOptions(const BackendSettings &settings);

/// Null, with the reason reported, when the machine has no engine that anec
/// knows.
[[nodiscard]] std::unique_ptr<Backend>
createAneBackend(const AneOptions &options, Diagnostics &diags);

/// Compiles the program that another process staged at `folder`; for the
/// process of `AneOptions::compileCommand`.
[[nodiscard]] bool compileStagedProgram(llvm::StringRef folder,
                                        const AneOptions &options,
                                        Diagnostics &diags);

/// What of the engine is there, whether or not it suffices.
struct AneInspection {
  struct Symbol {
    std::string name; ///< `_ANERequest`, or `-[_ANEInMemoryModel unload...]`
    bool found = false;
    bool needed = true;         ///< false for what is used only where it is
    std::vector<AnePath> paths; ///< those that use it
    /// Of a method that is there, its types as the runtime has them, and as
    /// anec calls it, without sizes; empty where they are not told.
    std::string types, calledWith;
    bool typesDiffer() const {
      return !types.empty() && !calledWith.empty() && types != calledWith;
    }
  };
  std::string framework, openError; ///< no error: it opened
  std::vector<Symbol> symbols;
  std::string chip, system;
  std::string temporaryFolder, folderError; ///< no error: it is writable
  unsigned compiles = 0, compileLimit = 0;

  /// Whether programs can be run by `path`.
  bool suffices(AnePath path) const;
};
AneInspection inspectAne(const AneOptions &options);

} // namespace anec

#endif // ANEC_RUNTIME_ANE_ANEBACKEND_H
