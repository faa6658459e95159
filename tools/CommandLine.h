//===- CommandLine.h - what command lines have in common -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_COMMANDLINE_H
#define ANEC_TOOLS_COMMANDLINE_H

#include "llvm/ADT/StringRef.h"

namespace anec {

/// Reads the command line of `tool`; false, with the reason printed, when it is
/// wrong. LLVM's parser takes flags of the tool after the name of a command
/// that does not have them, and says little of a command that there is not;
/// here both are errors. `--help` closes with `closing`: all of it, or, after
/// the name of a command, the examples of that and what follows them.
bool parseCommandLine(int argc, char **argv, llvm::StringRef tool,
                      llvm::StringRef overview, llvm::StringRef closing);

/// Ends the process as a failure of the machine when LLVM can go on no more,
/// say because standard output cannot be written.
void endOnFatalErrors();

} // namespace anec

#endif // ANEC_TOOLS_COMMANDLINE_H
