//===- ane-run.cpp - the runner's command line ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Flags -> library -> exit code: 0 success, 1 invalid input, 2 wrong
/// usage, 3 the machine or the backend failed. Each command has a file of its
/// own, with its flags.
///
//===----------------------------------------------------------------------===//

#include "../BuiltWith.h"
#include "BackendChoice.h"
#include "CommandTable.h"
#include "OwnProcess.h"
#include "anec/Train/Collective.h"

using namespace anec;

static constexpr const CommandDef *all[] = {
#define COMMAND(NAME) &commands::NAME,
#include "Commands.def"
};

// What a program is made into.
static constexpr ForeignFlag foreign[] = {
    {"calibrate", "anec"}, {"emit", "anec"},      {"interface", "anec"},
    {"o", "anec"},         {"precision", "anec"}, {"quantize", "anec"},
};

/// The backends and the optional libraries.
std::string anec::builtWith() {
  std::string text = "backends:";
  for (const BackendRow &row : toolBackends().rows())
    if (row.isBuilt)
      text += " " + row.name;
  auto state = [](bool isThere) { return isThere ? "yes" : "no"; };
  text += std::string("; MPI: ") + state(hasMpi());
  if (!commands::Generate.lacks.empty())
    text += "; language models: no";
  text += std::string("; tokenizer.json: ") + state(ANEC_HAS_HUGGINGFACE);
  return text + "; serve: " + state(ANEC_HAS_SERVER) + "\n";
}

int main(int argc, char **argv) {
  return runTool(
      {"ane-run",
       "ane-run - runs MIL programs on the Apple Neural Engine or on the CPU,\n"
       "from the same text and weights\n",
       all, runInOwnProcess, foreign},
      argc, argv);
}
