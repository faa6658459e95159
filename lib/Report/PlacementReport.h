//===- PlacementReport.h - where Core ML runs ops, printed ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_PLACEMENTREPORT_H
#define ANEC_LIB_REPORT_PLACEMENTREPORT_H

#include "anec/Runtime/AskedPlace.h"
#include "anec/Target/Target.h"
#include "lib/Runtime/MachineRecord.h"
#include "lib/Target/Place.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// Prints a line for each op, its place, and why it is not the engine; then the
/// number of ops on the engine. Both say that the places are predicted.
void printPlacement(llvm::StringRef function, llvm::ArrayRef<PlacedOp> ops,
                    const Target &target, llvm::raw_ostream &out);
/// Writes an object: `function`, `target`, `source` (`predicted`), `ops`.
void printPlacement(llvm::StringRef function, llvm::ArrayRef<PlacedOp> ops,
                    const Target &target, llvm::json::OStream &json);

/// The same for places that a system answered with. Says so, and names the
/// machine.
void printPlacement(llvm::StringRef function, llvm::ArrayRef<AskedPlace> ops,
                    const MachineRecord &machine, llvm::raw_ostream &out);
/// Writes an object: `function`, `chip`, `system`, `source` (`asked`), `ops`.
void printPlacement(llvm::StringRef function, llvm::ArrayRef<AskedPlace> ops,
                    const MachineRecord &machine, llvm::json::OStream &json);

} // namespace anec

#endif // ANEC_LIB_REPORT_PLACEMENTREPORT_H
