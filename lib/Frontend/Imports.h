//===- Imports.h - a file with those that it imports ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_IMPORTS_H
#define ANEC_LIB_FRONTEND_IMPORTS_H

#include "lib/Frontend/Ast.h"
#include <memory>

namespace anec::frontend {

/// A program of one or more files.
struct Program {
  ast::File merged; ///< the blocks of all files, of imported ones first
  std::vector<std::unique_ptr<ast::File>> files; ///< which own them
};

/// Parses `text` and the files that it imports, each once. Returns null when an
/// error was reported.
[[nodiscard]] std::unique_ptr<Program> parseProgram(llvm::StringRef text,
                                                    Diagnostics &diags);

} // namespace anec::frontend

#endif // ANEC_LIB_FRONTEND_IMPORTS_H
