//===- CommandPages.h - manual pages and completions ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What a tool's tables of commands and flags are written as besides --help: a
/// page of `man`, and completions for shells.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_COMMANDPAGES_H
#define ANEC_TOOLS_COMMANDPAGES_H

#include "Command.h"

namespace anec {

/// Prints the page that `form` names, `man`, `bash`, `zsh` or `fish`, to
/// standard output. Returns false for another name. No command may have been
/// made in this process.
bool printPage(const Tool &tool, llvm::StringRef form);

} // namespace anec

#endif // ANEC_TOOLS_COMMANDPAGES_H
