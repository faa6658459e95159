//===- SettleModule.cpp - what open groups pass each other ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Brings the groups of an opened module into the form in which they can be
/// closed: finds an order in which each group can run as a unit, and determines
/// its inputs and outputs, their names and roles, and which groups are the same
/// kernel. Passes decide by all of these.
///
//===----------------------------------------------------------------------===//

#include "ClosedOrder.h"
#include "KernelForms.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Clone.h"
#include "lib/IR/Names.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Select.h"
#include "llvm/ADT/SetVector.h"

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
static void keepOnHost(OpenedBody &body, llvm::ArrayRef<Value *> instances) {
  std::vector<bool> hasInput(body.numGroups());
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

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

namespace {

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

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// The role of an input of `group`: its known role, or the role `given` that
/// its producer assigns.
static ValueRole roleOfInput(const Group &group, const Value &input,
                             ValueRole given) {
  auto known = group.inputRoles.find(&input);
  if (known != group.inputRoles.end() && known->second != ValueRole::Input)
    return known->second;
  const Op *def = input.definingOp();
  if (def && def->is(ops::Weight))
    return def->get(param::frozen) ? ValueRole::FrozenWeight
                                   : ValueRole::Weight;
  return given == ValueRole::Tap || given == ValueRole::Gradient
             ? given
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

//===----------------------------------------------------------------------===//
// Settling
//===----------------------------------------------------------------------===//

namespace anec {

/// Settles the groups of one host function. Its ops are collected at its end,
/// in their new order.
class BodySettler {
public:
  /// With `staysOpen`, for other passes; otherwise for closing.
  BodySettler(OpenedBody &body, KernelForms &forms, bool staysOpen)
      : body(body), host(body.host()), forms(forms), staysOpen(staysOpen),
        builder(host) {}
  /// Returns whether settling again would change nothing: not where booleans
  /// have become inputs, whose constants would then move to those of the group.
  bool run();

private:
  void findRemaining();
  void settle(int number, llvm::ArrayRef<Op *> ops);
  void addInputs(Group &group, int number, const Interface &interface);
  void addOutputs(Group &group, int number, const Interface &interface);
  Op *take(Op *op, int number);
  Op *likeOther(Group &group, int number, Op *op, const Op &other);
  void adopt(Group &group, int number, const KernelForm &form);
  void linkUses(const Group &group, int number);
  void finish();

  void moveToEnd(Op *op) { host.insert(host.body().remove(op->getIterator())); }
  /// The value that stands for `value`, which can have been replaced.
  Value *current(Value *value) const;
  /// The use of `value` by anything outside of group `number`.
  llvm::SmallVector<Operand *, 4> usesOutside(const Value *value, int number);

  OpenedBody &body;
  Function &host;
  KernelForms &forms;
  bool staysOpen;
  bool isFinal = true;
  Builder builder;
  std::deque<Group> settled;
  std::vector<Value *> instances; ///< of the weights of each group
  /// Results of erased ops, and those of the ops in their places.
  llvm::DenseMap<const Value *, Value *> replaced;
  llvm::DenseMap<int, unsigned> places; ///< of groups in `settled`
  /// Weights and constants that stay in the host function when its groups are
  /// closed.
  llvm::DenseSet<const Op *> remaining;
  /// By name, the weights in front of the group that is settled next.
  llvm::StringMap<llvm::SmallVector<Op *, 1>> weights;
};

} // namespace anec

Value *BodySettler::current(Value *value) const {
  auto it = replaced.find(value);
  return it == replaced.end() ? value : it->second;
}

llvm::SmallVector<Operand *, 4> BodySettler::usesOutside(const Value *value,
                                                         int number) {
  llvm::SmallVector<Operand *, 4> uses;
  for (Operand *use = value->firstUse(); use; use = use->nextUse())
    if (!use->owner() || body.groupOf(use->owner()) != number)
      uses.push_back(use);
  return uses;
}

void BodySettler::findRemaining() {
  for (const Op &op : host.body()) {
    if (!isRematerialized(op))
      continue;
    for (const Operand *use = op.result()->firstUse(); use;
         use = use->nextUse()) {
      int user = use->owner() ? body.groupOf(use->owner()) : OpenedBody::onHost;
      if (user == OpenedBody::onHost ||
          (op.is(ops::Weight) &&
           isPassed(op, body.group(user), instances[user])))
        remaining.insert(&op);
    }
  }
}

/// Adds the inputs to `group`. A boolean is passed as 0 or 1.
void BodySettler::addInputs(Group &group, int number,
                            const Interface &interface) {
  const Group &old = body.group(number);
  NameSet names;
  std::vector<std::pair<Value *, Value *>> passed;
  builder.setRange(group.range);
  for (Value *input : interface.inputs) {
    int from = body.groupOf(input);
    bool isComputed = from != OpenedBody::onHost;
    llvm::StringRef wanted = displayName(*input);
    if (auto it = old.names.find(input); it != old.names.end())
      wanted = it->second;
    else if (isComputed && input->name.empty())
      wanted = ops::Call.name; // what computes it when the groups are closed
    std::string name = names.unique(sanitizeName(wanted, "input")).str();
    ValueRole given =
        isComputed ? settled[places.lookup(from)].outputRoles.lookup(input)
                   : input->role();
    ValueRole role = roleOfInput(old, *input, given);
    Value *port = input;
    if (input->type.dtype == DType::Bool) {
      port = builder.build(ops::Cast, input, Attr(param::dtype, DType::FP16));
      passed.push_back({input, port});
    }
    group.inputs.insert(port);
    group.names.insert({port, std::move(name)});
    group.inputRoles.insert({port, role});
  }
  builder.setRange({});
  isFinal &= passed.empty();
  for (auto [input, port] : passed) {
    Value *half = builder.build(
        ops::Const, {}, Attr(param::val, Constant::scalar(DType::FP16, 0.5)));
    Value *boolean = builder.build(ops::Greater, {port, half});
    group.kernelOps.push_back(half->definingOp());
    group.kernelOps.push_back(boolean->definingOp());
    llvm::SmallVector<Operand *, 4> uses;
    for (Operand *use = input->firstUse(); use; use = use->nextUse())
      if (use->owner() && body.groupOf(use->owner()) == number)
        uses.push_back(use);
    for (Operand *use : uses)
      use->set(boolean);
    body.assign(boolean->definingOp(), number);
  }
}

/// Adds the outputs to `group`, whose ops are in place.
void BodySettler::addOutputs(Group &group, int number,
                             const Interface &interface) {
  std::vector<std::pair<Value *, Value *>> passed;
  builder.setRange({});
  for (Value *output : interface.outputs) {
    Value *port = output;
    if (output->type.dtype == DType::Bool) {
      port = builder.build(ops::Cast, output, Attr(param::dtype, DType::FP16));
      if (!output->name.empty())
        port->name = output->name;
      passed.push_back({output, port});
      group.kernelOps.push_back(port->definingOp());
      body.assign(port->definingOp(), number);
    }
    group.outputs.insert(port);
    group.outputBytes += port->type.numBytes();
    group.outputRoles.insert({port, roleOfOutput(body.group(number), *output)});
  }
  builder.setRange(group.range);
  for (auto [output, port] : passed) {
    Value *half = builder.build(
        ops::Const, {}, Attr(param::val, Constant::scalar(DType::FP16, 0.5)));
    Value *boolean = builder.build(ops::Greater, {port, half});
    remaining.insert(half->definingOp());
    for (Operand *use : usesOutside(output, number))
      use->set(boolean);
    body.replaceKnown(output, boolean);
  }
}

/// Gives group `number` the weight or constant `op`: a constant is its own, and
/// a weight the first such one of the host function. Returns the op that it
/// has now.
Op *BodySettler::take(Op *op, int number) {
  Op *own = op;
  if (op->is(ops::Weight)) {
    llvm::SmallVector<Op *, 1> &same = weights[op->get(param::name)];
    auto *it = llvm::find_if(same, [&](const Op *other) {
      return other->operand(param::index) == op->operand(param::index) &&
             equalConstants(other->constants(), op->constants());
    });
    if (it == same.end()) {
      moveToEnd(op);
      same.push_back(op);
      return op;
    }
    own = *it;
  } else if (remaining.contains(op) ||
             !usesOutside(op->result(), number).empty()) {
    own = copyOp(*op, {});
    host.insert(own);
  } else {
    moveToEnd(op);
  }
  if (own != op)
    body.replaceUses(*op, number, own->result());
  return own;
}

/// Gives `op` of `group` the names and the source range of `other`, which is
/// the same, and returns it.
Op *BodySettler::likeOther(Group &group, int number, Op *op, const Op &other) {
  for (auto [value, like] :
       llvm::zip_equal(op->resultValues(), other.resultValues()))
    value->name = like->name;
  if (op->range().Start == other.range().Start &&
      op->range().End == other.range().End)
    return op;
  llvm::SmallVector<TensorType, 2> types;
  llvm::SmallVector<llvm::StringRef, 2> names;
  for (const Value *value : op->resultValues()) {
    types.push_back(value->type);
    names.push_back(value->name);
  }
  Op *copy = Op::create(op->def(), op->operandValues(), op->constants(), types,
                        names, other.range());
  host.insert(copy, op);
  for (auto [value, by] :
       llvm::zip_equal(op->resultValues(), copy->resultValues())) {
    body.replace(value, by);
    replaced[value] = by;
    if (group.outputs.replace(value, by))
      group.outputRoles.insert({by, group.outputRoles.lookup(value)});
  }
  if (body.groupOf(op) != OpenedBody::onHost)
    body.assign(copy, number);
  body.assign(op, OpenedBody::onHost);
  if (op->is(ops::Weight))
    for (Op *&shared : weights[op->get(param::name)])
      shared = shared == op ? copy : shared;
  op->erase();
  return copy;
}

/// Names what is in `group` as in `form`, which is the same: they will be one
/// kernel.
void BodySettler::adopt(Group &group, int number, const KernelForm &form) {
  group.name = form.name;
  group.owner = form.owner;
  std::vector<std::string> kept;
  for (const Value *output : group.outputs.values())
    kept.push_back(output->name);
  for (auto [input, name] :
       llvm::zip_equal(llvm::to_vector(group.inputs.values()), form.inputNames))
    group.names[input] = name;
  for (auto [own, other] : llvm::zip_equal(group.kernelOps, form.ops))
    if (own != other && !remaining.contains(own))
      own = likeOther(group, number, own, *other);
  for (auto [output, name] :
       llvm::zip_equal(llvm::to_vector(group.outputs.values()), kept))
    if (!name.empty())
      output->name = name;
}

/// Puts the uses by the ops of `group` before those by earlier ops, and those
/// by the host before those by the ops of `group` that compute the values: the
/// order in which a pass sees them.
void BodySettler::linkUses(const Group &group, int number) {
  for (Op *op : group.kernelOps) {
    if (remaining.contains(op))
      continue;
    for (unsigned slot = 0; slot < op->numOperands(); ++slot)
      op->setOperand(slot, op->operand(slot));
  }
  for (const Value *output : group.outputs.values()) {
    llvm::SmallVector<Operand *, 4> uses = usesOutside(output, number);
    for (Operand *use : llvm::reverse(uses))
      use->set(use->get());
  }
}

void BodySettler::settle(int number, llvm::ArrayRef<Op *> ops) {
  const Group &old = body.group(number);
  Group group;
  group.name = old.name;
  group.kind = old.kind;
  group.role = old.role;
  group.owner = old.owner;
  group.weightsAreInputs = old.weightsAreInputs && !staysOpen;
  group.range = ops.front()->range();
  group.instance = current(instances[number]);
  Interface interface = interfaceOf(body, number, ops, group.instance);
  addInputs(group, number, interface);
  for (Op *op : interface.rematerialized)
    group.kernelOps.push_back(staysOpen ? take(op, number) : op);
  for (Op *op : ops) {
    moveToEnd(op);
    group.kernelOps.push_back(op);
  }
  addOutputs(group, number, interface);
  unsigned known = forms.size();
  group.form = forms.add(KernelForm::of(group));
  group.isFirstOfForm = group.form == known;
  if (staysOpen) {
    adopt(group, number, forms[group.form]);
    linkUses(group, number);
    for (const Op *op : group.kernelOps)
      if (op->is(ops::Weight))
        remaining.insert(op); // later groups share it
  }
  places[number] = settled.size();
  settled.push_back(std::move(group));
}

/// Replaces the groups of the body by the settled ones.
void BodySettler::finish() {
  body.list = std::move(settled);
  body.groups.clear();
  body.known.clear();
  for (auto [number, group] : llvm::enumerate(body.list)) {
    group.instance = current(group.instance);
    for (Op *op : group.kernelOps)
      if (!isRematerialized(*op))
        body.assign(op, int(number));
    for (const Value *input : group.inputs.values())
      body.know(input, int(number));
    for (const Value *output : group.outputs.values())
      body.know(output, int(number));
  }
  if (!staysOpen)
    return;
  for (Op &op : llvm::make_early_inc_range(llvm::reverse(host.body())))
    if (isRematerialized(op) && !op.result()->hasUses())
      op.erase();
}

bool BodySettler::run() {
  for (unsigned number = 0; number < body.numGroups(); ++number)
    instances.push_back(body.instanceOf(int(number)));
  keepOnHost(body, instances);
  findRemaining();
  for (std::vector<Op *> &node : closedOrder(body)) {
    int number = body.groupOf(node.front());
    if (number != OpenedBody::onHost) {
      settle(number, node);
      continue;
    }
    moveToEnd(node.front());
    if (node.front()->is(ops::Weight) && remaining.contains(node.front()))
      weights[node.front()->get(param::name)].push_back(node.front());
  }
  finish();
  return isFinal;
}

bool OpenedModule::settle(KernelForms &forms, bool staysOpen) {
  bool isFinal = true;
  for (OpenedBody &body : opened)
    isFinal &= BodySettler(body, forms, staysOpen).run();
  return isFinal;
}

void OpenedModule::settle(bool changed) {
  if (!isOpen || (isSettled && !changed))
    return;
  KernelForms forms(all);
  isSettled = settle(forms, /*staysOpen=*/true);
}
