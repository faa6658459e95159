//===- Differentiate.cpp - backward functions and training steps ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Reverse mode, function by function, so that the work does not grow with the
/// number of layers:
///
///   layer @f(%x) -> (%y)          keeps its name, and gets beside it
///   layer @f.backward(%x, %y.gradient) -> (%x.gradient, %w.gradient, ...)
///
/// The backward has a copy of the forward ops whose values it needs. A model, a
/// host function with a result of the role `loss`, also gets a training step
/// that runs it and then its adjoint, which accumulates the gradients of its
/// weights. The gradient of the loss is a parameter of the role `loss-scale`:
/// scaled gradients lose less precision in fp16.
///
//===----------------------------------------------------------------------===//

#include "../Simplify/DeadOps.h"
#include "Differentiator.h"
#include "StopGradients.h"
#include "lib/IR/Diags.h"
#include "lib/IR/Names.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Calls.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

Function *Differentiator::addFunction(const Function &forward,
                                      FunctionRole role) {
  std::string name = forward.name + "." + spelling(role).str();
  if (const Function *previous = module.findFunction(name)) {
    ctx.diags.report(forward.range, diag::DuplicateFunction, name)
        .note(previous->range, diag::PreviousDefinition, name);
    return nullptr;
  }
  Function *added = module.addFunction(forward.kind, name, forward.range);
  added->opset = forward.opset;
  added->setRole(role, forward.of());
  return added;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Makes the gradients of parameters and weights in `adjoint` the results.
static void setGradientResults(const Function &layer, Function &backward,
                               Adjoint &adjoint, LayerBackward &result) {
  llvm::SmallVector<Value *, 8> values;
  std::vector<std::string> names;
  NameSet unique;
  for (unsigned slot = 0; slot < layer.parameters().size(); ++slot) {
    const Value *parameter = backward.parameters()[slot].get();
    Value *gradient = adjoint.gradient(parameter);
    if (!gradient)
      continue;
    result.parameters.push_back(slot);
    values.push_back(gradient);
    names.push_back(unique.unique(parameter->name + ".gradient").str());
  }
  for (const WeightGradient &weight : adjoint.weightGradients()) {
    result.weights.push_back(weight.name);
    values.push_back(weight.gradient);
    names.push_back(
        unique.unique((memberOf(weight.name) + ".gradient").str()).str());
  }
  llvm::SmallVector<llvm::StringRef, 8> views(names.begin(), names.end());
  llvm::SmallVector<ValueRole, 8> roles(values.size(), ValueRole::Gradient);
  backward.setResults(values, views, roles);
}

const LayerBackward &Differentiator::differentiateLayer(const Function &layer) {
  auto [it, isNew] = layers.try_emplace(layer.name);
  LayerBackward &result = it->second;
  if (!isNew)
    return result;
  Function *backward = addFunction(layer, FunctionRole::Backward);
  if (!backward)
    return result;
  ValueMap map;
  cloneBody(layer, *backward, map, /*withResults=*/false);
  Activity activity;
  for (const auto &parameter : backward->parameters())
    if (parameter->role() != ValueRole::RandomMask)
      activity.activate(parameter.get());
  for (const Op &op : backward->body())
    activity.visit(op);
  Adjoint adjoint(*backward, activity, ctx.diags);
  NameSet names;
  for (const auto &parameter : backward->parameters())
    names.unique(parameter->name);
  for (unsigned index = 0; index < layer.numResults(); ++index) {
    Value *value = map[layer.result(index)];
    if (!isFloat(value->type.dtype))
      continue;
    std::string name = layer.resultNames()[index] + ".gradient";
    Value *seed = backward->addParameter(value->type, names.unique(name),
                                         ValueRole::Gradient);
    seed->declared = layer.range;
    result.seeds.push_back(index);
    adjoint.add(value, seed);
  }
  if (!adjoint.run())
    return result;
  setGradientResults(layer, *backward, adjoint, result);
  removeDeadOps(*backward);
  result.function = backward;
  ctx.count("functions");
  return result;
}

//===----------------------------------------------------------------------===//
// Applied functions
//===----------------------------------------------------------------------===//

void anec::accumulate(Builder &builder,
                      llvm::ArrayRef<WeightGradient> gradients) {
  for (const WeightGradient &weight : gradients)
    builder.create(ops::Accumulate, {weight.instance, weight.gradient},
                   Attr(param::name, Constant::string(weight.name)));
}

/// The gradients of a call are a call of the layer's backward, which recomputes
/// the forward values it needs.
bool Differentiator::applyCall(const Op &op, Adjoint &adjoint) {
  const Function &layer = *module.findFunction(op.get(param::callee));
  const LayerBackward &backward = differentiateLayer(layer);
  if (!backward.function)
    return false;
  if (backward.function->numResults() == 0)
    return true;
  llvm::SmallVector<Value *, 8> operands = op.operandValues();
  adjoint.builder.setRange(op.range());
  for (unsigned index : backward.seeds)
    operands.push_back(adjoint.gradientOrZeros(op.result(index)));
  Op *call = buildCall(adjoint.builder, *backward.function, operands);
  unsigned next = 0;
  for (unsigned slot : backward.parameters)
    adjoint.add(op.operand(slot + 1), call->result(next++));
  for (const std::string &name : backward.weights)
    accumulate(adjoint.builder,
               WeightGradient{name, op.operand(0u), call->result(next++)});
  return true;
}

bool Differentiator::apply(const Op &op, Adjoint &adjoint) {
  return op.is(ops::Repeat) ? applyRepeat(op, adjoint) : applyCall(op, adjoint);
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

const Function &Differentiator::appliedBy(const Op &op) const {
  return *module.findFunction(op.is(ops::Repeat) ? op.get(param::body)
                                                 : op.get(param::callee));
}

bool Differentiator::trains(const Function &function) {
  if (auto known = trained.find(&function); known != trained.end())
    return known->second;
  bool result = llvm::any_of(function.body(), [&](const Op &op) {
    if (op.is(ops::Weight))
      return !op.get(param::frozen);
    bool applies = op.def().has(trait::Call) || op.is(ops::Repeat);
    return applies && trains(appliedBy(op));
  });
  return trained[&function] = result;
}

bool Differentiator::prepare(Function &host, Activity &activity) {
  bool ok = true;
  for (Op &op : llvm::make_early_inc_range(host.body())) {
    bool repeats = op.is(ops::Repeat) && activity.appliesActively(op);
    Op *prepared = repeats ? prepareRepeat(op, activity) : &op;
    if (prepared)
      activity.visit(*prepared);
    else
      ok = false;
  }
  return ok;
}

bool Differentiator::differentiateModel(const Function &forward) {
  train = addFunction(forward, FunctionRole::Train);
  if (!train)
    return false;
  bodies = 0;
  ValueMap map;
  cloneBody(forward, *train, map);
  Activity activity = hostActivity();
  if (!prepare(*train, activity))
    return false;
  NameSet names;
  for (const auto &parameter : train->parameters())
    names.unique(parameter->name);
  Value *seed = train->addParameter(DType::FP32, names.unique("loss_scale"),
                                    ValueRole::LossScale);
  seed->declared = forward.range;
  Adjoint adjoint(*train, activity, ctx.diags,
                  [&](const Op &op, Adjoint &a) { return apply(op, a); });
  adjoint.add(train->result(*train->resultOf(ValueRole::Loss)), seed);
  if (!adjoint.run())
    return false;
  accumulate(adjoint.builder, adjoint.weightGradients());
  removeDeadOps(*train);
  ctx.count("models");
  return true;
}

/// Removes bodies that no `repeat` runs: the backward of one whose results the
/// loss does not depend on.
static void removeUnusedBodies(Module &module) {
  for (bool changed = true; changed;) {
    llvm::StringSet<> used;
    for (const auto &function : module.functions)
      for (const Op &op : function->body())
        if (op.is(ops::Repeat))
          used.insert(op.get(param::body));
    size_t before = module.functions.size();
    llvm::erase_if(module.functions, [&](const auto &function) {
      return function->role == FunctionRole::Body &&
             !used.contains(function->name);
    });
    changed = module.functions.size() != before;
  }
}

/// Writes ops as others that have gradients, where their rows say how.
static void decomposeForGradient(Function &function) {
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (!op.def().decomposeForGradient)
      continue;
    Builder builder(function);
    builder.setInsertionPoint(&op);
    llvm::SmallVector<Value *, 3> results;
    op.def().decomposeForGradient(builder, op, results);
    for (auto [old, value] : llvm::zip_equal(op.resultValues(), results)) {
      assert(old->type == value->type && "a decomposition changed the type");
      old->replaceAllUsesWith(value);
    }
    op.erase();
  }
  removeDeadOps(function);
}

static bool differentiate(Module &module, PassContext &ctx) {
  Differentiator differentiator(module, ctx);
  std::vector<Function *> models, others;
  for (const auto &function : module.functions) {
    if (function->role != FunctionRole::Forward)
      continue;
    if (function->kind != FunctionKind::Host)
      others.push_back(function.get());
    else if (function->resultOf(ValueRole::Loss))
      models.push_back(function.get());
  }
  if (!models.empty() || !others.empty())
    for (const auto &function : module.functions)
      if (function->role == FunctionRole::Forward)
        decomposeForGradient(*function);
  if (!models.empty())
    others.clear();
  for (const Function *model : models)
    differentiator.differentiateModel(*model);
  removeUnusedBodies(module);
  // Without a model, differentiate all other functions.
  for (const Function *layer : others)
    differentiator.differentiateLayer(*layer);
  removeStopGradients(module);
  return !models.empty() || !others.empty();
}

constinit const PassDef passes::Differentiate = {
    .name = "differentiate",
    .summary = "Add a backward function for each layer and a training step for "
               "each model",
    .description = "layer @f(%x) -> (%y)  ==>  layer @f.backward(%x, "
                   "%y.gradient) -> (%x.gradient, %w.gradient)\n"
                   "host @m(%tokens) -> (%loss {role = loss})\n"
                   "  ==>  host @m.train(%tokens, %loss_scale {role = "
                   "loss-scale}) -> (%loss {role = loss}) {role = train, of = "
                   "\"m\"}",
    .stats = {{{"functions", "layers differentiated"},
               {"models", "models differentiated"}}},
    .tolerance = 0,
    .needs = Need::Bodies,
    .runOnModule = differentiate,
};
