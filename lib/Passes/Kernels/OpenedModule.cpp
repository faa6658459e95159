//===- OpenedModule.cpp - host functions with open kernels ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OpenedModule.h"
#include "anec/IR/Clone.h"
#include "anec/IR/Names.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/StringSet.h"
#include <queue>

using namespace anec;

bool anec::isRematerialized(const Op &op) {
  return op.is(ops::Weight) || op.is(ops::Const);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// A weight of the callee in the host function, for the instance of the call:
/// the one that stands there already, or a new one.
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

void OpenedBody::open(Op &call, const Function &callee) {
  int number = addGroup(callee.name, callee.kind);
  ValueMap map;
  for (const auto &param : callee.parameters()) {
    Value *argument = call.operand(1 + param->index());
    map[param.get()] = argument;
    list[number].inputs.insert(argument);
    list[number].names.insert({argument, param->name});
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
        list[number].outputs.insert(value) && !call.result(index)->name.empty())
      value->name = call.result(index)->name;
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
  // Whatever lies outside and depends on the inside must not lead back into it.
  // Other groups are one node each: all of a kernel runs at once.
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
}

/// The weight that an operand is; null for anything else.
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

//===----------------------------------------------------------------------===//
// Closing
//===----------------------------------------------------------------------===//

namespace {

/// The nodes of a host function whose groups are closed: an op, or all ops of
/// a group.
class ClosedOrder {
public:
  ClosedOrder(OpenedBody &body) : body(body) {
    for (Op &op : body.host().body()) {
      int group = body.groupOf(&op);
      size_t node = nodes.size();
      if (group != OpenedBody::onHost)
        node = ofGroup.insert({group, node}).first->second;
      if (node == nodes.size())
        nodes.emplace_back();
      nodes[node].push_back(&op);
      ofOp[&op] = node;
    }
  }

  /// The nodes such that each comes after what it depends on, else as they
  /// stand.
  std::vector<std::vector<Op *>> sorted() {
    std::vector<llvm::SmallVector<size_t, 4>> users(nodes.size());
    std::vector<unsigned> missing(nodes.size());
    for (size_t node = 0; node < nodes.size(); ++node) {
      llvm::SetVector<size_t> before;
      for (const Op *op : nodes[node])
        for (const Value *operand : op->operandValues())
          if (operand && operand->definingOp())
            before.insert(ofOp.lookup(operand->definingOp()));
      before.remove(node);
      missing[node] = before.size();
      for (size_t other : before)
        users[other].push_back(node);
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t node = 0; node < nodes.size(); ++node)
      if (missing[node] == 0)
        ready.push(node);
    std::vector<std::vector<Op *>> order;
    while (!ready.empty()) {
      size_t node = ready.top();
      ready.pop();
      order.push_back(nodes[node]);
      for (size_t user : users[node])
        if (--missing[user] == 0)
          ready.push(user);
    }
    assert(order.size() == nodes.size() && "groups depend on each other");
    return order;
  }

private:
  OpenedBody &body;
  std::vector<std::vector<Op *>> nodes;
  llvm::DenseMap<int, size_t> ofGroup;
  llvm::DenseMap<const Op *, size_t> ofOp;
};

/// What a group reads and gives.
struct Interface {
  std::vector<Value *> inputs, outputs;
  llvm::SetVector<Op *> rematerialized;
};

} // namespace

/// `values` with those of `first` in front, in its order.
static std::vector<Value *> ordered(const llvm::SetVector<Value *> &values,
                                    const llvm::SetVector<Value *> &first) {
  std::vector<Value *> result;
  for (Value *value : first)
    if (values.contains(value))
      result.push_back(value);
  for (Value *value : values)
    if (!first.contains(value))
      result.push_back(value);
  return result;
}

static bool isUsedOutside(const OpenedBody &body, const Value *value,
                          int group) {
  for (Operand *use = value->firstUse(); use; use = use->nextUse())
    if (!use->owner() || body.groupOf(use->owner()) != group)
      return true;
  return false;
}

static Interface interfaceOf(OpenedBody &body, int number) {
  Interface result;
  Group &group = body.group(number);
  llvm::SetVector<Value *> inputs, weights, outputs;
  for (Op *op : body.ops(number)) {
    for (Value *operand : op->operandValues()) {
      if (!operand || body.groupOf(operand) == number)
        continue;
      Op *def = operand->definingOp();
      if (!def || !isRematerialized(*def))
        inputs.insert(operand);
      else if (def->is(ops::Weight) && group.weightsAreInputs)
        weights.insert(operand);
      else
        result.rematerialized.insert(def);
    }
    for (Value *value : op->resultValues())
      if (isUsedOutside(body, value, number))
        outputs.insert(value);
  }
  result.inputs = ordered(inputs, group.inputs);
  llvm::append_range(result.inputs, weights);
  result.outputs = ordered(outputs, group.outputs);
  return result;
}

static std::unique_ptr<Function> makeKernel(OpenedBody &body, int number,
                                            const Interface &interface) {
  Group &group = body.group(number);
  std::vector<Op *> ops = body.ops(number);
  auto kernel =
      std::make_unique<Function>(group.kind, group.name, body.host().range);
  if (!ops.empty())
    kernel->range = ops.front()->range();
  NameSet names;
  ValueMap map;
  for (Value *input : interface.inputs) {
    auto it = group.names.find(input);
    llvm::StringRef name =
        it == group.names.end() ? displayName(*input) : it->second;
    map[input] = kernel->addParameter(
        input->type, names.unique(sanitizeName(name, "input")));
  }
  for (Op *op : interface.rematerialized) {
    // In a kernel, a weight is that of the instance that the call names.
    Op *copy = op->is(ops::Weight) ? copyOp(*op, {nullptr}) : copyOp(*op, {});
    map[op->result()] = copy->result();
    kernel->insert(copy);
  }
  for (Op *op : ops)
    cloneOp(*op, *kernel, map);
  llvm::SmallVector<Value *, 4> results;
  std::vector<std::string> spelled;
  for (Value *output : interface.outputs) {
    results.push_back(map.lookup(output));
    spelled.push_back(names.unique(sanitizeName(output->name, "output")).str());
  }
  llvm::SmallVector<llvm::StringRef, 4> resultNames(spelled.begin(),
                                                    spelled.end());
  kernel->setResults(results, resultNames);
  return kernel;
}

/// Whether two kernels are the same but for names.
static bool isSame(const Function &lhs, const Function &rhs) {
  if (lhs.kind != rhs.kind ||
      lhs.parameters().size() != rhs.parameters().size() ||
      lhs.numResults() != rhs.numResults() ||
      lhs.body().size() != rhs.body().size())
    return false;
  llvm::DenseMap<const Value *, const Value *> map;
  for (auto [left, right] : llvm::zip_equal(lhs.parameters(), rhs.parameters()))
    if (map[left.get()] = right.get(); left->type != right->type)
      return false;
  for (auto [left, right] : llvm::zip_equal(lhs.body(), rhs.body())) {
    if (!left.is(right.def()) || left.numOperands() != right.numOperands() ||
        left.numResults() != right.numResults() ||
        !equalConstants(left.constants(), right.constants()))
      return false;
    for (unsigned slot = 0; slot < left.numOperands(); ++slot)
      if (map.lookup(left.operand(slot)) != right.operand(slot))
        return false;
    for (unsigned index = 0; index < left.numResults(); ++index)
      map[left.result(index)] = right.result(index);
  }
  for (unsigned index = 0; index < lhs.numResults(); ++index)
    if (map.lookup(lhs.result(index)) != rhs.result(index))
      return false;
  return true;
}

/// The kernel of the module that is the same as `kernel`, which becomes part of
/// it when there is none.
Function *OpenedModule::addKernel(std::unique_ptr<Function> kernel) {
  for (const auto &other : module.functions)
    if (isSame(*other, *kernel))
      return other.get();
  std::string name = kernel->name;
  for (unsigned suffix = 1; module.findFunction(kernel->name); ++suffix)
    kernel->name = name + "_" + std::to_string(suffix);
  module.functions.push_back(std::move(kernel));
  return module.functions.back().get();
}

static Op *makeCall(const Function &kernel, const Interface &interface,
                    Value *instance, SourceRange range) {
  llvm::SmallVector<Value *, 8> operands = {instance};
  llvm::append_range(operands, interface.inputs);
  llvm::SmallVector<TensorType, 4> types;
  llvm::SmallVector<llvm::StringRef, 4> names;
  std::vector<std::string> spelled;
  for (const Value *output : interface.outputs) {
    types.push_back(output->type);
    names.push_back(output->name);
    spelled.push_back(output->type.str());
  }
  TensorType list(DType::String, {int64_t(types.size())});
  llvm::SmallVector<ConstantRef, 2> constants(ops::Call.numConstantParams());
  Op *call = Op::create(ops::Call, operands, constants, types, names, range);
  call->setConstant(param::callee, Constant::string(kernel.name));
  call->setConstant(param::results,
                    Constant::strings(list, std::move(spelled)));
  return call;
}

void OpenedModule::close(OpenedBody &body) {
  Function &host = body.host();
  for (std::vector<Op *> &node : ClosedOrder(body).sorted()) {
    int number = body.groupOf(node.front());
    if (number == OpenedBody::onHost) {
      // To the end, where the ops gather in their new order.
      host.body().splice(host.body().end(), host.body(),
                         node.front()->getIterator());
      continue;
    }
    Interface interface = interfaceOf(body, number);
    Value *instance =
        body.group(number).weightsAreInputs ? nullptr : body.instanceOf(number);
    Function *kernel = addKernel(makeKernel(body, number, interface));
    Op *call = makeCall(*kernel, interface, instance, node.front()->range());
    host.insert(call);
    for (auto [value, result] :
         llvm::zip_equal(interface.outputs, call->resultValues()))
      body.replace(value, result);
    // The group's own uses are gone with its ops, which nothing else uses now.
    for (Op *op : llvm::reverse(node)) {
      body.assign(op, OpenedBody::onHost);
      op->erase();
    }
  }
  for (Op &op : llvm::make_early_inc_range(llvm::reverse(host.body())))
    if (isRematerialized(op) && !op.result()->hasUses())
      op.erase();
}

void OpenedModule::close() {
  for (OpenedBody &body : opened)
    close(body);
}
