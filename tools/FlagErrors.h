//===- FlagErrors.h - what is wrong with a flag -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Parsers of flags say here what is wrong with a value, and runTool prints it
/// as it prints other wrong usage.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_FLAGERRORS_H
#define ANEC_TOOLS_FLAGERRORS_H

#include "lib/Support/Suggestion.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// `--weights`, or `-o`.
std::string spellFlag(llvm::StringRef name);

/// That `flag` takes `what`, and has `text`. Returns true, as a parser that
/// fails.
bool refuseValue(const llvm::cl::Option &flag, llvm::StringRef what,
                 llvm::StringRef text, const llvm::Twine &more = "");

/// That `text` is none of `values`, with the nearest of them.
bool refuseChoice(const llvm::cl::Option &flag, llvm::StringRef text,
                  const llvm::cl::generic_parser_base &values);

/// What was refused. There is one command line in a process.
llvm::ArrayRef<std::string> flagErrors();

/// That there is no target `name`, with the nearest.
std::string noTarget(llvm::StringRef name);

} // namespace anec

#endif // ANEC_TOOLS_FLAGERRORS_H
