//===- BackendFlags.h - what programs run on, and how ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `--backend=NAME` and a flag for each option of each backend, as the table of
/// backends has them. A flag that only some backends have chooses one of those.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_BACKENDFLAGS_H
#define ANEC_TOOLS_ANE_RUN_BACKENDFLAGS_H

#include "BackendChoice.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// The flags of a command that opens a backend, or looks at its machine.
class MachineFlags {
public:
  /// A backend that a command or a flag of it takes.
  using Need = std::function<bool(const BackendRow &)>;

  /// With flags for options of these scopes.
  explicit MachineFlags(
      llvm::ArrayRef<BackendOption::Scope> scopes = BackendOption::Machine);
  ~MachineFlags();

  /// Says that `what`, a flag or the command itself, takes a backend that meets
  /// `need`.
  void require(llvm::StringRef what, Need need);
  /// What is wrong with the flags; empty when nothing is.
  std::string check() const;
  BackendChoice choice() const;
  /// Flags that make the same choice, for a child.
  std::vector<std::string> words() const;

protected:
  /// What was given that not every backend has: its name, and who has it.
  virtual std::vector<std::pair<std::string, Need>> needs() const;

private:
  struct Flag; ///< of a backend's option
  /// Of a value among those that a flag takes.
  enum class Place : unsigned {};

  /// What was asked for, or what this platform has.
  const BackendRow &chosen() const;

  std::vector<std::unique_ptr<Flag>> flags;
  std::vector<std::pair<std::string, Need>> required;
  std::string backendHelp;
  std::unique_ptr<llvm::cl::opt<Place>> backend;
};

/// The flags of a command that runs programs.
class BackendFlags : public MachineFlags {
public:
  BackendFlags();

  BackendChoice choice() const;
  LoadOptions load() const;
  /// The threads of this process.
  std::shared_ptr<Executor> executor() const {
    return workspace()->sharedExecutor();
  }

  llvm::cl::opt<Numerics> numerics;

protected:
  std::vector<std::pair<std::string, Need>> needs() const override;

private:
  const std::shared_ptr<Workspace> &workspace() const;

  llvm::cl::opt<unsigned> threads;
  mutable std::shared_ptr<Workspace> shared;
};

/// The path of this program, to run it again.
std::string ownExecutable();

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_BACKENDFLAGS_H
