//===- Traps.h - what only some chips and systems do -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Mistakes of engines and compilers that were published of a chip or a system.
/// The ledger has the names of those that the double makes:
///
///   batch-broadcast   `mul` that broadcasts along axis 0 is wrong (M3)
///   decay             runs are slow after many of the same loaded program
///   e5-crash          Core ML's compiler crashes the process that calls it
///   equal-operands    `matmul` of a value with itself is refused (M5)
///   forgets           what was compiled goes with unloading
///   inner-32          `matmul` over a number of elements that is no multiple
///                     of 32 gives zeros (M1)
///   input-params      attributes have the last input in a list of its own
///   narrow            inputs of less than 32 columns are garbage (M3, M5)
///   own-keys          `buildInfo` with keys that no known caller has is
///                     refused; nobody reported that
///   packed-rows       rows are contiguous, as attributes say (old systems)
///   padded-planes     planes are padded to 512 bytes, as attributes say
///   refused-bundles   all programs in memory are refused with Code=10
///   scalar-slots      a scalar operand takes the place of a weight file (M4)
///   short-requests    requests have no form with a buffer of weights
///   silent-surfaces   with a surface that is too small, outputs are zeros (M1)
///   symbol-keys       attributes name inputs and outputs by `Symbol`
///   tile              all is wrong after a program with `tile` (M3)
///   virtual-machine   programs are not loaded, and the framework knows why
///
/// docs/use/ane.md has their sources.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_TRAPS_H
#define ANEC_TEST_ANE_TRAPS_H

#include "anec/IR/IR.h"

namespace ane_double {

/// Why a compiler with the traps refuses the program; empty when it does not.
std::string refusalByTraps(const anec::Function &function,
                           unsigned weightFiles);
/// Makes results wrong that the traps are about.
void spoilByTraps(anec::Function &function);
/// Whether all is wrong after `function` has run.
bool poisonsByTraps(const anec::Function &function);

} // namespace ane_double

#endif // ANEC_TEST_ANE_TRAPS_H
