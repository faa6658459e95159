//===- CommandPages.cpp - manual pages and completions --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandPages.h"
#include "CommandHelp.h"
#include "FlagTopics.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <tuple>

using namespace anec;
namespace cl = llvm::cl;

namespace {
struct FlagRow {
  std::pair<size_t, size_t> place; ///< its topic, and where in it
  std::string name;
  std::string value; ///< what its value is called; empty for none
  std::string text;
  bool takesValue = false;
};
struct CommandRow {
  const CommandDef *def;
  std::vector<FlagRow> flags; ///< by topic
};
} // namespace

/// The flags of the command that was made last. They are unregistered, so that
/// another command can be made.
static std::vector<FlagRow> takeFlags(const CommandDef &def,
                                      const FlagSet &known) {
  std::vector<cl::Option *> options;
  for (const auto &entry : cl::getRegisteredOptions())
    if (!known.isCommon(*entry.second))
      options.push_back(entry.second);
  std::vector<FlagRow> rows;
  for (cl::Option *option : options) {
    bool takesValue = option->getValueExpectedFlag() != cl::ValueDisallowed &&
                      (option->getValueExpectedFlag() != cl::ValueOptional ||
                       !option->ValueStr.empty());
    if (option->getOptionHiddenFlag() == cl::NotHidden)
      rows.push_back({placeOfFlag(def.name, option->ArgStr),
                      option->ArgStr.str(),
                      takesValue ? option->ValueStr.str() : "",
                      // The values follow the colon, in --help alone.
                      option->HelpStr.rtrim(':').str(), takesValue});
  }
  llvm::sort(rows, [](const FlagRow &a, const FlagRow &b) {
    return std::tie(a.place, a.name) < std::tie(b.place, b.name);
  });
  for (cl::Option *option : options)
    option->removeArgument();
  auto positional = cl::SubCommand::getTopLevel().PositionalOpts;
  for (cl::Option *option : positional)
    option->removeArgument();
  return rows;
}

static std::vector<CommandRow> readCommands(const Tool &tool) {
  std::vector<CommandRow> rows;
  FlagSet known;
  for (const CommandDef *def : tool.commands) {
    if (def->isHidden)
      continue;
    std::unique_ptr<Command> command = def->make();
    rows.push_back({def, takeFlags(*def, known)});
  }
  return rows;
}

static std::string dashed(const FlagRow &flag) {
  return (flag.name.size() == 1 ? "-" : "--") + flag.name;
}

//===----------------------------------------------------------------------===//
// A page of `man`
//===----------------------------------------------------------------------===//

/// Text of a paragraph: no character means something to troff.
static std::string troff(llvm::StringRef text) {
  std::string out;
  bool isLineStart = true;
  for (char c : text) {
    if (isLineStart && (c == '.' || c == '\''))
      out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else
      out += c;
    isLineStart = c == '\n';
  }
  return out;
}

static void printAsWritten(llvm::StringRef text, llvm::raw_ostream &out) {
  out << ".PP\n.nf\n" << troff(text.rtrim('\n')) << "\n.fi\n";
}

static void printManCommand(const Tool &tool, const CommandRow &row,
                            llvm::raw_ostream &out) {
  const CommandDef &def = *row.def;
  out << ".SS \"" << troff(commandLine(tool, def)) << "\"\n";
  if (!def.summary.empty())
    out << troff(def.summary) << ".\n";
  size_t topic = flagTopics().size();
  for (const FlagRow &flag : row.flags) {
    if (flag.place.first != topic && flag.place.first < flagTopics().size())
      out << ".PP\n\\fI" << troff(flagTopics()[flag.place.first].heading)
          << "\\fR\n";
    topic = flag.place.first;
    out << ".TP\n\\fB" << troff(dashed(flag)) << "\\fR";
    if (flag.takesValue)
      out << "=\\fI" << troff(flag.value.empty() ? "value" : flag.value)
          << "\\fR";
    out << '\n' << troff(flag.text) << '\n';
  }
  if (!def.details.empty())
    printAsWritten(def.details, out);
  if (!def.exits.empty())
    printAsWritten(("EXIT STATUS: " + def.exits).str(), out);
  if (!def.examples.empty())
    printAsWritten(def.examples, out);
}

static void printMan(const Tool &tool, llvm::ArrayRef<CommandRow> rows,
                     llvm::raw_ostream &out) {
  // The overview begins with `NAME - `.
  std::string about = tool.overview.split(" - ").second.rtrim('\n').str();
  std::replace(about.begin(), about.end(), '\n', ' ');
  out << ".TH " << tool.name.upper() << " 1 \"\" \"anec " ANEC_VERSION
      << "\" \"User Commands\"\n.SH NAME\n"
      << troff(tool.name) << " \\- " << troff(about) << "\n.SH SYNOPSIS\n";
  for (const CommandRow &row : rows)
    out << (&row == rows.data() ? "" : ".br\n") << ".B "
        << troff(commandLine(tool, *row.def)) << "\n[options] "
        << troff(row.def->synopsis) << '\n';
  out << ".SH COMMANDS\n";
  for (const CommandRow &row : rows)
    printManCommand(tool, row, out);
  out << ".SH EXIT STATUS\n"
      << usualExits << ", unless the command says others\n";
}

