//===- AneBackend.h - programs on the Neural Engine -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The backend that hands MIL text and weights to the private framework of the
/// Apple Neural Engine. docs/use/ane.md documents it with sources. It is a
/// separate library, anec-ane.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_ANE_ANEBACKEND_H
#define ANEC_RUNTIME_ANE_ANEBACKEND_H

#include "anec/Runtime/Backends.h"
#include "anec/Support/Words.h"
#include <atomic>

namespace anec {

/// The row of the backend, which is in the library anec-ane. Backends that the
/// row opens count their compilations together.
BackendRow aneBackend();
/// The row of a program without that library: it has the options, and reports
/// what is missing when it is opened.
BackendRow aneBackendNotBuilt();

/// The methods and functions that compile, load and run programs.
/// docs/use/ane.md lists what is published about each, with contradictions.
/// - `InMemory`: `_ANEInMemoryModel`, used by most known programs
/// - `Client`: `_ANEClient` with a `_ANEModel` of the staged folder
/// - `Direct`: the same, evaluated without the system's daemon
/// - `RealTime`: as `Direct`, at the quality of service of real time
/// - `ProcessRequest`: `_ANEInMemoryModel`, evaluated by its
///   `_ANEProgramForEvaluation`
/// - `E5`: Core ML's `MLE5Engine`, given MIL text
/// - `E5rt`: the `e5rt_` functions of Espresso
ANEC_ENUM(AnePath, (InMemory, "in-memory"), (Client, "client"),
          (Direct, "direct"), (RealTime, "real-time"),
          (ProcessRequest, "process-request"), (E5, "e5"), (E5rt, "e5rt"))
inline constexpr AnePath anePaths[] = {
    AnePath::InMemory, AnePath::Client,         AnePath::Direct,
    AnePath::RealTime, AnePath::ProcessRequest, AnePath::E5,
    AnePath::E5rt};
/// Whether inputs and outputs are surfaces that a request names. The other
/// paths take contiguous arrays.
constexpr bool takesRequests(AnePath path) {
  return path != AnePath::E5 && path != AnePath::E5rt;
}

struct AneOptions {
  AnePath path = AnePath::InMemory;
  /// The framework's binary; empty for the system's. Tests set a mock of it.
  std::string framework;
  /// The version of macOS, for warnings; empty for that of this machine.
  std::string macOS = {};
  /// Compilations that a process can request before `load` refuses: the
  /// compiler fails from about 119 on for any request.
  unsigned compileLimit = 110;
  /// Programs loaded at a time; the least recently used one is evicted.
  unsigned loadedLimit = 120;
  /// Total attempts of calls that fail for a transient reason, and the first
  /// delay before a retry, which doubles each time.
  unsigned attempts = 5;
  unsigned backoffMilliseconds = 50;
  /// Retries of a request that was cancelled because the engine was going to
  /// sleep, and the delay before each: it is awake a few milliseconds later.
  unsigned cancelledRetries = 8;
  unsigned cancelledMilliseconds = 3;
  /// Runs after which a program is unloaded and loaded again, because the
  /// engine was seen to slow down after many.
  unsigned runsPerLoad = 25000;
  /// Runs a small program after this idle time: on some versions of macOS, work
  /// that arrives while the engine goes to sleep is lost. 0 disables it.
  double heartbeatSeconds = 0;
  /// Files for the arrays of a program; one each as far as they go. A compiler
  /// of M1 was once reported to refuse several arrays in one file. Those of
  /// later systems refuse the 17th file, and that of macOS 27 the second one.
  unsigned mostWeightFiles = 1;
  /// The procedure of a program that runs execute, as its attributes number
  /// them.
  unsigned procedure = 0;
  /// Asks for the engine's own time of each run, see Executable::engineSeconds.
  bool perfStats = false;
  /// Whether a crash of this process costs nothing. `E5` and `E5rt` load
  /// programs only then: their compilers run in the process that calls them,
  /// and have been seen to crash it.
  bool hasOwnProcess = true;
  /// Keeps staged programs, and loads what an earlier process compiled.
  bool reuse = false;
  /// Compiles in a child process, run as these words and the staged folder;
  /// empty compiles in this one. A compiler crash then only ends the child, and
  /// its compilations are not counted here.
  std::vector<std::string> compileCommand;
  /// A child that takes longer is ended: a compiler hang is treated like a
  /// crash.
  unsigned compileSeconds = 300;
  /// Makes an inspection compile and load a small program, and prepare runs of
  /// it that the engine would chain.
  bool tryChaining = false;
  /// Counts the compilations that this process has requested. The compiler also
  /// counts per process, so all backends of a process should share it. Null
  /// creates one for this backend.
  std::shared_ptr<std::atomic<unsigned>> compiles = nullptr;
  /// Writes weights, and owns the thread of the heartbeat; null creates one
  /// without workers for this backend.
  std::shared_ptr<Executor> executor = nullptr;
};

/// The options given by `settings` of the row.
AneOptions aneOptions(const BackendSettings &settings);

/// Returns null, with the reason reported, when the machine has no engine that
/// anec knows.
[[nodiscard]] std::unique_ptr<Backend>
createAneBackend(const AneOptions &options, Diagnostics &diags);

/// Compiles the program that another process staged at `folder`; called in the
/// process of `AneOptions::compileCommand`.
[[nodiscard]] bool compileStagedProgram(llvm::StringRef folder,
                                        const AneOptions &options,
                                        Diagnostics &diags);

/// The parts of the engine's interface that are present, whether or not they
/// suffice.
struct AneInspection {
  struct Symbol {
    /// `_ANERequest`, `-[_ANEInMemoryModel unload...]`, or a function
    std::string name;
    bool found = false;
    bool needed = true;         ///< false when it is used only if present
    std::vector<AnePath> paths; ///< those that use it
    /// For a method that is present, its types in the runtime and in anec's
    /// calls, without sizes; empty where unknown.
    std::string types, calledWith;
    bool typesDiffer() const {
      return !types.empty() && !calledWith.empty() && types != calledWith;
    }
  };
  /// Of the path of the options; no error: it opened.
  std::string framework, openError;
  std::vector<AnePath> unopened; ///< those whose framework did not open
  std::vector<Symbol> symbols;
  std::string chip, system;
  /// What the framework says; nothing when it does not say.
  std::optional<bool> isVirtualMachine;
  std::string temporaryFolder, folderError; ///< no error: it is writable
  unsigned compiles = 0, compileLimit = 0;
  /// The result of AneOptions::tryChaining: `prepared`, `refused`, `invalid`,
  /// or what kept it from being tried; empty when not asked for.
  std::string chaining, chainingError;

  /// Whether programs can be run with `path`.
  bool suffices(AnePath path) const;
};
AneInspection inspectAne(const AneOptions &options);

} // namespace anec

#endif // ANEC_RUNTIME_ANE_ANEBACKEND_H
