//===- VerifyNumerics.h - did a pass change the results? -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_VERIFYNUMERICS_H
#define ANEC_LIB_PASSES_VERIFYNUMERICS_H

#include "anec/Ops/Interpreter.h"
#include "anec/Passes/Pass.h"
#include <map>

namespace anec {

/// Evaluates a function on the same random inputs before and after a pass. A
/// pass may change the shapes of parameters and results, not their elements; it
/// may pad their last axis, give them another element type, and put them into
/// another order.
class NumericsProbe {
public:
  explicit NumericsProbe(const Function &function);
  [[nodiscard]] bool evaluateBefore(const Function &function,
                                    Diagnostics &diags);
  /// Reports when a result moved by more than the pass's tolerance.
  [[nodiscard]] bool compareAfter(const Function &function, const PassDef &pass,
                                  Diagnostics &diags) const;

private:
  std::vector<RefTensor> inputsFor(const Function &function) const;

  std::vector<std::string> inputNames, resultNames;
  std::vector<RefTensor> inputs, before;
};

/// The same for every function of a module that no other applies: what is
/// applied by others may come and go, and change its signature. Gradients that
/// host functions accumulate are results too.
class ModuleProbe {
public:
  explicit ModuleProbe(const Module &module);
  [[nodiscard]] bool evaluateBefore(const Module &module, Diagnostics &diags);
  [[nodiscard]] bool compareAfter(const Module &module, const PassDef &pass,
                                  Diagnostics &diags) const;

private:
  /// Results and gradients by name.
  using Outcome = std::map<std::string, std::vector<double>>;
  struct Probed {
    std::string name;
    std::vector<RefTensor> inputs;
    Outcome before;
  };
  [[nodiscard]] static bool evaluate(const Module &module, const Probed &probed,
                                     Outcome &outcome, Diagnostics &diags);
  std::vector<Probed> functions;
};

} // namespace anec

#endif // ANEC_LIB_PASSES_VERIFYNUMERICS_H
