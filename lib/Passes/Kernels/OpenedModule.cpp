//===- OpenedModule.cpp - host functions with open kernels ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OpenedModule.h"
#include "anec/IR/Clone.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

bool anec::isRematerialized(const Op &op) {
  return op.is(ops::Weight) || op.is(ops::Const);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// A weight of the callee in the host function, for the instance of the call:
/// the existing one, or a new one.
Value *OpenedBody::weightOfInstance(const Op &weight, Op &call) {
  Value *instance = call.operand(param::index);
  for (Op &op : function->body()) {
    if (&op == &call)
      break;
    if (op.is(ops::Weight) && op.operand(param::index) == instance &&
        equalConstants(op.constants(), weight.constants()))
      return op.result();
  }
  Op *copy = copyOp(weight, {instance});
  function->insert(copy, &call);
  return copy->result();
}

int OpenedBody::addGroup(const Function &callee) {
  Group &group = list.emplace_back();
  group.name = callee.name;
  group.kind = callee.kind;
  group.role = callee.role;
  group.owner = callee.of().str();
  return int(list.size()) - 1;
}

int OpenedBody::addPart(int whole, llvm::StringRef name) {
  Group part;
  part.name = name.str();
  part.kind = list[whole].kind;
  part.role = list[whole].role;
  part.owner = list[whole].owner;
  list.push_back(std::move(part));
  return int(list.size()) - 1;
}

void OpenedBody::open(Op &call, const Function &callee) {
  int number = addGroup(callee);
  ValueMap map;
  for (const auto &param : callee.parameters()) {
    Value *argument = call.operand(1 + param->index());
    map[param.get()] = argument;
    list[number].inputs.insert(argument);
    list[number].names.insert({argument, param->name});
    list[number].inputRoles.insert({argument, param->role()});
  }
  for (const Op &op : callee.body()) {
    if (op.is(ops::Weight)) {
      map[op.result()] = weightOfInstance(op, call);
      continue;
    }
    Op *copy = cloneOp(op, *function, map, &call);
    if (!isRematerialized(op))
      assign(copy, number);
  }
  for (unsigned index = 0; index < callee.numResults(); ++index) {
    Value *value = map.lookup(callee.result(index));
    if (value->definingOp() && groupOf(value) == number &&
        list[number].outputs.insert(value)) {
      list[number].outputRoles.insert({value, callee.resultRoles()[index]});
      if (!call.result(index)->name.empty())
        value->name = call.result(index)->name;
    }
    call.result(index)->replaceAllUsesWith(value);
  }
  call.erase();
}

OpenedModule::OpenedModule(Module &module) : module(module) {
  llvm::StringSet<> called;
  for (const auto &host : module.functions) {
    if (host->kind != FunctionKind::Host)
      continue;
    OpenedBody &body = opened.emplace_back(*host);
    for (Op &op : llvm::make_early_inc_range(host->body())) {
      if (!op.is(ops::Call))
        continue;
      Function *callee = module.findFunction(op.get(param::callee));
      assert(callee && callee->kind != FunctionKind::Host);
      called.insert(callee->name);
      body.open(op, *callee);
    }
  }
  llvm::erase_if(module.functions, [&](const auto &function) {
    return called.contains(function->name);
  });
}

OpenedBody *OpenedModule::body(llvm::StringRef host) {
  for (OpenedBody &body : opened)
    if (body.host().name == host)
      return &body;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

std::vector<Op *> OpenedBody::ops(int group) const {
  std::vector<Op *> result;
  for (Op &op : function->body())
    if (groupOf(&op) == group)
      result.push_back(&op);
  return result;
}

bool OpenedBody::isConvex(llvm::function_ref<bool(const Op &)> inside) const {
  // Values outside the group that depend on it must not be inputs of it. Other
  // groups are one node each: a kernel runs as a unit.
  llvm::DenseSet<const Op *> after;
  llvm::DenseSet<int> groupsAfter;
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Op &op : function->body()) {
      if (inside(op) || after.contains(&op))
        continue;
      int group = groupOf(&op);
      bool depends = group != onHost && groupsAfter.contains(group);
      for (const Value *operand : op.operandValues())
        if (const Op *def = operand ? operand->definingOp() : nullptr)
          depends |= inside(*def) || after.contains(def);
      if (!depends)
        continue;
      after.insert(&op);
      if (group != onHost)
        groupsAfter.insert(group);
      changed = true;
    }
  }
  for (const Op &op : function->body())
    if (inside(op))
      for (const Value *operand : op.operandValues())
        if (operand && operand->definingOp() &&
            after.contains(operand->definingOp()))
          return false;
  return true;
}

