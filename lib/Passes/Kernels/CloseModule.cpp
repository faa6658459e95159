//===- CloseModule.cpp - kernels of open groups ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Closes the groups of an opened module: finds an order in which each group
/// can run as a unit, determines its inputs and outputs, and replaces it by a
/// kernel and a call.
///
//===----------------------------------------------------------------------===//

#include "OpenedModule.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Clone.h"
#include "lib/IR/Names.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Params/Stored.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SetVector.h"
#include <queue>

using namespace anec;

//===----------------------------------------------------------------------===//
// What can be a kernel
//===----------------------------------------------------------------------===//

/// Whether a group of weights of `instance` takes `weight` as an input: one
/// that it is asked to, or that of another instance, or of none. A program has
/// weights of one instance.
static bool isPassed(const Op &weight, const Group &group,
                     const Value *instance) {
  return group.weightsAreInputs ||
         (instance && weight.operand(param::index) != instance);
}

/// Assigns groups without inputs to the host: a program has at least one, and
/// what is made of weights and constants alone needs none.
static void keepOnHost(OpenedBody &body) {
  std::vector<bool> hasInput(body.numGroups());
  std::vector<Value *> instances;
  for (unsigned number = 0; number < body.numGroups(); ++number)
    instances.push_back(body.instanceOf(int(number)));
  for (const Op &op : body.host().body()) {
    int number = body.groupOf(&op);
    if (number == OpenedBody::onHost)
      continue;
    for (const Value *operand : op.operandValues()) {
      if (!operand || body.groupOf(operand) == number)
        continue;
      const Op *def = operand->definingOp();
      if (!def || !isRematerialized(*def) ||
          (def->is(ops::Weight) &&
           isPassed(*def, body.group(number), instances[number])))
        hasInput[number] = true;
    }
  }
  for (Op &op : body.host().body())
    if (int number = body.groupOf(&op);
        number != OpenedBody::onHost && !hasInput[number])
      body.assign(&op, OpenedBody::onHost);
}

/// The type of an input or output of a kernel: booleans exist only inside of
/// programs, and pass as 0 and 1.
static TensorType portType(const TensorType &type) {
  return {type.dtype == DType::Bool ? DType::FP16 : type.dtype, type.shape};
}

/// `value`, of `type`, as it is passed.
static Value *toPort(Builder &builder, Value *value) {
  if (value->type.dtype != DType::Bool)
    return value;
  return builder.build(ops::Cast, value, Attr(param::dtype, DType::FP16));
}

