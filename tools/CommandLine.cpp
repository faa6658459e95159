//===- CommandLine.cpp - what command lines have in common ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "ExitCode.h"
#include "anec/Support/Suggestion.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;
namespace cl = llvm::cl;

/// The commands that have a name.
static std::vector<cl::SubCommand *> commands() {
  std::vector<cl::SubCommand *> named;
  for (cl::SubCommand *command : cl::getRegisteredSubcommands())
    if (!command->getName().empty())
      named.push_back(command);
  return named;
}

static cl::SubCommand *findCommand(llvm::StringRef name) {
  for (cl::SubCommand *command : commands())
    if (command->getName() == name)
      return command;
  return nullptr;
}

/// Whether `word` can only have been meant as a command: no file is called so,
/// and files have endings.
static bool isMisspelt(llvm::StringRef word) {
  return !word.empty() && llvm::isAlpha(word.front()) &&
         llvm::all_of(word,
                      [](char c) { return llvm::isAlnum(c) || c == '-'; }) &&
         !llvm::sys::fs::exists(word);
}

static bool reportMisspelt(llvm::StringRef tool, llvm::StringRef word) {
  Suggestion suggestion(word);
  for (const cl::SubCommand *command : commands())
    suggestion.consider(command->getName());
  std::string meant;
  if (!suggestion.found().empty())
    meant = ("; did you mean `" + suggestion.found() + "`?").str();
  usageError(tool, "there is no command and no file `" + word + "`" + meant);
  return false;
}

/// The lines of `closing` that are of `command`.
static std::string closingOf(llvm::StringRef tool, llvm::StringRef command,
                             llvm::StringRef closing) {
  auto [before, examples] = closing.split("EXAMPLES:\n");
  std::string kept = "\nEXAMPLES:\n";
  llvm::SmallVector<llvm::StringRef> lines;
  examples.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    llvm::StringRef words = line;
    bool ofAnother =
        words.consume_front("  ") && words.consume_front(tool) &&
        !(words.consume_front(" ") && words.consume_front(command) &&
          (words.empty() || words.front() == ' '));
    if (!ofAnother)
      kept += line.str() + '\n';
  }
  return llvm::StringRef(kept).rtrim('\n').str() + '\n';
}

/// A flag of the tool that `command` does not have, and that was given.
static const cl::Option *foreignFlag(cl::SubCommand &command) {
  for (const auto &entry : cl::getRegisteredOptions()) {
    const cl::Option *flag = entry.second;
    // LLVM's own work everywhere.
    if (flag->getNumOccurrences() && !flag->Subs.contains(&command) &&
        !llvm::is_contained(flag->Categories, &cl::getGeneralCategory()))
      return flag;
  }
  return nullptr;
}

static void printVersion(llvm::raw_ostream &out) {
  out << "anec " ANEC_VERSION ", with LLVM " LLVM_VERSION_STRING "\n";
}

bool anec::parseCommandLine(int argc, char **argv, llvm::StringRef tool,
                            llvm::StringRef overview, llvm::StringRef closing) {
  llvm::StringRef word = argc > 1 ? argv[1] : "";
  cl::SubCommand *command = findCommand(word);
  if (!command && isMisspelt(word))
    return reportMisspelt(tool, word);
  std::string ofCommand = command ? closingOf(tool, word, closing) : "";
  cl::SetVersionPrinter(printVersion);
  cl::extrahelp more(command ? llvm::StringRef(ofCommand) : closing);
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &llvm::errs()))
    return false;
  if (const cl::Option *flag = command ? foreignFlag(*command) : nullptr) {
    usageError(tool, "--" + flag->ArgStr + " is no flag of " + tool + " " +
                         word + "; see " + tool + " " + word + " --help");
    return false;
  }
  return true;
}

void anec::endOnFatalErrors() {
  llvm::install_fatal_error_handler([](void *, const char *message, bool) {
    llvm::StringRef parts[] = {"error: ", message, "\n"};
    for (llvm::StringRef part : parts) {
      [[maybe_unused]] auto written =
          ::write(STDERR_FILENO, part.data(), part.size());
    }
    llvm::sys::RunInterruptHandlers();
    ::_exit(MachineError);
  });
}
