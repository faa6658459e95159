//===- BackendFlags.h - flags of backends and runs --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `--backend=NAME`, and a flag for each option of each backend in the table. A
/// flag that only some backends have selects one of those.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_BACKENDFLAGS_H
#define ANEC_TOOLS_ANE_RUN_BACKENDFLAGS_H

#include "../ChoiceFlag.h"
#include "../NumberFlag.h"
#include "BackendChoice.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// The flags of a command that opens a backend, or inspects its machine.
class MachineFlags {
public:
  /// Whether a command, or one of its flags, works with a backend.
  using Need = std::function<bool(const BackendRow &)>;

  /// Makes flags for options of these scopes.
  explicit MachineFlags(
      llvm::ArrayRef<BackendOption::Scope> scopes = BackendOption::Machine);
  ~MachineFlags();
  /// Those of the command that this process runs; null when it has none.
  static const MachineFlags *ofCommand();

  /// Requires a backend that meets `need` for `what`, a flag or the command
  /// itself.
  void require(llvm::StringRef what, Need need);
  /// The error in the flags; empty when they are valid.
  std::string check() const;
  BackendChoice choice() const;
  /// Flags that make the same choice, for a child.
  std::vector<std::string> words() const;

protected:
  /// The given flags that not every backend supports: their names, and the
  /// backends that do.
  virtual std::vector<std::pair<std::string, Need>> needs() const;

private:
  struct Flag; ///< of a backend's option
  /// The index of a value among the choices of a flag.
  enum class Place : unsigned {};

  /// The requested backend, or the default of this platform.
  const BackendRow &chosen() const;

  std::vector<std::unique_ptr<Flag>> flags;
  std::vector<std::pair<std::string, Need>> required;
  std::string backendHelp, backendNames;
  std::unique_ptr<ChoiceFlag<Place>> backend;
};

/// The flags of a command that runs programs.
class BackendFlags : public MachineFlags {
public:
  BackendFlags();

  BackendChoice choice() const;
  /// Also `--threads`, when it is given.
  std::vector<std::string> words() const;
  LoadOptions load() const;
  /// The threads of this process.
  std::shared_ptr<Executor> executor() const {
    return workspace()->sharedExecutor();
  }

  ChoiceFlag<Numerics> numerics;

protected:
  std::vector<std::pair<std::string, Need>> needs() const override;

private:
  const std::shared_ptr<Workspace> &workspace() const;

  WholeFlag<unsigned> threads;
  mutable std::shared_ptr<Workspace> shared;
};

/// The path of this program, to run it again.
std::string ownExecutable();

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_BACKENDFLAGS_H