bool OpenedBody::canMerge(int lhs, int rhs) const {
  Value *left = instanceOf(lhs), *right = instanceOf(rhs);
  if (left && right && left != right)
    return false;
  return isConvex([&](const Op &op) {
    int group = groupOf(&op);
    return group == lhs || group == rhs;
  });
}

void OpenedBody::erase(Op &op) {
  for (Group &group : list)
    for (Value *result : op.resultValues()) {
      group.inputs.remove(result);
      group.outputs.remove(result);
      group.names.erase(result);
      group.inputRoles.erase(result);
      group.outputRoles.erase(result);
    }
  assign(&op, onHost);
  op.erase();
}

void OpenedBody::replaceUses(Op &op, int group, llvm::ArrayRef<Value *> with) {
  for (auto [result, value] : llvm::zip_equal(op.resultValues(), with)) {
    llvm::SmallVector<Operand *, 4> uses;
    for (Operand *use = result->firstUse(); use; use = use->nextUse())
      if ((use->owner() ? groupOf(use->owner()) : onHost) == group)
        uses.push_back(use);
    for (Operand *use : uses)
      use->set(value);
  }
}

void OpenedBody::computeIn(Op &op, int group) {
  Op *copy = copyOp(op, op.operandValues());
  function->insert(copy, &op);
  assign(copy, group);
  replaceUses(op, group, llvm::to_vector<2>(copy->resultValues()));
}

void OpenedBody::replace(Value *value, Value *by) {
  value->replaceAllUsesWith(by);
  for (Group &group : list) {
    if (auto it = group.names.find(value); it != group.names.end()) {
      std::string name = std::move(it->second);
      group.names.erase(it);
      group.names.insert({by, std::move(name)});
    }
    if (auto it = group.inputRoles.find(value); it != group.inputRoles.end()) {
      ValueRole role = it->second;
      group.inputRoles.erase(it);
      group.inputRoles.insert({by, role});
    }
    if (!group.inputs.contains(value))
      continue;
    llvm::SetVector<Value *> renewed;
    for (Value *input : group.inputs)
      renewed.insert(input == value ? by : input);
    group.inputs = std::move(renewed);
  }
}

void OpenedBody::merge(int into, int from) {
  for (Op *op : ops(from))
    assign(op, into);
  for (Value *input : list[from].inputs)
    list[into].inputs.insert(input);
  for (Value *output : list[from].outputs)
    list[into].outputs.insert(output);
  for (const auto &[value, name] : list[from].names)
    list[into].names.insert({value, name});
  for (const auto &[value, role] : list[from].inputRoles)
    list[into].inputRoles.insert({value, role});
  for (const auto &[value, role] : list[from].outputRoles)
    list[into].outputRoles.insert({value, role});
  // A group that is partly a backward is a backward; a group from two layers
  // belongs to the model.
  if (list[from].role == FunctionRole::Backward)
    list[into].role = FunctionRole::Backward;
  if (list[from].owner != list[into].owner)
    list[into].owner = function->of().str();
}

void OpenedBody::giveTap(int group, Value *value) {
  if (list[group].outputs.insert(value))
    list[group].outputRoles[value] = ValueRole::Tap;
}

void OpenedBody::takeTap(int group, const Value *value) {
  list[group].inputRoles.insert({value, ValueRole::Tap});
}

/// The operand as a weight; null for anything else.
static const Op *weightOf(const Value *operand) {
  const Op *def = operand ? operand->definingOp() : nullptr;
  return def && def->is(ops::Weight) ? def : nullptr;
}

bool OpenedBody::hasWeights(int group) const {
  for (const Op *op : ops(group))
    if (llvm::any_of(op->operandValues(), weightOf))
      return true;
  return false;
}

Value *OpenedBody::instanceOf(int group) const {
  for (const Op *op : ops(group))
    for (const Value *operand : op->operandValues())
      if (const Op *weight = weightOf(operand))
        if (Value *instance = weight->operand(param::index))
          return instance;
  return nullptr;
}
