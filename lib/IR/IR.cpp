//===- IR.cpp - Module, Function, Op, Value -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/IR.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Operand and Value
//===----------------------------------------------------------------------===//

void Operand::set(Value *newValue) {
  if (value) {
    *link = next;
    if (next)
      next->link = link;
  }
  value = newValue;
  next = nullptr;
  link = nullptr;
  if (!value)
    return;
  next = value->uses;
  if (next)
    next->link = &next;
  link = &value->uses;
  value->uses = this;
}

SourceRange Value::range() const { return op ? op->range() : declared; }

llvm::StringRef anec::describe(Holder holder) {
  switch (holder) {
  case Holder::Tensor:
    return "a tensor";
  case Holder::State:
    return "a state";
  case Holder::Buffer:
    return "a tensor buffer";
  }
  return "";
}

BufferLayout Value::bufferLayout() const {
  assert(holder == Holder::Buffer && "only buffers have a layout");
  if (layout)
    return *layout;
  return {op->get(param::strides), op->get(param::interleaveFactors)};
}

const Op *Value::user() const {
  for (const Operand *use = uses; use; use = use->nextUse())
    if (use->owner())
      return use->owner();
  return nullptr;
}

void Value::replaceAllUsesWith(Value *other) {
  assert(other != this && "a value replaced by itself");
  while (uses)
    uses->set(other);
}

//===----------------------------------------------------------------------===//
// Op
//===----------------------------------------------------------------------===//

Op *Op::create(const OpDef &def, llvm::ArrayRef<Value *> operands,
               llvm::ArrayRef<ConstantRef> constants,
               llvm::ArrayRef<TensorType> resultTypes,
               llvm::ArrayRef<llvm::StringRef> resultNames, SourceRange range) {
  Op *op = new Op;
  op->row = &def;
  op->source = range;
  op->operandCount = operands.size();
  if (!operands.empty())
    op->operands = std::make_unique<Operand[]>(operands.size());
  for (auto [slot, value] : llvm::enumerate(operands)) {
    op->operands[slot].user = op;
    op->operands[slot].set(value);
  }
  op->constantSlots.assign(constants.begin(), constants.end());
  for (auto [index, type] : llvm::enumerate(resultTypes))
    op->results.push_back(std::make_unique<Value>(
        type, index < resultNames.size() ? resultNames[index] : "", op, index));
  for (const auto &result : op->results)
    result->holder = def.resultHolder;
  return op;
}

Op::~Op() {
  assert(llvm::none_of(results, [](const auto &r) { return r->hasUses(); }) &&
         "destroying an op whose result is used");
}

llvm::SmallVector<Value *, 4> Op::operandValues() const {
  llvm::SmallVector<Value *, 4> values;
  for (unsigned slot = 0; slot < operandCount; ++slot)
    values.push_back(operand(slot));
  return values;
}

Value *Op::operand(const ValueParam &param) const {
  int slot = row->valueSlot(param);
  assert(slot >= 0 && "no such value parameter");
  return unsigned(slot) < operandCount ? operand(unsigned(slot)) : nullptr;
}

const Constant *Op::constant(const ConstantParam &param) const {
  int slot = row->constantSlot(param);
  assert(slot >= 0 && "no such constant parameter");
  return unsigned(slot) < constantSlots.size() ? constantSlots[slot].get()
                                               : nullptr;
}

void Op::setConstant(const ConstantParam &param, ConstantRef value) {
  int slot = row->constantSlot(param);
  assert(slot >= 0 && "no such constant parameter");
  constantSlots[slot] = std::move(value);
}

uint64_t Op::position() const {
  assert(function && "not linked into a function");
  if (place)
    return place;
  const llvm::ilist<Op> &body = function->body();
  constexpr uint64_t gap = uint64_t(1) << 24;
  auto here = getIterator();
  uint64_t before = here == body.begin() ? 0 : std::prev(here)->place;
  bool isFirst = here == body.begin(), isLast = std::next(here) == body.end();
  if (isFirst || before) {
    uint64_t after = isLast ? before + 2 * gap : std::next(here)->place;
    if (after > before + 1)
      return place = before + (after - before) / 2;
  }
  uint64_t next = 0;
  for (const Op &op : body)
    op.place = next += gap;
  return place;
}

void Op::erase() {
  assert(function && "not linked into a function");
  function->body().erase(getIterator());
}

