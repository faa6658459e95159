//===- Command.h - the commands of a tool -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A tool is a table of commands. A command's flags are members of its class,
/// so that a process only has the flags of the command that it runs.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_COMMAND_H
#define ANEC_TOOLS_COMMAND_H

#include "ExitCode.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"
#include <memory>
#include <optional>

namespace anec {

/// How a command was called.
struct Invocation {
  llvm::StringRef tool;
  char **arguments; ///< of `main`, to run the same again

  /// Prints an error in the command line and returns the exit code for it.
  ExitCode usageError(const llvm::Twine &message) const;
};

/// A command, with its flags read. Flags are `llvm::cl` members without
/// `cl::sub` and `cl::cat`; structs of them are shared by inheriting them, or
/// as members.
class Command {
public:
  virtual ~Command();
  virtual ExitCode run(const Invocation &call) = 0;
};

/// The row of a command: its texts in `--help`, and how it is made.
/// What exit codes mean if a command says nothing else.
inline constexpr llvm::StringLiteral usualExits =
    "0 success, 1 invalid input, 2 wrong usage, 3 system failure";

struct CommandDef {
  /// Empty for the command that runs when none is named.
  llvm::StringLiteral name = "";
  /// The heading that the tool's `--help` lists it under.
  llvm::StringLiteral group = "";
  /// One line, without a period.
  llvm::StringLiteral summary = "";
  /// What follows the name and the flags: `FILE...`.
  llvm::StringLiteral synopsis = "";
  /// Text below the flags, with a newline after each line; may be empty.
  llvm::StringLiteral details = "";
  /// What its exit codes mean, where that is not `usualExits`: all of them,
  /// with a newline and two spaces where a line ends.
  llvm::StringLiteral exits = "";
  /// The flags that most people use, with spaces between, which `--help` shows;
  /// empty for all. `--help-all` shows the others, too.
  llvm::StringLiteral usual = "";
  /// Command lines to copy, each with two spaces before it and a newline after.
  llvm::StringLiteral examples = "";
  /// Left out of `--help`: a command that a tool runs in a child process.
  bool isHidden = false;
  /// The part of anec that the command is of and this build lacks, and the
  /// option of CMake for it; it is then refused. Empty for those that are
  /// there.
  llvm::StringLiteral lacks = "";
  std::unique_ptr<Command> (*make)() = nullptr;
};

/// A command of language models in a build without them.
constexpr CommandDef absentCommand(llvm::StringLiteral name) {
  return {.name = name,
          .isHidden = true,
          .lacks = "language models (ANEC_LANGUAGE_MODELS)"};
}

template <typename T>
std::unique_ptr<Command> makeCommand() {
  return std::make_unique<T>();
}

/// A flag that people look for in one tool and that another one has.
struct ForeignFlag {
  llvm::StringLiteral flag;
  llvm::StringLiteral command; ///< `ane-run`: where it is
};

struct Tool {
  llvm::StringLiteral name;
  llvm::StringLiteral
      overview; ///< what the tool is for, with a newline after each line
  /// One of them has no name. Groups are shown in the order of this list.
  llvm::ArrayRef<const CommandDef *> commands;
  /// Called when the flags of a command are read: an exit code when the command
  /// was run otherwise. Null for tools that run all commands here.
  std::optional<int> (*runOtherwise)(const CommandDef &command,
                                     char **arguments) = nullptr;
  /// Named when they are given to this tool.
  llvm::ArrayRef<ForeignFlag> foreignFlags = {};
};

/// The `main` of a tool: finds the command, reads its flags and runs it, or
/// prints help or an error in the command line. Returns the exit code.
int runTool(const Tool &tool, int argc, char **argv);

/// Runs `body`, writes out standard output, prints the diagnostics to standard
/// error, and returns the exit code for them.
ExitCode runReporting(llvm::function_ref<bool(Diagnostics &)> body);

} // namespace anec

#endif // ANEC_TOOLS_COMMAND_H
