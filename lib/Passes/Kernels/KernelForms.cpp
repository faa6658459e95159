//===- KernelForms.cpp - which kernels are the same -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelForms.h"
#include "lib/Ops/Rows/Constants.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

KernelForm KernelForm::of(Function &function) {
  KernelForm form{function.kind, function.role, function.name,
                  function.of().str(), &function};
  for (const auto &param : function.parameters()) {
    form.inputs.push_back(param.get());
    form.inputNames.push_back(param->name);
    form.inputRoles.push_back(param->role());
  }
  for (const Value *result : function.resultValues())
    form.outputs.push_back(result);
  form.outputRoles = function.resultRoles().vec();
  for (Op &op : function.body())
    form.ops.push_back(&op);
  return form;
}

KernelForm KernelForm::of(const Group &group) {
  KernelForm form{group.kind, group.role, group.name, group.owner};
  for (const Value *input : group.inputs.values()) {
    form.inputs.push_back(input);
    form.inputNames.push_back(group.names.find(input)->second);
    form.inputRoles.push_back(group.inputRoles.lookup(input));
  }
  for (const Value *output : group.outputs.values()) {
    form.outputs.push_back(output);
    form.outputRoles.push_back(group.outputRoles.lookup(output));
  }
  form.ops = group.kernelOps;
  return form;
}

bool KernelForm::isSame(const KernelForm &other) const {
  if (kind != other.kind || role != other.role ||
      inputRoles != other.inputRoles || outputRoles != other.outputRoles ||
      ops.size() != other.ops.size())
    return false;
  llvm::DenseMap<const Value *, const Value *> map;
  for (auto [left, right] : llvm::zip_equal(inputs, other.inputs))
    if (map[left] = right; left->type != right->type)
      return false;
  for (auto [left, right] : llvm::zip_equal(ops, other.ops)) {
    if (!left->is(right->def()) ||
        left->numOperands() != right->numOperands() ||
        left->numResults() != right->numResults() ||
        !equalConstants(left->constants(), right->constants()))
      return false;
    // A weight of a kernel belongs to the instance that its calls name.
    for (unsigned slot = 0;
         slot < left->numOperands() && !left->is(ops::Weight); ++slot)
      if (map.lookup(left->operand(slot)) != right->operand(slot))
        return false;
    for (unsigned index = 0; index < left->numResults(); ++index)
      map[left->result(index)] = right->result(index);
  }
  for (auto [left, right] : llvm::zip_equal(outputs, other.outputs))
    if (map.lookup(left) != right)
      return false;
  return true;
}

/// Of the first element: `isSame` decides.
static llvm::hash_code shortHash(const Constant &constant) {
  if (constant.dtype() == DType::String)
    return constant.type().isScalar() ? llvm::hash_value(constant.asString())
                                      : llvm::hash_code(0);
  return std::hash<double>()(constant.numElements() ? constant.doubleAt(0) : 0);
}

uint64_t KernelForm::hash() const {
  llvm::hash_code hash = llvm::hash_combine(unsigned(kind), unsigned(role),
                                            inputs.size(), outputs.size());
  for (const Value *input : inputs)
    hash =
        llvm::hash_combine(hash, unsigned(input->type.dtype),
                           llvm::hash_combine_range(input->type.shape.begin(),
                                                    input->type.shape.end()));
  for (const Op *op : ops) {
    hash = llvm::hash_combine(hash, &op->def(), op->numOperands());
    for (const ConstantRef &constant : op->constants())
      if (constant)
        hash = llvm::hash_combine(hash, shortHash(*constant));
  }
  return hash >> 1; // not one of the keys that DenseMap reserves
}

KernelForms::KernelForms(Module &module) {
  for (const auto &function : module.functions) {
    names.insert(function->name);
    if (function->kind == FunctionKind::Host)
      continue;
    KernelForm form = KernelForm::of(*function);
    append(form.hash(), std::move(form));
  }
}

unsigned KernelForms::append(uint64_t hash, KernelForm form) {
  hashed[hash].push_back(forms.size());
  forms.push_back(std::move(form));
  return forms.size() - 1;
}

unsigned KernelForms::add(KernelForm form) {
  uint64_t hash = form.hash();
  for (unsigned other : hashed.lookup(hash))
    if (forms[other].isSame(form))
      return other;
  std::string name = form.name;
  for (unsigned suffix = 1; !names.insert(form.name).second; ++suffix)
    form.name = name + "_" + std::to_string(suffix);
  return append(hash, std::move(form));
}
