//===- anec.cpp - the compiler's command line -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Flags -> library -> exit code: 0 success, 1 invalid input, 2 wrong
/// usage, 3 system failure. Each command has a file of its own, with its
/// flags.
///
//===----------------------------------------------------------------------===//

#include "../BuiltWith.h"
#include "CommandTable.h"

using namespace anec;

static constexpr const CommandDef *all[] = {
#define COMMAND(NAME) &commands::NAME,
#include "Commands.def"
};

// How a program is run and compared, and what only those need who change anec.
static constexpr ForeignFlag foreign[] = {
    {"atol", "ane-run"},        {"backend", "ane-run"},
    {"compare", "ane-run"},     {"dump-docs", "anec debug"},
    {"equal-nan", "ane-run"},   {"input", "ane-run"},
    {"numerics", "ane-run"},    {"output-dir", "ane-run"},
    {"reference", "ane-run"},   {"rtol", "ane-run"},
    {"verdicts", "anec debug"},
};

std::string anec::builtWith() { return ""; }

int main(int argc, char **argv) {
  return runTool({"anec",
                  "anec - compiles tensor programs to MIL for the Apple Neural "
                  "Engine\n",
                  all, nullptr, foreign},
                 argc, argv);
}
