//===- CommandHelp.h - what --help prints -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_COMMANDHELP_H
#define ANEC_TOOLS_COMMANDHELP_H

#include "Command.h"
#include "llvm/ADT/StringSet.h"

namespace anec {

/// Distinguishes the flags of a command from those of every program with LLVM's
/// command line, which exist before the command is made.
class FlagSet {
public:
  FlagSet();
  bool isCommon(const llvm::cl::Option &flag) const {
    return common.contains(flag.ArgStr);
  }

private:
  llvm::StringSet<> common;
};

/// `ane-run bench`; the name of the tool for the command without one.
std::string commandLine(const Tool &tool, const CommandDef &command);

/// How much of a command `--help` prints: what most people need, on a screen,
/// or all.
enum class HelpDetail { Screen, All };

/// Prints the usage, flags and examples of `command`, which must have been
/// made, to standard output. For the command without a name, also lists the
/// others.
void printHelp(const Tool &tool, const CommandDef &command,
               const FlagSet &known, HelpDetail detail);

} // namespace anec

#endif // ANEC_TOOLS_COMMANDHELP_H
