//===- OpenedModule.cpp - host functions with open kernels ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OpenedModule.h"
#include "lib/IR/Clone.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/Verifier.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

bool anec::hasEngineTypes(const Op &op) {
  auto isEngineType = [](const Value *value) {
    return !value || value->type.dtype == DType::FP16 ||
           value->type.dtype == DType::Bool;
  };
  return llvm::all_of(op.operandValues(), isEngineType) &&
         llvm::all_of(op.resultValues(), isEngineType);
}

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
  llvm::SmallVector<Op *, 1> &same = weights[weight.get(param::name)];
  for (Op *op : same)
    if (op->operand(param::index) == instance &&
        equalConstants(op->constants(), weight.constants()))
      return op->result();
  Op *copy = copyOp(weight, {instance});
  function->insert(copy, &call);
  same.push_back(copy);
  return copy->result();
}

void OpenedBody::assign(Op *op, int group) {
  auto [it, isNew] = groups.try_emplace(op, onHost);
  if (it->second != onHost) {
    Group &old = list[it->second];
    old.members.erase(op);
    old.first = old.last = nullptr;
  }
  if (group == onHost) {
    groups.erase(it);
    return;
  }
  it->second = group;
  list[group].members.insert(op);
  list[group].first = list[group].last = nullptr;
}

void OpenedBody::know(const Value *value, int group) {
  llvm::SmallVector<int, 2> &of = known[value];
  if (!llvm::is_contained(of, group))
    of.push_back(group);
}

void OpenedBody::addOutput(int group, Value *value) {
  if (!list[group].outputs.insert(value))
    return;
  list[group].outputBytes += value->type.numBytes();
  know(value, group);
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
    know(argument, number);
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
        !list[number].outputs.contains(value)) {
      addOutput(number, value);
      list[number].outputRoles.insert({value, callee.resultRoles()[index]});
      if (!call.result(index)->name.empty())
        value->name = call.result(index)->name;
    }
    call.result(index)->replaceAllUsesWith(value);
  }
  call.erase();
}

void OpenedModule::open() {
  if (isOpen)
    return;
  isOpen = true;
  Module &module = all;
  llvm::StringMap<Function *> named;
  opened.reserve(module.functions.size());
  for (const auto &function : module.functions)
    named.insert({function->name, function.get()});
  llvm::StringSet<> called;
  for (const auto &host : module.functions) {
    if (host->kind != FunctionKind::Host)
      continue;
    OpenedBody &body = opened.emplace_back(*host);
    for (Op &op : llvm::make_early_inc_range(host->body())) {
      if (op.is(ops::Weight))
        body.weights[op.get(param::name)].push_back(&op);
      if (!op.is(ops::Call))
        continue;
      Function *callee = named.lookup(op.get(param::callee));
      assert(callee && callee->kind != FunctionKind::Host);
      called.insert(callee->name);
      body.open(op, *callee);
    }
    body.weights.clear();
  }
  llvm::erase_if(module.functions, [&](const auto &function) {
    return called.contains(function->name);
  });
}

bool OpenedModule::verify(Diagnostics &diags) {
  llvm::DenseMap<const Function *, const OpenedBody *> bodies;
  for (const OpenedBody &body : opened)
    bodies[&body.host()] = &body;
  auto isKnown = [&](const Op &op) {
    const OpenedBody *body = bodies.lookup(op.parent());
    int group = body ? body->groupOf(&op) : OpenedBody::onHost;
    return group != OpenedBody::onHost && !body->list[group].isFirstOfForm;
  };
  return anec::verify(all, isKnown, diags);
}

