//===- CommandHelp.cpp - what --help prints -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandHelp.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"

using namespace anec;
namespace cl = llvm::cl;

FlagSet::FlagSet() {
  for (const auto &entry : cl::getRegisteredOptions())
    common.insert(entry.first());
}

std::string anec::commandLine(const Tool &tool, const CommandDef &command) {
  return command.name.empty() ? tool.name.str()
                              : (tool.name + " " + command.name).str();
}

static void printUsage(const Tool &tool, const CommandDef &command,
                       llvm::raw_ostream &out) {
  out << "USAGE: " << commandLine(tool, command) << " [options]";
  if (!command.synopsis.empty())
    out << ' ' << command.synopsis;
  out << '\n';
}

/// Prints the commands by group.
static void printCommands(const Tool &tool, llvm::raw_ostream &out) {
  llvm::SetVector<llvm::StringRef> groups;
  size_t width = 0;
  std::vector<const CommandDef *> shown;
  for (const CommandDef *command : tool.commands)
    if (!command->isHidden && !command->name.empty()) {
      shown.push_back(command);
      groups.insert(command->group);
      width = std::max(width, command->name.size());
    }
  if (shown.empty())
    return;
  out << "       " << tool.name << " COMMAND [options] ...\n\nCOMMANDS:\n";
  for (llvm::StringRef group : groups) {
    out << "  " << group << ":\n";
    for (const CommandDef *command : shown)
      if (command->group == group)
        out << "    " << llvm::left_justify(command->name, width) << " - "
            << command->summary << '\n';
  }
  out << "  `" << tool.name
      << " help COMMAND` prints the flags of a command.\n";
}

/// Prints the flags of the command, by name. LLVM prints each to standard
/// output.
static void printFlags(const FlagSet &known) {
  std::vector<const cl::Option *> flags;
  size_t width = 0;
  for (const auto &entry : cl::getRegisteredOptions()) {
    const cl::Option *flag = entry.second;
    if (known.isCommon(*flag) || flag->getOptionHiddenFlag() != cl::NotHidden)
      continue;
    flags.push_back(flag);
    width = std::max(width, flag->getOptionWidth());
  }
  if (flags.empty())
    return;
  llvm::sort(flags, [](const cl::Option *a, const cl::Option *b) {
    return a->ArgStr < b->ArgStr;
  });
  llvm::outs() << "\nOPTIONS:\n";
  for (const cl::Option *flag : flags)
    flag->printOptionInfo(width);
}

void anec::printHelp(const Tool &tool, const CommandDef &command,
                     const FlagSet &known) {
  llvm::raw_ostream &out = llvm::outs();
  if (command.name.empty())
    out << tool.overview << '\n';
  else
    out << commandLine(tool, command) << " - " << command.summary << "\n\n";
  printUsage(tool, command, out);
  if (command.name.empty())
    printCommands(tool, out);
  printFlags(known);
  if (!command.details.empty())
    out << '\n' << command.details;
  if (!command.examples.empty())
    out << "\nEXAMPLES:\n" << command.examples;
  out << "\n"
         "EXIT STATUS: 0 success, 1 invalid input, 2 wrong usage, 3 system "
         "failure\n";
}
