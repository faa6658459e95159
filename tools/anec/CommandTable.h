//===- CommandTable.h - the commands of anec --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_COMMANDTABLE_H
#define ANEC_TOOLS_ANEC_COMMANDTABLE_H

#include "../Command.h"

namespace anec::commands {
#define COMMAND(NAME) extern const CommandDef NAME;
#include "Commands.def"

/// The headings of --help.
inline constexpr llvm::StringLiteral rules = "Rules of chips",
                                     programs = "Programs and weights",
                                     development = "Development of anec";
} // namespace anec::commands

#endif // ANEC_TOOLS_ANEC_COMMANDTABLE_H
