//===- ProgramRun.h - one run of a program ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_PROGRAMRUN_H
#define ANEC_LIB_RUNTIME_PROGRAMRUN_H

#include "lib/Runtime/Comparison.h"
#include "lib/Runtime/SourceReference.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace anec {

/// The arrays of a program's inputs and outputs.
class RunBuffers {
public:
  /// Sets the states of `executable`. Returns nothing, with the reason
  /// reported, when the machine failed.
  [[nodiscard]] static std::optional<RunBuffers>
  make(Executable &executable, const ProgramArrays &given, Diagnostics &diags);
  [[nodiscard]] bool run(Executable &executable, Diagnostics &diags);
  /// Copies of the outputs and states after the last run; the same on failure.
  [[nodiscard]] std::optional<std::vector<ConstantRef>>
  outputs(Executable &executable, Diagnostics &diags) const;

private:
  std::vector<ConstantRef> inputs;
  std::vector<std::vector<uint8_t>> results;
};

/// The function of `module` called `wanted`, or its only one. Returns null,
/// with the reason reported, when the choice is ambiguous or there is none.
[[nodiscard]] const Function *findFunctionToRun(const Module &module,
                                                llvm::StringRef wanted,
                                                Diagnostics &diags);
/// Whether all weights of `function` have values; reports one that has none.
[[nodiscard]] bool hasWeightValues(const Function &function,
                                   Diagnostics &diags);

struct RunOptions {
  LoadOptions load;
  /// Arguments NAME=SOURCE, see InputArrays.h.
  std::vector<std::string> inputs, states;
  std::string outputDir; ///< for writeOutputs; empty for none
  /// How callers see the inputs and outputs; null when that is not known.
  const FunctionDescription *description = nullptr;
  /// Also evaluates the program in double precision, prints the error of each
  /// output, and reports those that are off by more.
  std::optional<Tolerance> compare;
  /// What `compare` evaluates; without it, the program itself.
  std::optional<SourceReference> reference;
  /// With `compare`, receives what is compared; then wrong outputs are not
  /// errors. Null: they are.
  std::vector<OutputComparison> *comparisons = nullptr;
  /// Prints a JSON object with the comparison instead of text.
  bool json = false;
  /// Prints which results an emulated engine gets wrong.
  bool reportHazards = false;
};
/// Runs `function` once on `backend`, prints a summary of each output, and
/// writes every output and the final value of every state, also when one is
/// wrong. The index of a label is replaced by the label. Returns false, with
/// the reason reported, on failure, and when an output is wrong.
[[nodiscard]] bool runOnce(const Function &function, Backend &backend,
                           const RunOptions &options, llvm::raw_ostream &out,
                           Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_RUNTIME_PROGRAMRUN_H
