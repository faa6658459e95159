//===- Frontend.h - .tdsl text to IR ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The front end: source text to syntax tree to IR. docs/reference/language.md
/// specifies the language.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_FRONTEND_H
#define ANEC_LIB_FRONTEND_FRONTEND_H

#include "lib/Frontend/Ast.h"
#include "lib/IR/OpDef.h"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace anec {

/// The most bytes of a file. A token uses several hundred bytes until the text
/// is parsed.
constexpr size_t maxTextSize = 1 << 20;

struct FrontendOptions {
  /// Values that override entries of `config`: name and number, as passed to
  /// `--define` on the command line.
  std::vector<std::pair<std::string, std::string>> defines;
  /// Say which defaults were changed, as remarks.
  bool remarks = false;
};

/// Checks and translates a program. Kernels and layers become functions of
/// their kind, a model a host function, in source order. `text` must be owned
/// by `diags` (Diagnostics::addBuffer), under the name of its file: imports are
/// read relative to that. Returns null when an error was reported.
[[nodiscard]] std::unique_ptr<Module> parseTDSL(llvm::StringRef text,
                                                const FrontendOptions &options,
                                                const OpTable &ops,
                                                Diagnostics &diags);

/// Only the parsing step: returns null when the text does not match the
/// grammar.
[[nodiscard]] std::unique_ptr<ast::File> parseSyntax(llvm::StringRef text,
                                                     Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_FRONTEND_FRONTEND_H