/// What was passed, as a value of `type`.
static Value *fromPort(Builder &builder, Value *passed,
                       const TensorType &type) {
  if (type.dtype != DType::Bool)
    return passed;
  Value *half = builder.build(
      ops::Const, {}, Attr(param::val, Constant::scalar(DType::FP16, 0.5)));
  return builder.build(ops::Greater, {passed, half});
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {

/// The nodes of a host function whose groups are closed: an op, or all ops of
/// a group.
class ClosedOrder {
public:
  explicit ClosedOrder(const OpenedBody &body) {
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

  /// The nodes sorted topologically, otherwise in their original order.
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
  std::vector<std::vector<Op *>> nodes;
  llvm::DenseMap<int, size_t> ofGroup;
  llvm::DenseMap<const Op *, size_t> ofOp;
};

/// The inputs and outputs of a group.
struct Interface {
  std::vector<Value *> inputs, outputs;
  llvm::SetVector<Op *> rematerialized;
};

} // namespace

/// `values` with those of `first` moved to the front, in its order.
static std::vector<Value *> ordered(const llvm::SetVector<Value *> &values,
                                    const ValueList &first) {
  std::vector<Value *> result;
  for (Value *value : first.values())
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

/// The interface of group `number`, which has the ops `ops` and the weights of
/// `instance`.
static Interface interfaceOf(OpenedBody &body, int number,
                             llvm::ArrayRef<Op *> ops, const Value *instance) {
  Interface result;
  Group &group = body.group(number);
  llvm::SetVector<Value *> inputs, weights, outputs;
  for (Op *op : ops) {
    for (Value *operand : op->operandValues()) {
      if (!operand || body.groupOf(operand) == number)
        continue;
      Op *def = operand->definingOp();
      if (!def || !isRematerialized(*def))
        inputs.insert(operand);
      else if (def->is(ops::Weight) && isPassed(*def, group, instance))
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

/// The role of an input of a group: its known role, or the role that its
/// producer assigns.
static ValueRole roleOfInput(const llvm::StringMap<Function *> &functions,
                             const Group &group, const Value &input) {
  auto known = group.inputRoles.find(&input);
  if (known != group.inputRoles.end() && known->second != ValueRole::Input)
    return known->second;
  const Op *def = input.definingOp();
  if (def && def->is(ops::Weight))
    return def->get(param::frozen) ? ValueRole::FrozenWeight
                                   : ValueRole::Weight;
  ValueRole role = input.role();
  if (def && def->is(ops::Call))
    role =
        functions.lookup(def->get(param::callee))->resultRoles()[input.index()];
  return role == ValueRole::Tap || role == ValueRole::Gradient
             ? role
             : ValueRole::Input;
}

/// The same for an output: outputs of a backward are gradients.
static ValueRole roleOfOutput(const Group &group, const Value &output) {
  auto known = group.outputRoles.find(&output);
  if (known != group.outputRoles.end() && known->second != ValueRole::Output)
    return known->second;
  return group.role == FunctionRole::Backward && isFloat(output.type.dtype)
             ? ValueRole::Gradient
             : ValueRole::Output;
}

static std::unique_ptr<Function>
makeKernel(const llvm::StringMap<Function *> &functions, const Group &group,
           llvm::ArrayRef<Op *> ops, const Interface &interface) {
  auto kernel =
      std::make_unique<Function>(group.kind, group.name, ops.front()->range());
  kernel->setRole(group.role, group.owner);
  NameSet names;
  ValueMap map;
  Builder builder(*kernel);
  for (Value *input : interface.inputs) {
    auto it = group.names.find(input);
    llvm::StringRef name =
        it == group.names.end() ? displayName(*input) : it->second;
    Value *parameter = kernel->addParameter(
        portType(input->type), names.unique(sanitizeName(name, "input")),
        roleOfInput(functions, group, *input));
    map[input] = fromPort(builder, parameter, input->type);
  }
  for (Op *op : interface.rematerialized) {
    // In a kernel, a weight belongs to the instance that the call names.
    Op *copy = op->is(ops::Weight) ? copyOp(*op, {nullptr}) : copyOp(*op, {});
    map[op->result()] = copy->result();
    kernel->insert(copy);
  }
  for (Op *op : ops)
    cloneOp(*op, *kernel, map);
  llvm::SmallVector<Value *, 4> results;
  llvm::SmallVector<ValueRole, 4> roles;
  std::vector<std::string> spelled;
  for (Value *output : interface.outputs) {
    results.push_back(toPort(builder, map.lookup(output)));
    roles.push_back(roleOfOutput(group, *output));
    spelled.push_back(names.unique(sanitizeName(output->name, "output")).str());
  }
  llvm::SmallVector<llvm::StringRef, 4> resultNames(spelled.begin(),
                                                    spelled.end());
  kernel->setResults(results, resultNames, roles);
  return kernel;
}

/// Whether two kernels are the same except for names and owners.
static bool isSame(const Function &lhs, const Function &rhs) {
  if (lhs.kind != rhs.kind || lhs.role != rhs.role ||
      lhs.parameters().size() != rhs.parameters().size() ||
      lhs.numResults() != rhs.numResults() ||
      lhs.body().size() != rhs.body().size())
    return false;
  llvm::DenseMap<const Value *, const Value *> map;
  for (auto [left, right] : llvm::zip_equal(lhs.parameters(), rhs.parameters()))
    if (map[left.get()] = right.get();
        left->type != right->type || left->role() != right->role())
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
  return lhs.resultRoles() == rhs.resultRoles();
}

/// The same for functions that are the same in the sense of isSame.
static uint64_t hashOf(const Function &function) {
  llvm::hash_code hash =
      llvm::hash_combine(unsigned(function.kind), unsigned(function.role),
                         function.parameters().size(), function.numResults());
  for (const auto &param : function.parameters())
    hash =
        llvm::hash_combine(hash, unsigned(param->type.dtype),
                           llvm::hash_combine_range(param->type.shape.begin(),
                                                    param->type.shape.end()));
  for (const Op &op : function.body()) {
    hash = llvm::hash_combine(hash, &op.def(), op.numOperands());
    for (const ConstantRef &constant : op.constants())
      if (constant)
        hash = llvm::hash_combine(hash, constant->hash());
  }
  return hash >> 1; // not one of the keys that DenseMap reserves
}

/// The kernel of the module equal to `kernel`; adds `kernel` to the module when
/// there is none.
Function *OpenedModule::addKernel(std::unique_ptr<Function> kernel) {
  llvm::SmallVector<Function *, 1> &similar = hashed[hashOf(*kernel)];
  for (Function *other : similar)
    if (isSame(*other, *kernel))
      return other;
  std::string name = kernel->name;
  for (unsigned suffix = 1; !named.insert({kernel->name, kernel.get()}).second;
       ++suffix)
    kernel->name = name + "_" + std::to_string(suffix);
  similar.push_back(kernel.get());
  module.functions.push_back(std::move(kernel));
  return module.functions.back().get();
}

static Op *makeCall(Builder &builder, const Function &kernel,
                    const Interface &interface, Value *instance,
                    SourceRange range) {
  llvm::SmallVector<Value *, 8> operands = {instance};
  for (Value *input : interface.inputs)
    operands.push_back(toPort(builder, input));
  llvm::SmallVector<TensorType, 4> types;
  llvm::SmallVector<llvm::StringRef, 4> names;
  std::vector<std::string> spelled;
  for (const Value *output : interface.outputs) {
    types.push_back(portType(output->type));
    names.push_back(output->name);
    spelled.push_back(types.back().str());
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
  Builder builder(host);
  keepOnHost(body);
  for (std::vector<Op *> &node : ClosedOrder(body).sorted()) {
    int number = body.groupOf(node.front());
    if (number == OpenedBody::onHost) {
      // Move to the end, where the ops are collected in their new order.
      host.body().splice(host.body().end(), host.body(),
                         node.front()->getIterator());
      continue;
    }
    const Group &group = body.group(number);
    Value *instance = body.instanceOf(number);
    Interface interface = interfaceOf(body, number, node, instance);
    Function *kernel = addKernel(makeKernel(named, group, node, interface));
    builder.setRange(node.front()->range());
    Op *call = makeCall(builder, *kernel, interface,
                        group.weightsAreInputs ? nullptr : instance,
                        node.front()->range());
    host.insert(call);
    for (auto [value, result] :
         llvm::zip_equal(interface.outputs, call->resultValues()))
      body.replace(value, fromPort(builder, result, value->type));
    // Users inside the group are erased first, in reverse order; there are no
    // other users left.
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
  for (const auto &function : module.functions)
    hashed[hashOf(*function)].push_back(function.get());
  for (OpenedBody &body : opened)
    close(body);
}
