//===- Command.cpp - the commands of a tool -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "BuiltWith.h"
#include "CommandHelp.h"
#include "CommandPages.h"
#include "FatalErrors.h"
#include "FlagErrors.h"
#include "Signals.h"
#include "Terminal.h"
#include "lib/Runtime/CPU/BlasName.h"
#include "lib/Runtime/CPU/InstructionSets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include <cerrno>
#include <fcntl.h>

using namespace anec;
namespace cl = llvm::cl;

Command::~Command() = default;

ExitCode Invocation::usageError(const llvm::Twine &message) const {
  return anec::usageError(tool, message);
}

ExitCode anec::runReporting(llvm::function_ref<bool(Diagnostics &)> body) {
  Diagnostics diags;
  bool ok = body(diags);
  finishOutput(diags);
  // Printed in one piece, because other processes of the same job may print
  // too.
  std::string text;
  llvm::raw_string_ostream stream(text);
  diags.print(stream, hasColors(llvm::errs()));
  llvm::errs() << stream.str();
  return exitCode(ok, diags);
}

//===----------------------------------------------------------------------===//
// Which command
//===----------------------------------------------------------------------===//

static const CommandDef *findCommand(const Tool &tool, llvm::StringRef name) {
  for (const CommandDef *command : tool.commands)
    if (command->name == name)
      return command;
  return nullptr;
}

/// Whether `word` must be meant as a command: it has no ending, as files have,
/// and no file has this name.
static bool isMisspelt(llvm::StringRef word) {
  return !word.empty() && llvm::isAlpha(word.front()) &&
         llvm::all_of(word,
                      [](char c) { return llvm::isAlnum(c) || c == '-'; }) &&
         !llvm::sys::fs::exists(word);
}

static std::string suggestCommand(const Tool &tool, llvm::StringRef word) {
  Suggestion suggestion(word);
  for (const CommandDef *command : tool.commands)
    if (!command->isHidden)
      suggestion.consider(command->name);
  return didYouMean(suggestion);
}

/// That a command is not in this build.
static ExitCode refuseAbsent(const Tool &tool, const CommandDef &command) {
  return usageError(tool.name, "`" + command.name + "` is a command of " +
                                   command.lacks +
                                   ", which this build of anec leaves out");
}