//===----------------------------------------------------------------------===//
// Completions
//===----------------------------------------------------------------------===//

/// The words after which a flag or a command is completed, with spaces between.
static std::string flagWords(const CommandRow &row) {
  std::vector<std::string> words = {"--help", "--help-all"};
  for (const FlagRow &flag : row.flags)
    words.push_back(dashed(flag) +
                    (flag.takesValue && flag.name.size() > 1 ? "=" : ""));
  return llvm::join(words, " ");
}

static std::vector<llvm::StringRef> names(llvm::ArrayRef<CommandRow> rows) {
  std::vector<llvm::StringRef> found;
  for (const CommandRow &row : rows)
    if (!row.def->name.empty())
      found.push_back(row.def->name);
  return found;
}

/// The name of a tool in a shell function.
static std::string identifier(llvm::StringRef name) {
  std::string id = name.str();
  std::replace(id.begin(), id.end(), '-', '_');
  return id;
}

static void printBash(const Tool &tool, llvm::ArrayRef<CommandRow> rows,
                      llvm::raw_ostream &out) {
  std::string id = identifier(tool.name);
  out << "# Completions of " << tool.name << " for bash.\n_" << id
      << "() {\n  local word=${COMP_WORDS[COMP_CWORD]} flags=\n"
         "  COMPREPLY=()\n  case ${COMP_WORDS[1]-} in\n";
  for (const CommandRow &row : rows)
    if (!row.def->name.empty())
      out << "    " << row.def->name << ") flags='" << flagWords(row)
          << "' ;;\n";
  for (const CommandRow &row : rows)
    if (row.def->name.empty())
      out << "    *) flags='" << flagWords(row) << " --version' ;;\n";
  out << "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$word\")\n"
         "  elif [ \"$COMP_CWORD\" = 1 ]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W '"
      << llvm::join(names(rows), " ")
      << " help' -- \"$word\"\n      compgen -f -- \"$word\")\n"
         "  fi\n"
         "  [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace\n}\n"
         "complete -o default -F _"
      << id << ' ' << tool.name << '\n';
}

/// A text between single quotes, in which a shell sees nothing.
static std::string quoted(llvm::StringRef text) {
  std::string out = "'";
  for (char c : text)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// `name:text`, in which _describe needs a backslash before colons of the name.
static std::string described(llvm::StringRef name, llvm::StringRef text) {
  return quoted((name + ":" + text).str());
}

static void printZsh(const Tool &tool, llvm::ArrayRef<CommandRow> rows,
                     llvm::raw_ostream &out) {
  out << "#compdef " << tool.name << "\n# Completions of " << tool.name
      << " for zsh.\nlocal -a commands flags\ncommands=(\n";
  for (const CommandRow &row : rows)
    if (!row.def->name.empty())
      out << "  " << described(row.def->name, row.def->summary) << '\n';
  out << "  'help:flags of a command'\n)\ncase ${words[2]} in\n";
  auto printFlags = [&](const CommandRow &row, llvm::StringRef pattern) {
    out << "  " << pattern
        << ") flags=(\n    '--help:what is used most'\n"
           "    '--help-all:all flags'\n";
    for (const FlagRow &flag : row.flags)
      out << "    " << described(dashed(flag), flag.text) << '\n';
    out << "  ) ;;\n";
  };
  for (const CommandRow &row : rows)
    if (!row.def->name.empty())
      printFlags(row, row.def->name);
  for (const CommandRow &row : rows)
    if (row.def->name.empty())
      printFlags(row, "*");
  out << "esac\n"
         "if [[ $PREFIX == -* ]]; then\n"
         "  _describe -o flag flags\n"
         "else\n"
         "  (( CURRENT != 2 )) || _describe command commands\n"
         "  _files\n"
         "fi\n";
}

static void printFish(const Tool &tool, llvm::ArrayRef<CommandRow> rows,
                      llvm::raw_ostream &out) {
  out << "# Completions of " << tool.name << " for fish.\n";
  for (const CommandRow &row : rows) {
    const CommandDef &def = *row.def;
    std::string begin = ("complete -c " + tool.name + " -n ").str();
    if (!def.name.empty())
      out << begin << "__fish_use_subcommand -a " << def.name << " -d "
          << quoted(def.summary) << '\n';
    std::string where =
        def.name.empty()
            ? "__fish_use_subcommand"
            : ("'__fish_seen_subcommand_from " + def.name + "'").str();
    for (const FlagRow &flag : row.flags)
      out << begin << where << (flag.name.size() == 1 ? " -s " : " -l ")
          << flag.name << (flag.takesValue ? " -r" : "") << " -d "
          << quoted(flag.text) << '\n';
  }
}

bool anec::printPage(const Tool &tool, llvm::StringRef form) {
  static constexpr struct {
    llvm::StringLiteral form;
    void (*print)(const Tool &, llvm::ArrayRef<CommandRow>,
                  llvm::raw_ostream &);
  } pages[] = {{"man", printMan},
               {"bash", printBash},
               {"zsh", printZsh},
               {"fish", printFish}};
  for (const auto &page : pages)
    if (page.form == form) {
      page.print(tool, readCommands(tool), llvm::outs());
      return true;
    }
  return false;
}
