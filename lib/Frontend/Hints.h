//===- Hints.h - what to write instead --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Words of other languages and libraries, for notes that say what to write
/// here.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_HINTS_H
#define ANEC_LIB_FRONTEND_HINTS_H

#include "lib/Frontend/Ast.h"
#include "lib/IR/OpDef.h"
#include "lib/Support/Suggestion.h"

namespace anec::frontend {

/// `fp16` for `half`; empty when the name is no element type elsewhere.
llvm::StringRef elementTypeFor(llvm::StringRef name);
/// `axis` for `dim`: the parameter among `parameters` that other libraries call
/// so; empty when there is none.
llvm::StringRef parameterFor(llvm::StringRef name,
                             llvm::ArrayRef<ParamDef> parameters);
/// `where` for `if_else`; empty when the name is no op elsewhere.
llvm::StringRef opFor(llvm::StringRef name);
/// What to write in place of a statement or a block that starts with the word;
/// empty when no other language has it.
llvm::StringRef adviceForWord(llvm::StringRef word);
/// The same for a character that the language does not use.
llvm::StringRef adviceForCharacter(char character);

/// Adds the note "did you mean" with `known`, or else with the suggestion;
/// returns false when there is neither.
bool noteInstead(Diagnostics::Report report, const ast::Name &name,
                 llvm::StringRef known, const Suggestion &suggestion);

} // namespace anec::frontend

#endif // ANEC_LIB_FRONTEND_HINTS_H
