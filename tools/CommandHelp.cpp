//===- CommandHelp.cpp - what --help prints -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandHelp.h"
#include "FlagTopics.h"
#include "Terminal.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include <algorithm>

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

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

namespace {
/// A flag, and where it stands.
struct PlacedFlag {
  std::pair<size_t, size_t> place;
  const cl::Option *flag;
};
} // namespace

/// The flags of the command, by topic.
static std::vector<PlacedFlag> flagsOf(const CommandDef &command,
                                       const FlagSet &known) {
  std::vector<PlacedFlag> flags;
  for (const auto &entry : cl::getRegisteredOptions()) {
    const cl::Option *flag = entry.second;
    if (!known.isCommon(*flag) && flag->getOptionHiddenFlag() == cl::NotHidden)
      flags.push_back({placeOfFlag(command.name, flag->ArgStr), flag});
  }
  llvm::sort(flags, [](const PlacedFlag &a, const PlacedFlag &b) {
    return std::pair(a.place, a.flag->ArgStr) <
           std::pair(b.place, b.flag->ArgStr);
  });
  return flags;
}

/// Calls `print` for each flag, after the heading of its topic.
static void eachByTopic(llvm::ArrayRef<PlacedFlag> flags,
                        llvm::function_ref<void(const cl::Option &)> print) {
  llvm::outs() << "\nOPTIONS:\n";
  for (size_t i = 0; i < flags.size(); ++i) {
    size_t topic = flags[i].place.first;
    if (i == 0 || topic != flags[i - 1].place.first) {
      llvm::StringRef heading = "Others";
      if (topic < flagTopics().size())
        heading = flagTopics()[topic].heading;
      llvm::outs() << "  " << heading << ":\n";
    }
    print(*flags[i].flag);
  }
}

/// `--weights=<FILE>`, `-o <FILE>`, `--json`.
static std::string spellFlag(const cl::Option &flag) {
  bool isLetter = flag.ArgStr.size() == 1;
  std::string text = ((isLetter ? "-" : "--") + flag.ArgStr).str();
  bool isOptional = flag.getValueExpectedFlag() == cl::ValueOptional;
  if (flag.ValueStr.empty() && flag.getValueExpectedFlag() != cl::ValueRequired)
    return text;
  llvm::StringRef value = flag.ValueStr.empty() ? "value" : flag.ValueStr;
  return text +
         (isOptional ? "[=<"
          : isLetter ? " <"
                     : "=<") +
         value.str() + (isOptional ? ">]" : ">");
}

/// Prints the words of `text` from column `indent` on, where the output is.
static void printFrom(llvm::StringRef text, size_t indent, size_t width,
                      llvm::raw_ostream &out) {
  llvm::SmallVector<llvm::StringRef, 32> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  size_t column = indent;
  for (llvm::StringRef word : words) {
    if (column != indent && column + 1 + word.size() > width) {
      out << '\n';
      out.indent(unsigned(indent));
      column = indent;
    } else if (column != indent) {
      out << ' ';
      ++column;
    }
    out << word;
    column += word.size();
  }
  out << '\n';
}

/// Whether all brackets of `text` are closed.
static bool isClosed(llvm::StringRef text) {
  return text.count('(') == text.count(')');
}

/// `text`, or the clauses of it that fit in `room`: what follows are details,
/// which --help-all has.
static llvm::StringRef brieflyIn(size_t room, llvm::StringRef text) {
  if (text.size() <= room)
    return text;
  for (size_t end = room; end > 0; --end) {
    llvm::StringRef rest = text.drop_front(end);
    bool isClauseEnd = llvm::any_of(
        llvm::ArrayRef<llvm::StringRef>{" (", "; ", ": ", ", "},
        [&](llvm::StringRef mark) { return rest.starts_with(mark); });
    if (isClauseEnd && isClosed(text.take_front(end)))
      return text.take_front(end);
  }
  return text;
}

static size_t helpWidth() {
  constexpr unsigned least = 60, most = 100;
  unsigned columns = terminalColumns();
  return columns ? std::clamp(columns, least, most) : most;
}

/// Prints the flags that most people use, each with its text beside it.
static void printUsualFlags(llvm::ArrayRef<PlacedFlag> flags) {
  constexpr size_t widest = 32;
  size_t column = 0;
  for (const PlacedFlag &placed : flags)
    if (size_t size = spellFlag(*placed.flag).size(); size <= widest)
      column = std::max(column, size);
  column += 6; // four before, two after
  eachByTopic(flags, [&](const cl::Option &flag) {
    std::string spelt = "    " + spellFlag(flag);
    if (spelt.size() + 2 > column) {
      llvm::outs() << spelt << '\n';
      llvm::outs().indent(unsigned(column));
    } else {
      llvm::outs() << llvm::left_justify(spelt, unsigned(column));
    }
    llvm::StringRef text = flag.HelpStr;
    size_t width = helpWidth();
    printFrom(brieflyIn(width - column, text.rtrim(':')), column, width,
              llvm::outs());
  });
}

/// Prints all flags with their values. LLVM prints each to standard output.
static void printAllFlags(llvm::ArrayRef<PlacedFlag> flags) {
  size_t width = 0;
  for (const PlacedFlag &placed : flags)
    width = std::max(width, placed.flag->getOptionWidth());
  eachByTopic(flags,
              [&](const cl::Option &flag) { flag.printOptionInfo(width); });
}

static void printFlags(const CommandDef &command, const FlagSet &known,
                       HelpDetail detail) {
  std::vector<PlacedFlag> flags = flagsOf(command, known);
  size_t all = flags.size();
  if (detail == HelpDetail::Screen && !command.usual.empty()) {
    llvm::SmallVector<llvm::StringRef, 32> usual;
    command.usual.split(usual, ' ');
    llvm::erase_if(flags, [&](const PlacedFlag &placed) {
      return !llvm::is_contained(usual, placed.flag->ArgStr);
    });
  }
  if (flags.empty())
    return;
  if (detail == HelpDetail::All)
    return printAllFlags(flags);
  printUsualFlags(flags);
  if (flags.size() < all)
    llvm::outs() << "  --help-all lists " << all - flags.size()
                 << " more flags, and says more of these.\n";
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

/// The first command lines of `examples`, with the lines that continue them.
static llvm::StringRef firstExamples(llvm::StringRef examples, unsigned most) {
  size_t end = 0;
  unsigned lines = 0;
  while (end < examples.size()) {
    size_t next = examples.find("\n  an", end);
    next = next == llvm::StringRef::npos ? examples.size() : next + 1;
    lines += unsigned(examples.slice(end, next).count('\n'));
    if (lines > most && end != 0)
      break;
    end = next;
  }
  return examples.take_front(end);
}

void anec::printHelp(const Tool &tool, const CommandDef &command,
                     const FlagSet &known, HelpDetail detail) {
  llvm::raw_ostream &out = llvm::outs();
  if (command.name.empty())
    out << tool.overview << '\n';
  else
    out << commandLine(tool, command) << " - " << command.summary << "\n\n";
  printUsage(tool, command, out);
  if (command.name.empty())
    printCommands(tool, out);
  printFlags(command, known, detail);
  if (!command.details.empty())
    out << '\n' << command.details;
  if (!command.examples.empty())
    out << "\nEXAMPLES:\n"
        << (detail == HelpDetail::All
                ? llvm::StringRef(command.examples)
                : firstExamples(command.examples,
                                command.name.empty() ? 3 : 6));
  out << "\nEXIT STATUS: "
      << (command.exits.empty() ? usualExits : command.exits) << '\n';
}
