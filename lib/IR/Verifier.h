//===- Verifier.h - checks well-formedness ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_VERIFIER_H
#define ANEC_LIB_IR_VERIFIER_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

/// Checks the rules at the top of IR.h and reports every violation it finds.
[[nodiscard]] bool verify(const Function &function, Diagnostics &diags);
/// Checks every function, that names are unique, and that calls fit.
[[nodiscard]] bool verify(const Module &module, Diagnostics &diags);
/// The same, except that what an op for which `isKnown` computes is taken to be
/// right.
[[nodiscard]] bool verify(const Module &module,
                          llvm::function_ref<bool(const Op &)> isKnown,
                          Diagnostics &diags);
/// Checks that the functions that host functions call are in the module and
/// have matching types.
[[nodiscard]] bool verifyCalls(const Module &module, Diagnostics &diags);
/// Checks that every `repeat` ends and that they do not nest deeply.
[[nodiscard]] bool verifyRepeats(const Module &module, Diagnostics &diags);
/// The same, and that no host function runs more ops than can be planned: of a
/// module that comes from a file, or is written to one.
[[nodiscard]] bool verifyRuns(const Module &module, Diagnostics &diags);
/// Checks that the roles of a function, its parameters and its results fit
/// their kinds and types, and that none occurs more often than allowed.
[[nodiscard]] bool verifyRoles(const Function &function, Diagnostics &diags);
/// Checks that owners fit what they own, and that no two entries of one owner
/// have the same role.
[[nodiscard]] bool verifyOwners(const Module &module, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_IR_VERIFIER_H
