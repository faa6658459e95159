//===- UsedWeights.cpp - the weights of a program -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "UsedWeights.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Weights.h"
#include "lib/Package/Diags.h"
#include "lib/Package/ScheduleWalk.h"

using namespace anec;

bool UsedWeights::findInstances(const Module &program, Diagnostics &diags) {
  bool ok = true;
  for (const Function *entry : entryPoints(program))
    walkSchedule(
        program, *entry, [&](const Op &op, const KnownIntegers &known) {
          bool isCall = op.is(ops::Call);
          if (!isCall && !op.is(ops::Weight) && !op.is(ops::Accumulate))
            return;
          std::optional<int64_t> instance = instanceOf(op, known);
          if (op.operand(param::index) && !instance) {
            if (ok)
              diags.report(op.range(), diag::InstanceNotKnown, op.def().name);
            ok = false;
            return;
          }
          if (isCall)
            ofKernels[op.get(param::callee).str()].insert(instance);
          else if (op.is(ops::Weight))
            note(op, {instance});
          else
            noteGradient(op, instance);
        });
  return ok;
}

void UsedWeights::note(const Op &op, const Instances &used) {
  PackagedWeight &weight = weights[op.get(param::name).str()];
  weight.type = viewOf(op).storedType();
  weight.frozen = op.get(param::frozen);
  weight.updated = op.get(param::gradientUse) == GradientUse::Updated;
  for (std::optional<int64_t> instance : used)
    if (instance)
      instances[op.get(param::name).str()].insert(*instance);
}

void UsedWeights::noteGradient(const Op &accumulate,
                               std::optional<int64_t> instance) {
  std::string name = accumulate.get(param::name).str();
  PackagedWeight &weight = trained[name];
  weight.name = name;
  weight.type = accumulate.operand(param::value)->type;
  weight.initial = InitialValue::Zeros;
  if (instance)
    instances[name].insert(*instance);
}

void UsedWeights::describe(const Module &program,
                           llvm::ArrayRef<std::string> zeros,
                           const WeightBinding &values) {
  auto throughCall = [&](auto &self, const Op &call, unsigned slot) -> bool {
    const Function *callee = program.findFunction(call.get(param::callee));
    // The index precedes the arguments.
    const Value &parameter = *callee->parameters()[slot - 1];
    return scales(parameter, [&](const Op &inner, unsigned innerSlot) {
      return self(self, inner, innerSlot);
    });
  };
  for (const auto &function : program.functions)
    for (const Op &op : function->body()) {
      if (!op.is(ops::Weight))
        continue;
      std::string name = op.get(param::name).str();
      if (function->kind == FunctionKind::Host)
        ofHost.insert(name);
      else
        note(op, ofKernels[function->name]);
      PackagedWeight &weight = weights[name];
      InitialValue initial =
          initialValue(op, [&](const Op &call, unsigned slot) {
            return throughCall(throughCall, call, slot);
          });
      bool seen = !weight.name.empty();
      // A vector is a scale when any use is one, and a matrix is a table when
      // any use is one; the backward may use it differently.
      if (!seen || initial == InitialValue::Ones ||
          initial == InitialValue::Table)
        weight.initial = initial;
      weight.name = name;
    }
  // The weights of found layers list the names that they had before.
  for (auto &[name, weight] : weights)
    for (const std::string &array : arraysOf(name))
      if (llvm::is_contained(zeros, array))
        weight.initial = InitialValue::Zeros;
  // The loss does not depend on weights, or instances of them, that nothing
  // reads, but their gradients, which are zero, have names and shapes.
  std::set<std::string> unread;
  for (const auto &[name, described] : trained)
    if (weights.insert({name, described}).second)
      unread.insert(name);
  for (auto &[name, weight] : weights) {
    const std::set<int64_t> &used = instances[name];
    weight.instances.assign(used.begin(), used.end());
    // They keep the values that they have.
    if (unread.contains(name) &&
        llvm::all_of(weight.arrays(), [&](const std::string &array) {
          return values.has(array);
        }))
      ofHost.insert(name);
  }
}

/// Weights with different names can have arrays with the same name: `a.3.w`
/// belongs to layer `a` or to layer `a.3`.
bool UsedWeights::checkArrays(SourceRange range, Diagnostics &diags) const {
  llvm::StringMap<const PackagedWeight *> owners;
  bool ok = true;
  for (const auto &[name, weight] : weights)
    for (const std::string &array : weight.arrays()) {
      const PackagedWeight *&owner = owners[array];
      if (owner) {
        diags.report(range, diag::SameArray, owner->name, name, array);
        ok = false;
      }
      owner = &weight;
    }
  return ok;
}

std::vector<std::string> UsedWeights::arrays() const {
  std::vector<std::string> names;
  for (const auto &[name, weight] : weights)
    llvm::append_range(names, weight.arrays());
  return names;
}
