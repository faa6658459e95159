//===- CommandTable.h - the commands of ane-run -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_COMMANDTABLE_H
#define ANEC_TOOLS_ANE_RUN_COMMANDTABLE_H

#include "../Command.h"

namespace anec::commands {
#define COMMAND(NAME) extern const CommandDef NAME;
#include "Commands.def"

/// The headings of --help.
inline constexpr llvm::StringLiteral programs = "Programs and packages",
                                     models = "Language models",
                                     machines = "This machine";
} // namespace anec::commands

#endif // ANEC_TOOLS_ANE_RUN_COMMANDTABLE_H
