//===- KernelProgram.cpp - a kernel, with the weights it has --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelProgram.h"
#include "anec/IR/Clone.h"
#include "anec/IR/OpDef.h"
#include "anec/Ops/Ops.h"
#include "anec/Ops/Weights.h"
#include "anec/Package/ScheduleWalk.h"
#include "anec/Runtime/Diags.h"
#include "anec/Support/Half.h"

using namespace anec;
using namespace anec::session;

KernelProgram::KernelProgram(const SessionContext &context,
                             const PackagedKernel &kernel,
                             const PackagedInstance &instance,
                             std::shared_ptr<const Module> module,
                             llvm::ArrayRef<Binding> bindings)
    : context(context), kernel(kernel), instance(instance),
      module(std::move(module)), bindings(bindings.begin(), bindings.end()) {}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// The master weight that `constant` of a kernel is made of; null for none.
static const NamedFloats *findMaster(const SessionContext &context,
                                     const PackagedInstance &instance,
                                     const PackagedConstant &constant) {
  const PackagedWeight *weight = context.package.findWeight(constant.weight);
  // Only weights of repeated layers are one for each instance.
  std::string name = instanceName(
      constant.weight,
      weight && !weight->instances.empty() ? instance.index : std::nullopt);
  llvm::ArrayRef<NamedFloats> masters = context.arrays.weights();
  const auto *found = llvm::find_if(
      masters, [&](const NamedFloats &array) { return array.name == name; });
  return found == masters.end() ? nullptr : found;
}

bool KernelProgram::isBaked() const {
  return llvm::any_of(kernel.constants, [&](const PackagedConstant &constant) {
    return findMaster(context, instance, constant);
  });
}

/// A `weight` op that says how `constant` is made of the stored array.
static std::unique_ptr<Op> weightOp(const PackagedConstant &constant) {
  llvm::SmallVector<ConstantRef, 8> constants(ops::Weight.numConstantParams());
  std::unique_ptr<Op> op(
      Op::create(ops::Weight, {nullptr}, constants, {constant.type}, {""}, {}));
  op->setConstant(param::name, Constant::string(constant.weight));
  op->setConstant(param::dtype,
                  Constant::string(spelling(constant.type.dtype)));
  op->setConstant(param::shape, Constant::int32s(constant.type.shape));
  op->setConstant(param::sourceShape, Constant::int32s(constant.stored.shape));
  if (constant.isTransposed())
    op->setConstant(param::perm, Constant::int32s(constant.perm));
  return op;
}

/// The constant with the values that its master weight has, in a copy.
ConstantRef KernelProgram::currentValue(const PackagedConstant &constant,
                                        Diagnostics &diags) const {
  const NamedFloats *master = findMaster(context, instance, constant);
  if (!master)
    return nullptr;
  if (constant.stored.numElements() != constant.type.numElements() ||
      constant.stored.shape != master->type.shape) {
    diags.report({}, diag::WeightInParts, constant.weight, kernel.name);
    return nullptr;
  }
  llvm::ArrayRef<uint8_t> bytes(
      reinterpret_cast<const uint8_t *>(master->elements.data()),
      master->elements.size() * sizeof(float));
  // The session has them longer than this needs them.
  std::shared_ptr<const void> lent(std::shared_ptr<void>(), bytes.data());
  ConstantRef stored =
      Constant::view(constant.stored, DType::FP32, bytes, std::move(lent));
  ConstantRef arranged = arrangeWeight(*weightOp(constant), stored);
  // Rounded now: the master may change while the program is loaded.
  TensorType type(constant.type.dtype, constant.type.shape);
  size_t count = size_t(type.numElements());
  if (type.dtype != DType::FP16)
    return Constant::copy(type, arranged->bytes());
  auto halves = std::make_shared_for_overwrite<uint16_t[]>(count);
  floatsToHalves(reinterpret_cast<const float *>(arranged->bytes().data()),
                 halves.get(), count);
  return Constant::view(
      type, type.dtype,
      {reinterpret_cast<const uint8_t *>(halves.get()), count * 2}, halves);
}

/// The kernel with the master weights in place of its constants, those that it
/// was packaged with.
std::unique_ptr<Module> KernelProgram::withWeights(Diagnostics &diags) const {
  size_t errors = diags.errorCount();
  llvm::DenseMap<uint64_t, ConstantRef> values;
  for (const PackagedConstant &constant : kernel.constants)
    if (ConstantRef value = currentValue(constant, diags))
      values[constant.offset] = value;
  if (diags.errorCount() != errors)
    return nullptr;
  auto copy = std::make_unique<Module>();
  copy->version = module->version;
  const Function &original = *module->functions.front();
  Function *function = copy->addFunction(original.kind, original.name);
  function->opset = original.opset;
  ValueMap map;
  cloneBody(original, *function, map);
  for (Op &op : function->body())
    for (const ParamDef &param : op.def().parameters()) {
      const Constant *old =
          param.isConstant() ? op.constant(param.asConstant()) : nullptr;
      if (!old || !old->origin())
        continue;
      auto value = values.find(old->origin()->offset);
      if (value != values.end() && value->second->type() == old->type())
        op.setConstant(param.asConstant(), value->second);
    }
  return copy;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

std::unique_ptr<Executable> KernelProgram::load(const Function &function,
                                                Diagnostics &diags) const {
  LoadOptions load = context.options.load;
  load.workspace = context.workspace;
  load.bindings = bindings;
  load.milVersion = module->version;
  return context.backend.load(function, load, diags);
}

bool KernelProgram::load(Diagnostics &diags) {
  std::unique_ptr<Module> own;
  if (isBaked()) {
    own = withWeights(diags);
    if (!own)
      return false;
  }
  const Module &used = own ? *own : *module;
  current = load(*used.functions.front(), diags);
  return current != nullptr;
}

void KernelProgram::waitForNext() {
  if (pending)
    pending->wait(ticket);
  pending = nullptr;
}

bool KernelProgram::captureWeights(Diagnostics &diags) {
  waitForNext();
  captured = withWeights(diags);
  return captured != nullptr;
}

void KernelProgram::loadNext(TaskQueue &tasks) {
  // Whoever needs it will try again, and report what is wrong.
  loading = [this] {
    Diagnostics ignored;
    next = load(*captured->functions.front(), ignored);
  };
  pending = &tasks;
  ticket = tasks.submit(loading);
}

Executable *KernelProgram::executable(Diagnostics &diags) {
  if (!pending)
    return current.get();
  waitForNext();
  if (!next)
    next = load(*captured->functions.front(), diags);
  // Null, too, so that the next run fails as well, instead of using old
  // weights.
  current = std::move(next);
  captured = nullptr;
  return current.get();
}