OpenedBody *OpenedModule::body(llvm::StringRef host) {
  open();
  for (OpenedBody &body : opened)
    if (body.host().name == host)
      return &body;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

std::vector<Op *> OpenedBody::ops(llvm::ArrayRef<int> groups) const {
  std::vector<std::pair<uint64_t, Op *>> placed;
  for (int group : groups)
    for (Op *op : list[group].members)
      op->position(); // can renumber all
  for (int group : groups)
    for (Op *op : list[group].members)
      placed.push_back({op->position(), op});
  llvm::sort(placed);
  std::vector<Op *> result;
  for (auto [position, op] : placed)
    result.push_back(op);
  return result;
}

std::pair<uint64_t, uint64_t> OpenedBody::extent(int number) const {
  const Group &group = list[number];
  if (group.members.empty())
    return {UINT64_MAX, 0};
  if (!group.first)
    for (const Op *op : group.members) {
      if (!group.first || op->position() < group.first->position())
        group.first = op;
      if (!group.last || op->position() > group.last->position())
        group.last = op;
    }
  return {group.first->position(), group.last->position()};
}

bool OpenedBody::isConvex(llvm::ArrayRef<int> inside, const Op *extra) const {
  auto isInside = [&](const Op *op) {
    return op == extra || llvm::is_contained(inside, groupOf(op));
  };
  // A path that leaves the set and returns to it passes only ops up to the last
  // of the set, and groups that begin before it and end after it.
  uint64_t bound = extra ? extra->position() : 0;
  for (int group : inside)
    bound = std::max(bound, extent(group).second);
  for (bool grows = true; grows;) {
    grows = false;
    for (unsigned group = 0; group < list.size(); ++group) {
      auto [first, last] = extent(int(group));
      if (first <= bound && last > bound) {
        bound = last;
        grows = true;
      }
    }
  }
  // Groups outside are one node each: a kernel runs as a unit.
  llvm::DenseSet<const Op *> seen;
  std::vector<const Op *> after;
  auto visit = [&](const Op *op) {
    if (!seen.insert(op).second)
      return;
    int group = groupOf(op);
    if (group == onHost) {
      if (op->position() <= bound)
        after.push_back(op);
      return;
    }
    if (extent(group).first > bound)
      return;
    for (const Op *member : list[group].members) {
      seen.insert(member);
      after.push_back(member);
    }
  };
  bool returns = false;
  auto visitUsers = [&](const Op *op, bool fromInside) {
    for (const Value *result : op->resultValues())
      for (const Operand *use = result->firstUse(); use; use = use->nextUse()) {
        if (!use->owner())
          continue;
        if (!isInside(use->owner()))
          visit(use->owner());
        else
          returns |= !fromInside;
      }
  };
  if (extra)
    visitUsers(extra, /*fromInside=*/true);
  for (int group : inside)
    for (const Op *op : list[group].members)
      visitUsers(op, /*fromInside=*/true);
  while (!after.empty() && !returns) {
    const Op *op = after.back();
    after.pop_back();
    visitUsers(op, /*fromInside=*/false);
  }
  return !returns;
}

bool OpenedBody::canMerge(int lhs, int rhs) const {
  Value *left = instanceOf(lhs), *right = instanceOf(rhs);
  if (left && right && left != right)
    return false;
  return isConvex({lhs, rhs});
}

void OpenedBody::erase(Op &op) {
  for (const Value *result : op.resultValues()) {
    auto it = known.find(result);
    if (it == known.end())
      continue;
    for (int number : it->second) {
      Group &group = list[number];
      Value *value = op.result(result->index());
      group.inputs.remove(value);
      if (group.outputs.remove(value))
        group.outputBytes -= value->type.numBytes();
      group.names.erase(value);
      group.inputRoles.erase(value);
      group.outputRoles.erase(value);
    }
    known.erase(it);
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
  replaceKnown(value, by);
}

void OpenedBody::replaceKnown(const Value *value, Value *by) {
  auto it = known.find(value);
  if (it == known.end())
    return;
  llvm::SmallVector<int, 2> numbers = it->second;
  for (int number : numbers) {
    Group &group = list[number];
    know(by, number);
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
    group.inputs.replace(value, by);
  }
}

void OpenedBody::merge(int into, int from) {
  for (Op *op : ops(from))
    assign(op, into);
  for (Value *input : list[from].inputs.values())
    list[into].inputs.insert(input);
  for (Value *output : list[from].outputs.values())
    addOutput(into, output);
  for (const auto &[value, name] : list[from].names)
    list[into].names.insert({value, name});
  for (const auto &[value, role] : list[from].inputRoles)
    list[into].inputRoles.insert({value, role});
  for (const auto &[value, role] : list[from].outputRoles)
    list[into].outputRoles.insert({value, role});
  for (const Value *input : list[from].inputs.values())
    know(input, into);
  for (const auto &[value, role] : list[from].inputRoles)
    know(value, into);
  for (const auto &[value, role] : list[from].outputRoles)
    know(value, into);
  // A group that is partly a backward is a backward; a group from two layers
  // belongs to the model.
  if (list[from].role == FunctionRole::Backward)
    list[into].role = FunctionRole::Backward;
  if (list[from].owner != list[into].owner)
    list[into].owner = function->of().str();
}

void OpenedBody::giveTap(int group, Value *value) {
  if (list[group].outputs.contains(value))
    return;
  addOutput(group, value);
  list[group].outputRoles[value] = ValueRole::Tap;
}

void OpenedBody::takeTap(int group, const Value *value) {
  list[group].inputRoles.insert({value, ValueRole::Tap});
  know(value, group);
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
