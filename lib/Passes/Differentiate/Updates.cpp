//===- Updates.cpp - what a training writes beside its weights ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Passes/Updates.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Clone.h"
#include "lib/IR/Names.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

static bool isState(const Value *value) {
  return value && value->holder == Holder::State;
}

//===----------------------------------------------------------------------===//
// Taking ops out of the layer
//===----------------------------------------------------------------------===//

namespace {

/// The states of a function, and what is written to them.
class StateOps {
public:
  StateOps(Function &function, SourceWeights &weights)
      : function(function), weights(weights) {
    findNeeded();
  }

  /// Whether there are states, and no output depends on one.
  bool areUnread() const;
  /// Chooses the states that can be updated.
  void choose();
  void take(Updates &updates);
  /// Erases what outputs do not depend on, and the states.
  void erase(Updates &updates);

private:
  void findNeeded();
  bool canUpdate(const Value &state) const;
  Value *written(const Value &state) const;

  Function &function;
  SourceWeights &weights;
  /// What outputs, and effects other than those on states, depend on.
  llvm::DenseSet<const Op *> needed;
  llvm::SetVector<Value *> updated; ///< states
};

} // namespace

void StateOps::findNeeded() {
  llvm::SmallVector<const Value *> waiting;
  llvm::append_range(waiting, function.resultValues());
  for (const Op &op : function.body())
    if (op.def().has(trait::SideEffect) && !op.is(ops::ReadState) &&
        !op.is(ops::WriteState) && needed.insert(&op).second)
      llvm::append_range(waiting, op.operandValues());
  while (!waiting.empty()) {
    const Value *value = waiting.pop_back_val();
    const Op *op = value ? value->definingOp() : nullptr;
    if (op && needed.insert(op).second)
      llvm::append_range(waiting, op->operandValues());
  }
}

bool StateOps::areUnread() const {
  return llvm::any_of(
             function.parameters(),
             [](const auto &parameter) { return isState(parameter.get()); }) &&
         llvm::none_of(needed, [](const Op *op) {
           return llvm::any_of(op->operandValues(), isState);
         });
}

/// The value of the last write; null for none.
Value *StateOps::written(const Value &state) const {
  Value *last = nullptr;
  for (const Op &op : function.body())
    if (op.is(ops::WriteState) && op.operand(0u) == &state)
      last = op.operand(1u);
  return last;
}

/// Whether what is written to the state can be computed of results that ops of
/// the layer have, and of states that are updated.
bool StateOps::canUpdate(const Value &state) const {
  const Value *value = written(state);
  if (!value || state.type.dtype != DType::FP32 ||
      !weights.held().count(state.name))
    return false;
  llvm::SmallVector<const Value *> waiting = {value};
  llvm::DenseSet<const Value *> seen;
  while (!waiting.empty()) {
    value = waiting.pop_back_val();
    if (!value || !seen.insert(value).second)
      continue;
    const Op *op = value->definingOp();
    if (!op || op->is(ops::Weight))
      return false;
    if (op->is(ops::ReadState)) {
      if (!updated.contains(op->operand(0u)))
        return false;
    } else if (!needed.contains(op)) {
      llvm::append_range(waiting, op->operandValues());
    }
  }
  return true;
}

void StateOps::choose() {
  for (const auto &parameter : function.parameters())
    if (isState(parameter.get()))
      updated.insert(parameter.get());
  while (updated.remove_if([&](Value *state) { return !canUpdate(*state); }))
    ;
}

void StateOps::take(Updates &updates) {
  updates.body = std::make_unique<Function>(FunctionKind::Kernel, "updates",
                                            function.range);
  updates.body->opset = function.opset;
  // What the ops take of the layer.
  llvm::SetVector<const Op *> ops;
  llvm::SetVector<Value *> taken;
  llvm::SmallVector<Value *> waiting;
  for (const Value *state : updated)
    waiting.push_back(written(*state));
  while (!waiting.empty()) {
    Value *value = waiting.pop_back_val();
    Op *op = value ? value->definingOp() : nullptr;
    if (!op)
      continue;
    if (needed.contains(op) && !op->def().has(trait::Stored))
      taken.insert(value);
    else if (ops.insert(op) && !op->is(ops::ReadState))
      llvm::append_range(waiting, op->operandValues());
  }
  ValueMap map;
  for (Value *value : taken)
    map[value] = updates.body->addParameter(value->type, value->name);
  for (Value *state : updated) {
    map[state] = updates.body->addParameter(state->type, state->name);
    updates.weights.push_back(weights.held().find(state->name)->second.name);
  }
  for (const Op &op : function.body())
    if (op.is(ops::ReadState) && ops.contains(&op))
      map[op.result()] = map[op.operand(0u)];
    else if (ops.contains(&op))
      cloneOp(op, *updates.body, map);
  llvm::SmallVector<Value *, 4> next;
  for (const Value *state : updated)
    next.push_back(map[written(*state)]);
  std::vector<std::string> names;
  for (size_t i = 0; i != next.size(); ++i)
    names.push_back("next" + std::to_string(i));
  updates.body->setResults(
      next, llvm::to_vector<4>(llvm::map_range(
                names, [](const std::string &name) -> llvm::StringRef {
                  return name;
                })));
  // The results of the layer.
  updates.first = function.numResults();
  updates.numTaken = unsigned(taken.size());
  llvm::SmallVector<Value *, 4> results(function.resultValues());
  llvm::SmallVector<ValueRole, 4> roles(function.resultRoles());
  NameSet unique;
  std::vector<std::string> all;
  for (const std::string &name : function.resultNames())
    all.push_back(unique.unique(name).str());
  for (Value *value : taken) {
    results.push_back(value);
    roles.push_back(ValueRole::Output);
    all.push_back(unique.unique("statistic").str());
  }
  function.setResults(
      results, llvm::SmallVector<llvm::StringRef>(all.begin(), all.end()),
      roles);
}

