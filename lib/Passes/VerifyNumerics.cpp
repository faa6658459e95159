//===- VerifyNumerics.cpp - did a pass change the results? ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "VerifyNumerics.h"
#include "anec/Ops/Ops.h"
#include "anec/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <limits>

using namespace anec;

NumericsProbe::NumericsProbe(const Function &function) {
  for (const auto &param : function.parameters())
    inputs.push_back(randomTensor(param->type, inputs.size() + 1));
}

/// The results, and what the function leaves in its states.
static bool evaluate(const Function &function, llvm::ArrayRef<RefTensor> inputs,
                     std::vector<RefTensor> &results, Diagnostics &diags) {
  std::vector<RefTensor> states;
  if (!interpret(function, inputs, results, diags, {}, &states))
    return false;
  llvm::append_range(results, states);
  return true;
}

static llvm::StringRef nameOf(const Function &function, size_t index) {
  if (index < function.numResults())
    return function.resultNames()[index];
  index -= function.numResults();
  for (const auto &param : function.parameters())
    if (param->holder == Holder::State && index-- == 0)
      return param->name;
  return "";
}

bool NumericsProbe::evaluateBefore(const Function &function,
                                   Diagnostics &diags) {
  return evaluate(function, inputs, before, diags);
}

bool NumericsProbe::compareAfter(const Function &function, const PassDef &pass,
                                 Diagnostics &diags) const {
  std::vector<RefTensor> after;
  if (!evaluate(function, inputs, after, diags))
    return false;
  bool ok = true;
  for (auto [index, old, now] : llvm::enumerate(before, after)) {
    double error = relativeError(now.data, old.data);
    if (error <= pass.tolerance)
      continue;
    diags.report(function.range, diag::PassMovedResult, pass.name,
                 nameOf(function, index), function.name, error, pass.tolerance);
    ok = false;
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

ModuleProbe::ModuleProbe(const Module &module) {
  llvm::StringSet<> applied;
  for (const auto &function : module.functions)
    for (const Op &op : function->body()) {
      if (op.is(ops::Call))
        applied.insert(op.stringAttr("callee"));
      if (op.is(ops::Repeat))
        applied.insert(op.stringAttr("body"));
    }
  for (const auto &function : module.functions) {
    if (applied.contains(function->name))
      continue;
    Probed &probed = functions.emplace_back(Probed{function->name, {}, {}});
    for (const auto &param : function->parameters())
      probed.inputs.push_back(
          randomTensor(param->type, probed.inputs.size() + 1));
  }
}

bool ModuleProbe::evaluate(const Module &module, const Probed &probed,
                           Outcome &outcome, Diagnostics &diags) {
  const Function &function = *module.findFunction(probed.name);
  InterpreterOptions options;
  options.accumulate = [&](const Op &op, std::optional<int64_t> instance,
                           const RefTensor &value) {
    std::string name = "the gradient of " + op.stringAttr("name").str();
    if (instance)
      name += "[" + std::to_string(*instance) + "]";
    std::vector<double> &sum = outcome[name];
    sum.resize(value.data.size());
    for (auto [total, term] : llvm::zip_equal(sum, value.data))
      total += term;
  };
  std::vector<RefTensor> results;
  if (!interpretModule(module, function, probed.inputs, results, diags,
                       options))
    return false;
  for (auto [name, result] : llvm::zip_equal(function.resultNames(), results))
    outcome[name] = std::move(result.data);
  return true;
}

bool ModuleProbe::evaluateBefore(const Module &module, Diagnostics &diags) {
  return llvm::all_of(functions, [&](Probed &probed) {
    return evaluate(module, probed, probed.before, diags);
  });
}

bool ModuleProbe::compareAfter(const Module &module, const PassDef &pass,
                               Diagnostics &diags) const {
  bool ok = true;
  for (const Probed &probed : functions) {
    const Function *function = module.findFunction(probed.name);
    Outcome after;
    if (!function)
      continue;
    if (!evaluate(module, probed, after, diags))
      return false;
    for (const auto &[name, before] : probed.before) {
      auto it = after.find(name);
      double error = it == after.end() ? std::numeric_limits<double>::infinity()
                                       : relativeError(it->second, before);
      if (error <= pass.tolerance)
        continue;
      diags.report(function->range, diag::PassMovedResult, pass.name, name,
                   probed.name, error, pass.tolerance);
      ok = false;
    }
  }
  return ok;
}
