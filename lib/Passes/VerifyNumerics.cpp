//===- VerifyNumerics.cpp - compare results before and after a pass -------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "VerifyNumerics.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <limits>

using namespace anec;

NumericsProbe::NumericsProbe(const Function &function) {
  for (const auto &param : function.parameters()) {
    inputNames.push_back(param->name);
    inputs.push_back(randomTensor(param->type, inputs.size() + 1));
    // Make values exact in fp16, since a pass can change inputs to it.
    if (param->type.dtype == DType::FP32)
      for (double &element : inputs.back().data)
        element = roundToDType(element, DType::FP16);
  }
}

/// Whether `wide` is `type` with a longer last axis.
static bool isPadded(const TensorType &wide, const TensorType &type) {
  return wide.rank() == type.rank() && !type.isScalar() &&
         wide.shape.back() > type.shape.back() &&
         llvm::equal(llvm::drop_end(wide.shape), llvm::drop_end(type.shape));
}

/// Converts `tensor` to a value of `type`. Padding is 1, so that uses of it are
/// visible.
static RefTensor adapt(const RefTensor &tensor, const TensorType &type) {
  if (!isPadded(type, tensor.type))
    return {type, tensor.data};
  RefTensor result{type, {}};
  int64_t narrow = tensor.type.shape.back(), wide = type.shape.back();
  for (size_t row = 0; row < tensor.data.size(); row += narrow) {
    auto begin = tensor.data.begin() + row;
    result.data.insert(result.data.end(), begin, begin + narrow);
    result.data.insert(result.data.end(), wide - narrow, 1);
  }
  return result;
}

/// The elements of `tensor` without padding beyond `type`.
static std::vector<double> crop(const RefTensor &tensor,
                                const TensorType &type) {
  if (!isPadded(tensor.type, type))
    return tensor.data;
  std::vector<double> result;
  for (size_t row = 0; row < tensor.data.size();
       row += tensor.type.shape.back()) {
    auto begin = tensor.data.begin() + row;
    result.insert(result.end(), begin, begin + type.shape.back());
  }
  return result;
}

/// The inputs of `function` in its current form, which can have more or fewer
/// parameters.
std::vector<RefTensor>
NumericsProbe::inputsFor(const Function &function) const {
  std::vector<RefTensor> result;
  for (auto [index, param] : llvm::enumerate(function.parameters())) {
    size_t from = llvm::find(inputNames, param->name) - inputNames.begin();
    if (from == inputNames.size())
      from = index;
    result.push_back(adapt(inputs[from], param->type));
  }
  return result;
}

/// Evaluates the results and the final values of the states.
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
  if (!evaluate(function, inputs, before, diags))
    return false;
  for (size_t index = 0; index < before.size(); ++index)
    resultNames.push_back(nameOf(function, index).str());
  return true;
}

bool NumericsProbe::compareAfter(const Function &function, const PassDef &pass,
                                 Diagnostics &diags) const {
  std::vector<RefTensor> after;
  if (!evaluate(function, inputsFor(function), after, diags))
    return false;
  bool ok = true;
  for (auto [index, now] : llvm::enumerate(after)) {
    llvm::StringRef name = nameOf(function, index);
    size_t from = llvm::find(resultNames, name) - resultNames.begin();
    const RefTensor &old = before[from == before.size() ? index : from];
    double error = relativeError(crop(now, old.type), old.data);
    if (error <= pass.tolerance)
      continue;
    diags.report(function.range, diag::PassMovedResult, pass.name, name,
                 function.name, error, pass.tolerance);
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
    for (const Op &op : function->body())
      if (op.is(ops::Call))
        applied.insert(op.get(param::callee));
  for (const auto &function : module.functions) {
    if (applied.contains(function->name) || function->isDeclaration() ||
        function->role == FunctionRole::Body)
      continue;
    Probed &probed = functions.emplace_back(Probed{function->name, {}, {}});
    for (const auto &param : function->parameters())
      probed.inputs.push_back(
          randomTensor(param->type, probed.inputs.size() + 1));
  }
}

/// The inputs of `function`, to which a pass can have added random masks: they
/// are their means, as the ops are that they come from.
static std::vector<RefTensor> withMasks(llvm::ArrayRef<RefTensor> inputs,
                                        const Function &function) {
  std::vector<RefTensor> all = inputs.vec();
  for (const auto &param : function.parameters().drop_front(inputs.size()))
    all.push_back({param->type, std::vector<double>(param->type.numElements(),
                                                    param->mask->mean())});
  return all;
}

bool ModuleProbe::evaluate(const Module &module, const Probed &probed,
                           Outcome &outcome, Diagnostics &diags) {
  const Function &function = *module.findFunction(probed.name);
  InterpreterOptions options;
  options.accumulate = [&](const Op &op, std::optional<int64_t> instance,
                           const RefTensor &value) {
    std::string name =
        "the gradient of " + instanceName(op.get(param::name), instance);
    std::vector<double> &sum = outcome[name];
    sum.resize(value.data.size());
    for (auto [total, term] : llvm::zip_equal(sum, value.data))
      total += term;
  };
  std::vector<RefTensor> results;
  if (!interpretModule(module, function, withMasks(probed.inputs, function),
                       results, diags, options))
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
