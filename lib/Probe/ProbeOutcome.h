//===- ProbeOutcome.h - what became of a program ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_PROBEOUTCOME_H
#define ANEC_PROBE_PROBEOUTCOME_H

#include "ProbeSubject.h"
#include "lib/Probe/Verdicts.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// What became of a program: `right`, `wrong` or `refused`; `not-tried` when
/// the machine or anec failed, so that nothing is known about the program;
/// `ran` and `loaded` when there are no results to compare.
struct ProbeOutcome {
  ProgramOutcome what = ProgramOutcome::NotTried;
  std::string message = "";
  std::optional<ProbeError> error = {};
};

/// The last message, with its id; empty when there is none.
std::string lastMessage(const Diagnostics &diags);

/// The outcome of a program that could not be loaded or run.
ProbeOutcome failedOutcome(const Diagnostics &diags);

/// What is done with a loaded program; fills its outputs in the order of its
/// ports. Returns false, with the reason reported, when the machine failed.
using ProbeRun = llvm::function_ref<bool(
    Executable &, std::vector<std::vector<uint8_t>> &outputs, Diagnostics &)>;

/// Loads a prepared program, calls `run`, and compares the outputs with those
/// of the CPU backend. The backend is tried first: a refused program needs no
/// reference outputs.
ProbeOutcome tryProgram(ProbeSubject &subject, Backend &backend, ProbeRun run);

/// An object with `outcome`, `seconds`, and what else there is.
llvm::json::Object toJson(const ProbeOutcome &outcome, double seconds);
/// JSON has no infinity: 1e30 stands for it.
double asNumber(double value);

} // namespace anec

#endif // ANEC_PROBE_PROBEOUTCOME_H
