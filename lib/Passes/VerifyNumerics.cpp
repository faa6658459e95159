//===- VerifyNumerics.cpp - did a pass change the results? ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "VerifyNumerics.h"
#include "anec/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

NumericsProbe::NumericsProbe(const Function &function) {
  for (const auto &param : function.parameters())
    inputs.push_back(randomTensor(param->type, inputs.size() + 1));
}

bool NumericsProbe::evaluateBefore(const Function &function,
                                   Diagnostics &diags) {
  return interpret(function, inputs, before, diags);
}

bool NumericsProbe::compareAfter(const Function &function, const PassDef &pass,
                                 Diagnostics &diags) const {
  std::vector<RefTensor> after;
  if (!interpret(function, inputs, after, diags))
    return false;
  bool ok = true;
  for (auto [index, old, now] : llvm::enumerate(before, after)) {
    double error = relativeError(now.data, old.data);
    if (error <= pass.tolerance)
      continue;
    diags.report(function.range, diag::PassMovedResult, pass.name,
                 function.resultNames()[index], function.name, error,
                 pass.tolerance);
    ok = false;
  }
  return ok;
}

ModuleProbe::ModuleProbe(const Module &module) {
  for (const auto &function : module.functions)
    if (function->kind != FunctionKind::Host)
      functions.push_back({function->name,
                           unsigned(function->parameters().size()),
                           function->numResults(), NumericsProbe(*function)});
}

bool ModuleProbe::evaluateBefore(const Module &module, Diagnostics &diags) {
  return llvm::all_of(functions, [&](Probed &probed) {
    return probed.probe.evaluateBefore(*module.findFunction(probed.name),
                                       diags);
  });
}

bool ModuleProbe::compareAfter(const Module &module, const PassDef &pass,
                               Diagnostics &diags) const {
  bool ok = true;
  for (const Probed &probed : functions) {
    const Function *function = module.findFunction(probed.name);
    if (function && function->parameters().size() == probed.parameters &&
        function->numResults() == probed.results)
      ok &= probed.probe.compareAfter(*function, pass, diags);
  }
  return ok;
}
