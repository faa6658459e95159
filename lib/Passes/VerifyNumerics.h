//===- VerifyNumerics.h - check that passes keep results --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_VERIFYNUMERICS_H
#define ANEC_LIB_PASSES_VERIFYNUMERICS_H

#include "anec/Passes/Pass.h"
#include "lib/Ops/Interpreter.h"
#include <map>

namespace anec {

/// Evaluates a function on the same random inputs before and after a pass. A
/// pass can reshape, pad (along the last axis), reorder and change the element
/// type of parameters and results, but not their elements.
class NumericsProbe {
public:
  explicit NumericsProbe(const Function &function);
  [[nodiscard]] bool evaluateBefore(const Function &function,
                                    Diagnostics &diags);
  /// Reports results that changed by more than the pass's tolerance. Returns
  /// false if there are any.
  [[nodiscard]] bool compareAfter(const Function &function, const PassDef &pass,
                                  Diagnostics &diags) const;

private:
  std::vector<RefTensor> inputsFor(const Function &function) const;

  std::vector<std::string> inputNames, resultNames;
  std::vector<RefTensor> inputs, before;
};

/// The same for every function of a module that is not applied by another:
/// applied functions can be added, removed, and change their signature.
/// Gradients that host functions accumulate are compared as results.
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