/// Runs `help`, `help COMMAND` or `help --as=FORM`.
static ExitCode helpOn(const Tool &tool, llvm::ArrayRef<char *> words) {
  llvm::StringRef name = words.empty() ? "" : words.front();
  llvm::StringRef form = name;
  if (form.consume_front("--as=")) {
    if (printPage(tool, form))
      return Done;
    return usageError(tool.name,
                      "help --as takes `man`, `bash`, `zsh` or `fish`, not `" +
                          form + "`");
  }
  const CommandDef *command = findCommand(tool, name);
  if (!command)
    return usageError(tool.name, "there is no command `" + name + "`" +
                                     suggestCommand(tool, name));
  if (!command->lacks.empty())
    return refuseAbsent(tool, *command);
  FlagSet known;
  std::unique_ptr<Command> made = command->make();
  printHelp(tool, *command, known, HelpDetail::Screen);
  return Done;
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

namespace {
/// What must be known of a command line before LLVM reads it.
struct ScannedWords {
  std::optional<HelpDetail> wantsHelp;
  std::string unknownFlag; ///< the first one; empty for none
  std::string lacksValue;  ///< the flag at the end that takes one
};
} // namespace

static ScannedWords scan(llvm::ArrayRef<char *> words) {
  const llvm::StringMap<cl::Option *> &flags = cl::getRegisteredOptions();
  ScannedWords scanned;
  for (size_t i = 0; i < words.size(); ++i) {
    llvm::StringRef word = words[i];
    if (word == "--")
      break;
    llvm::StringRef name = word.ltrim('-').split('=').first;
    if (!word.starts_with("-") || name.empty())
      continue;
    if (name == "help" || name == "h") {
      scanned.wantsHelp = HelpDetail::Screen;
      continue;
    }
    if (name == "help-all") {
      scanned.wantsHelp = HelpDetail::All;
      continue;
    }
    auto found = flags.find(name);
    if (found == flags.end()) {
      if (scanned.unknownFlag.empty())
        scanned.unknownFlag = name.str();
      continue;
    }
    // The next word is the value, whatever it looks like.
    if (!word.contains('=') &&
        found->second->getValueExpectedFlag() == cl::ValueRequired &&
        ++i == words.size())
      scanned.lacksValue = name.str();
  }
  return scanned;
}

static ExitCode reportUnknownFlag(const Tool &tool, const CommandDef &command,
                                  llvm::StringRef flag, const FlagSet &known) {
  Suggestion suggestion(flag);
  for (const auto &entry : cl::getRegisteredOptions())
    if (!known.isCommon(*entry.second))
      suggestion.consider(entry.first());
  llvm::StringRef meant = suggestion.found();
  std::string line = commandLine(tool, command);
  return usageError(
      tool.name,
      spellFlag(flag) + " is not a flag of " + line + "; " +
          (meant.empty() ? "" : "did you mean " + spellFlag(meant) + "? ") +
          "see " + line + " --help");
}

static const ForeignFlag *findForeign(const Tool &tool, llvm::StringRef flag) {
  const auto *found =
      llvm::find_if(tool.foreignFlags,
                    [&](const ForeignFlag &row) { return row.flag == flag; });
  return found == tool.foreignFlags.end() ? nullptr : found;
}

/// Prints what parsers refused, or else what LLVM says of the words.
static ExitCode reportWrongUsage(const Tool &tool, const CommandDef &command,
                                 llvm::StringRef said) {
  std::string line = commandLine(tool, command);
  for (const std::string &error : flagErrors())
    usageError(tool.name, error);
  if (!flagErrors().empty() || said.empty())
    return UsageError;
  // All flags are known, so what LLVM does not know is a file or a word.
  bool isTooMany = said.contains("Too many positional arguments") ||
                   said.contains("Unknown command line argument");
  return usageError(tool.name, isTooMany ? "there are more words than " + line +
                                               " takes; see " + line + " --help"
                                         : said.str());
}

/// Scripts read the first line.
static void printVersion(llvm::raw_ostream &out) {
  out << "anec " ANEC_VERSION ", with LLVM " LLVM_VERSION_STRING "\n"
      << "built by " ANEC_COMPILER " for " ANEC_SYSTEM "\n"
      << "kernels of this processor: " << cpu::namesOfInstructionSets()
      << "; BLAS: " << cpu::nameOfBlas() << '\n'
      << builtWith();
}

static int runCommand(const Tool &tool, const CommandDef &def, char **argv,
                      llvm::ArrayRef<char *> words) {
  FlagSet known;
  std::unique_ptr<Command> command = def.make();
  ScannedWords scanned = scan(words);
  if (scanned.wantsHelp) {
    printHelp(tool, def, known, *scanned.wantsHelp);
    return Done;
  }
  if (const ForeignFlag *row = findForeign(tool, scanned.unknownFlag))
    return usageError(tool.name, spellFlag(row->flag) + " is a flag of " +
                                     row->command + "; see " + row->command +
                                     " --help");
  if (!scanned.unknownFlag.empty())
    return reportUnknownFlag(tool, def, scanned.unknownFlag, known);
  if (!scanned.lacksValue.empty())
    return usageError(tool.name,
                      spellFlag(scanned.lacksValue) + " takes a value");
  std::string name = commandLine(tool, def);
  llvm::SmallVector<const char *> arguments = {name.c_str()};
  llvm::append_range(arguments, words);
  cl::SetVersionPrinter(printVersion);
  std::string wrong;
  llvm::raw_string_ostream stream(wrong);
  if (!cl::ParseCommandLineOptions(int(arguments.size()), arguments.data(), "",
                                   &stream))
    return reportWrongUsage(tool, def, stream.str());
  if (tool.runOtherwise)
    if (std::optional<int> code = tool.runOtherwise(def, argv))
      return *code;
  return command->run({tool.name, argv});
}

/// Makes the kernels use the instruction set that the environment names. Says
/// what is wrong with it; empty when nothing is.
static std::string chooseInstructions() {
  const char *name = std::getenv("ANEC_INSTRUCTIONS");
  if (!name || !*name || cpu::useInstructionSet(name))
    return "";
  return "ANEC_INSTRUCTIONS is `" + std::string(name) +
         "`, and this processor has " + cpu::namesOfInstructionSets();
}

/// Opens the standard files that are closed: otherwise, the first file that is
/// opened would be standard output. Writing to a closed standard output stays
/// an error. Returns false when they cannot be opened.
static bool openStandardFiles() {
  bool isClosed = ::fcntl(STDOUT_FILENO, F_GETFD) < 0 && errno == EBADF;
  if (llvm::sys::Process::FixupStandardFileDescriptors())
    return false;
  if (!isClosed)
    return true;
  int file = ::open("/dev/null", O_RDONLY);
  bool ok = file >= 0 && ::dup2(file, STDOUT_FILENO) >= 0;
  if (file >= 0)
    ::close(file);
  return ok;
}

int anec::runTool(const Tool &tool, int argc, char **argv) {
  if (!openStandardFiles())
    return MachineError;
  catchSignals();
  // anec's own threads share its products, so OpenBLAS would start a pool that
  // never works, and reserve memory for it.
  ::setenv("OPENBLAS_NUM_THREADS", "1", /*overwrite=*/0);
  endWhenMemoryEnds();
  endOnFatalErrors();
  if (std::string wrong = chooseInstructions(); !wrong.empty())
    return usageError(tool.name, wrong);
  llvm::ArrayRef<char *> words(argv + 1, argv + std::max(argc, 1));
  llvm::StringRef first = words.empty() ? "" : words.front();
  if (first == "help")
    return helpOn(tool, words.drop_front());
  const CommandDef *command =
      first.empty() ? nullptr : findCommand(tool, first);
  if (command && !command->lacks.empty())
    return refuseAbsent(tool, *command);
  if (command)
    return runCommand(tool, *command, argv, words.drop_front());
  if (isMisspelt(first))
    return usageError(tool.name, "there is no command and no file `" + first +
                                     "`" + suggestCommand(tool, first));
  return runCommand(tool, *findCommand(tool, ""), argv, words);
}
