//===- TargetFlags.h - --target, --assume and --os --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_TARGETFLAGS_H
#define ANEC_TOOLS_ANEC_TARGETFLAGS_H

#include "../ChoiceFlag.h"
#include "../Command.h"
#include "anec/Passes/PassManager.h"
#include <deque>

namespace anec {

/// The folder of measurements that the environment variable ANEC_MEASURED
/// names; empty for those that are built in.
std::string measuredFolder();

/// The target chip of a command, and the user's assumptions about it.
struct TargetFlags {
  /// Sets the target and the assumptions of `options`. Returns Done, or the
  /// exit code after printing the reason.
  ExitCode read(const Invocation &call, PassManagerOptions &options) const;
  /// The same for a flag that lists chips: `options` has the first one, and
  /// `targets` becomes all.
  ExitCode read(const Invocation &call, PassManagerOptions &options,
                std::vector<const Target *> &targets) const;

  ExitCode readChip(llvm::StringRef chip, const Invocation &call,
                    PassManagerOptions &options) const;

  /// Targets with what was measured of them.
  mutable std::deque<Target> measured;

  llvm::cl::opt<std::string> chip{
      "target", llvm::cl::value_desc("NAME|FILE.json"),
      llvm::cl::init("generic"),
      llvm::cl::desc("The chip to compile for (see --list-targets), or the "
                     "results of ane-run probe for a machine")};
  llvm::cl::list<std::string> assumed{
      "assume", llvm::cl::value_desc("RULE=allow|deny"),
      llvm::cl::CommaSeparated,
      llvm::cl::desc("Disable a rule, or make breaking it an error")};
  llvm::cl::opt<std::string> macOS{
      "os", llvm::cl::value_desc("15.6|any"),
      llvm::cl::desc("The macOS version to compile for (default: ANEC_OS if "
                     "set, else that of this Mac, elsewhere any); rules that "
                     "do not apply to it are disabled")};
};

/// --for: the framework that compiles the programs.
struct FrameworkFlag : ChoiceFlag<EnginePath> {
  FrameworkFlag();

  /// The one that was given, or else that of `programs`.
  EnginePath of(llvm::ArrayRef<std::string> programs) const;
};

} // namespace anec

#endif // ANEC_TOOLS_ANEC_TARGETFLAGS_H
