//===- ProgramWriter.h - a module as a program ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_PROGRAMWRITER_H
#define ANEC_LIB_FRONTEND_PROGRAMWRITER_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"

namespace anec {

/// A program in .tdsl, and what it does not say itself.
struct WrittenProgram {
  std::string text;
  /// The arrays of its weights: the name in the program, such as `h.3.w`, and
  /// the name in the module.
  std::vector<std::pair<std::string, std::string>> weights;
  /// The values of arrays that were constants of the module, by the name that
  /// `weights` has for them: the language has no literals of their size.
  std::vector<std::pair<std::string, ConstantRef>> constants;
};

/// Writes a module of one function, or one whose only entry is a host function
/// that calls layers, one after the other or by a `repeat` of one call, as
/// find-layers leaves it: as a `model` when the entry has a loss, and otherwise
/// as a kernel. The program
/// computes the same, and its inputs and outputs have the same names, spelled
/// as identifiers. `module` is changed: constants and weights that several
/// functions have become arguments. `heading` is a comment, of lines without
/// `//`. Returns nothing, with the reason reported, for ops that the language
/// does not have: states, buffers, branches and loops that values decide.
[[nodiscard]] std::optional<WrittenProgram>
writeProgram(Module &module, llvm::StringRef heading, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_FRONTEND_PROGRAMWRITER_H