void StateOps::erase(Updates &updates) {
  for (auto at = function.body().rbegin(); at != function.body().rend();) {
    Op &op = *at++;
    if (!needed.contains(&op))
      op.erase();
  }
  for (unsigned i = unsigned(function.parameters().size()); i-- != 0;) {
    Value *parameter = function.parameters()[i].get();
    if (!isState(parameter))
      continue;
    // Counters of batches are of no use without what they count for.
    bool isCounter = isInteger(parameter->type.dtype) && !updated.empty();
    if (!updated.contains(parameter) && !isCounter)
      updates.dropped.insert(updates.dropped.begin(), parameter->name);
    function.eraseParameter(i);
  }
}

Updates anec::takeUpdates(Module &module, SourceWeights &weights,
                          bool canUpdate) {
  Updates updates;
  if (module.functions.size() != 1)
    return updates;
  StateOps states(*module.functions.front(), weights);
  if (!states.areUnread())
    return updates;
  if (canUpdate) {
    states.choose();
    states.take(updates);
  }
  states.erase(updates);
  return updates;
}

void anec::warnOfDropped(const Updates &updates, Diagnostics &diags) {
  if (!updates.dropped.empty())
    diags.report({}, diag::StateNotTrained,
                 "`" + llvm::join(updates.dropped, "`, `") + "`");
}

//===----------------------------------------------------------------------===//
// In the model
//===----------------------------------------------------------------------===//

static Value *sumOf(Value *x, Builder &builder) {
  Value *flat = builder.build(ops::Reshape, {x},
                              {{param::shape, Shape{x->type.numElements()}}});
  return builder.build(
      ops::ReduceSum, {flat},
      {{param::axes, llvm::ArrayRef<int64_t>{0}}, {param::keepDims, false}});
}

Value *anec::addUpdates(const Updates &updates, const SourceWeights &weights,
                        Op &call, Value *loss, Builder &builder) {
  if (updates.weights.empty())
    return loss;
  ValueMap map;
  auto parameters = updates.body->parameters();
  for (unsigned i = 0; i != updates.numTaken; ++i) {
    Value *result = call.result(updates.first + i);
    DType wanted = parameters[i]->type.dtype;
    if (result->type.dtype != wanted)
      result = builder.build(ops::Cast, {result}, {{param::dtype, wanted}});
    map[parameters[i].get()] = builder.build(ops::StopGradient, {result});
  }
  // A state holds the difference from what it begins with.
  llvm::SmallVector<Value *> values, begins, befores;
  for (auto [i, name] : llvm::enumerate(updates.weights)) {
    Value *state = parameters[updates.numTaken + i].get();
    ConstantRef begin = weights.begin(name);
    Value *value = builder.build(
        ops::Weight, {},
        {{param::name, llvm::StringRef(name)},
         {param::dtype, state->type.dtype},
         {param::shape, llvm::ArrayRef<int64_t>(state->type.shape)},
         {param::gradientUse, GradientUse::Updated}});
    values.push_back(value);
    begins.push_back(builder.build(ops::Const, {}, Attr(param::val, begin)));
    befores.push_back(builder.build(ops::StopGradient, {value}));
    map[state] = builder.build(ops::Sub, {befores.back(), begins.back()});
  }
  Function &model = *loss->definingOp()->parent();
  for (const Op &op : updates.body->body())
    cloneOp(op, model, map);
  Value *sum = nullptr;
  for (auto [i, value] : llvm::enumerate(values)) {
    Value *next = builder.build(
        ops::Add, {map[updates.body->result(unsigned(i))], begins[i]});
    Value *change = builder.build(ops::Sub, {befores[i], next});
    Value *term = sumOf(builder.build(ops::Mul, {value, change}), builder);
    sum = sum ? builder.build(ops::Add, {sum, term}) : term;
  }
  Value *nothing =
      builder.build(ops::Sub, {sum, builder.build(ops::StopGradient, {sum})});
  return builder.build(ops::Add, {loss, nothing});
}