//===----------------------------------------------------------------------===//
// Function
//===----------------------------------------------------------------------===//

static void dropUses(const Value &value) {
  while (Operand *use = value.firstUse())
    use->set(nullptr);
}

Function::~Function() {
  // Remove all uses before any value: in a malformed function, which the
  // verifier has not rejected yet, a use can precede its definition, or be in
  // another function.
  for (const Op &op : ops)
    for (const Value *result : op.resultValues())
      dropUses(*result);
  for (const auto &param : params)
    dropUses(*param);
  for (const auto &result : declaredResults)
    dropUses(*result);
}

Value *Function::addParameter(TensorType type, llvm::StringRef name,
                              ValueRole role) {
  params.push_back(
      std::make_unique<Value>(std::move(type), name, nullptr, params.size()));
  params.back()->setRole(role);
  return params.back().get();
}

Value *Function::parameterOf(ValueRole role) const {
  Value *found = nullptr;
  for (const auto &param : params) {
    if (param->role() != role)
      continue;
    if (found)
      return nullptr;
    found = param.get();
  }
  return found;
}

std::optional<unsigned> Function::resultOf(ValueRole role) const {
  if (llvm::count(outputRoles, role) != 1)
    return std::nullopt;
  return unsigned(llvm::find(outputRoles, role) - outputRoles.begin());
}

void Function::orderParameters(llvm::ArrayRef<unsigned> order) {
  assert(order.size() == params.size() && "not a permutation");
  std::vector<std::unique_ptr<Value>> ordered;
  for (unsigned from : order) {
    params[from]->slot = ordered.size();
    ordered.push_back(std::move(params[from]));
  }
  params = std::move(ordered);
}

void Function::eraseParameter(unsigned index) {
  assert(!params[index]->hasUses() && "the parameter is used");
  params.erase(params.begin() + index);
  for (; index < params.size(); ++index)
    params[index]->slot = index;
}

void Function::insert(Op *op, Op *before) {
  op->function = this;
  ops.insert(before ? before->getIterator() : ops.end(), op);
}

void Function::setResults(llvm::ArrayRef<Value *> values,
                          llvm::ArrayRef<llvm::StringRef> names,
                          llvm::ArrayRef<ValueRole> roles) {
  assert(names.empty() || names.size() == values.size());
  assert(roles.empty() || roles.size() == values.size());
  // `roles` can refer to the current roles.
  std::vector<ValueRole> newRoles = roles.vec();
  newRoles.resize(values.size(), ValueRole::Output);
  outputRoles = std::move(newRoles);
  resultSlots = std::make_unique<Operand[]>(values.size());
  resultCount = values.size();
  outputNames.clear();
  for (auto [index, value] : llvm::enumerate(values)) {
    resultSlots[index].set(value);
    outputNames.push_back(names.empty() ? value->name : names[index].str());
  }
}

void Function::declareResults(llvm::ArrayRef<TensorType> types,
                              llvm::ArrayRef<llvm::StringRef> names,
                              llvm::ArrayRef<ValueRole> roles) {
  assert(ops.empty() && "a declaration has no body");
  llvm::SmallVector<Value *, 2> values;
  for (auto [type, name] : llvm::zip_equal(types, names)) {
    declaredResults.push_back(std::make_unique<Value>(
        type, name, nullptr, unsigned(declaredResults.size())));
    values.push_back(declaredResults.back().get());
  }
  setResults(values, names, roles);
  declared = true;
}

bool Function::hasMemory() const {
  auto isMemory = [](const auto &value) {
    return value->holder != Holder::Tensor;
  };
  return llvm::any_of(params, isMemory) || llvm::any_of(ops, [&](const Op &op) {
           return llvm::any_of(op.resultValues(), isMemory);
         });
}

llvm::SmallVector<Value *, 2> Function::resultValues() const {
  llvm::SmallVector<Value *, 2> values;
  for (unsigned index = 0; index < resultCount; ++index)
    values.push_back(result(index));
  return values;
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

Function *Module::addFunction(FunctionKind kind, llvm::StringRef name,
                              SourceRange range) {
  functions.push_back(std::make_unique<Function>(kind, name, range));
  return functions.back().get();
}

Function *Module::findFunction(llvm::StringRef name) const {
  for (const auto &function : functions)
    if (function->name == name)
      return function.get();
  return nullptr;
}
