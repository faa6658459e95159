//===- KernelProgram.cpp - a kernel with its current weights --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelProgram.h"
#include "lib/IR/Clone.h"
#include "lib/IR/OpDef.h"
#include "lib/Package/ScheduleWalk.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/Half.h"

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

/// The name of the array that `view` is of.
static std::string arrayOf(const PackagedInstance &instance,
                           const WeightView &view) {
  return instanceName(view.weight, view.instance.resolve(instance.index));
}

bool KernelProgram::isBaked() const {
  return llvm::any_of(kernel.constants, [&](const PackagedConstant &constant) {
    return !constant.quantized &&
           context.arrays.has(arrayOf(instance, constant.view));
  });
}

/// A copy of the part of the master weight that `view` reads, rounded to its
/// element type; null when there is no master.
ConstantRef KernelProgram::currentValue(const WeightView &view) const {
  const float *master =
      context.arrays.reading(arrayOf(instance, view), /*rounded=*/false);
  if (!master)
    return nullptr;
  size_t total = size_t(view.storedType().numElements());
  // Round now: the master may change while the program is loaded.
  std::vector<float> elements = view.materialize(llvm::ArrayRef(master, total));
  TensorType type = view.type();
  if (type.dtype != DType::FP16)
    return Constant::copy(type,
                          {reinterpret_cast<const uint8_t *>(elements.data()),
                           elements.size() * sizeof(float)});
  size_t count = elements.size();
  auto halves = std::make_shared_for_overwrite<uint16_t[]>(count);
  floatsToHalves(elements.data(), halves.get(), count);
  return Constant::view(
      type, type.dtype,
      {reinterpret_cast<const uint8_t *>(halves.get()), count * 2}, halves);
}

/// The kernel with the master weights in place of its packaged constants.
std::unique_ptr<Module> KernelProgram::withWeights() const {
  llvm::DenseMap<uint64_t, ConstantRef> values;
  for (const PackagedConstant &constant : kernel.constants) {
    if (constant.quantized)
      continue;
    if (ConstantRef value = currentValue(constant.view))
      values[constant.offset] = value;
  }
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
      // A record has no shape: each reader has its own.
      auto value = values.find(old->origin()->offset);
      if (value != values.end())
        op.setConstant(param.asConstant(),
                       value->second->reshaped(old->type().shape));
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
  if (isBaked())
    own = withWeights();
  const Module &used = own ? *own : *module;
  current = load(*used.functions.front(), diags);
  return current != nullptr;
}

void KernelProgram::waitForNext() {
  if (pending)
    pending->wait(ticket);
  pending = nullptr;
}

void KernelProgram::captureWeights() {
  waitForNext();
  captured = withWeights();
}

void KernelProgram::loadNext(TaskQueue &tasks) {
  // The next user retries, and reports the error.
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
  // Also set to null, so that the next run fails too instead of using old
  // weights.
  current = std::move(next);
  captured = nullptr;
  return current.get();
}
