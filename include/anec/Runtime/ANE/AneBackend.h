//===- AneBackend.h - programs on the Neural Engine ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The backend that hands MIL text and weights to the private framework of the
/// Apple Neural Engine, through its in-memory descriptors. docs/ane.md says
/// what is known of it, and from whom. A library of its own, anec-ane.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_ANE_ANEBACKEND_H
#define ANEC_RUNTIME_ANE_ANEBACKEND_H

#include "anec/Runtime/Backend.h"

namespace anec {

struct AneOptions {
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
  /// Keeps staged programs, and loads what an earlier process compiled.
  bool reuse = false;
  /// Compiles in a child process, run as these words and the staged folder;
  /// empty compiles in this one. What crashes the compiler then crashes a
  /// child, and its compilations are not counted here.
  std::vector<std::string> compileCommand;
};

/// Null, with the reason reported, when the machine has no engine that anec
/// knows.
std::unique_ptr<Backend> createAneBackend(const AneOptions &options,
                                          Diagnostics &diags);

/// Compiles the program that another process staged at `folder`; for the
/// process of `AneOptions::compileCommand`.
bool compileStagedProgram(llvm::StringRef folder, const AneOptions &options,
                          Diagnostics &diags);

/// What of the engine is there, whether or not it suffices.
struct AneInspection {
  struct Symbol {
    std::string name; ///< `_ANERequest`, or `-[_ANEInMemoryModel unload...]`
    bool found = false;
    bool needed = true; ///< false for what is used only where it is
  };
  std::string framework, openError; ///< no error: it opened
  std::vector<Symbol> symbols;
  std::string chip, system;
  std::string temporaryFolder, folderError; ///< no error: it is writable
  unsigned compiles = 0, compileLimit = 0;

  /// Whether programs can be run.
  bool suffices() const;
};
AneInspection inspectAne(const AneOptions &options);

} // namespace anec

#endif // ANEC_RUNTIME_ANE_ANEBACKEND_H
