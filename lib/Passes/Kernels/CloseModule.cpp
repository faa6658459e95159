//===- CloseModule.cpp - kernels of open groups ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Closes the groups of an opened module: settles them, and replaces each by a
/// kernel and a call.
///
//===----------------------------------------------------------------------===//

#include "KernelForms.h"
#include "lib/IR/Clone.h"
#include "lib/IR/Names.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// The kernel that `group` becomes.
static std::unique_ptr<Function> makeKernel(const Group &group,
                                            const KernelForm &form) {
  auto kernel = std::make_unique<Function>(group.kind, form.name, group.range);
  kernel->setRole(group.role, group.owner);
  NameSet names;
  ValueMap map;
  for (Value *input : group.inputs.values())
    map[input] = kernel->addParameter(
        input->type, names.unique(group.names.find(input)->second),
        group.inputRoles.lookup(input));
  for (Op *op : group.kernelOps) {
    if (!op->is(ops::Weight)) {
      cloneOp(*op, *kernel, map);
      continue;
    }
    // In a kernel, a weight belongs to the instance that the call names.
    Op *copy = copyOp(*op, {nullptr});
    map[op->result()] = copy->result();
    kernel->insert(copy);
  }
  llvm::SmallVector<Value *, 4> results;
  llvm::SmallVector<ValueRole, 4> roles;
  std::vector<std::string> spelled;
  for (Value *output : group.outputs.values()) {
    results.push_back(map.lookup(output));
    roles.push_back(group.outputRoles.lookup(output));
    spelled.push_back(names.unique(sanitizeName(output->name, "output")).str());
  }
  llvm::SmallVector<llvm::StringRef, 4> resultNames(spelled.begin(),
                                                    spelled.end());
  kernel->setResults(results, resultNames, roles);
  return kernel;
}

static Op *makeCall(const Function &kernel, const Group &group) {
  llvm::SmallVector<Value *, 8> operands = {
      group.weightsAreInputs ? nullptr : group.instance};
  llvm::append_range(operands, group.inputs.values());
  llvm::SmallVector<TensorType, 4> types;
  llvm::SmallVector<llvm::StringRef, 4> names;
  std::vector<std::string> spelled;
  for (const Value *output : group.outputs.values()) {
    types.push_back(output->type);
    names.push_back(output->name);
    spelled.push_back(types.back().str());
  }
  TensorType list(DType::String, {int64_t(types.size())});
  llvm::SmallVector<ConstantRef, 2> constants(ops::Call.numConstantParams());
  Op *call =
      Op::create(ops::Call, operands, constants, types, names, group.range);
  call->setConstant(param::callee, Constant::string(kernel.name));
  call->setConstant(param::results,
                    Constant::strings(list, std::move(spelled)));
  return call;
}

void OpenedModule::close(OpenedBody &body, KernelForms &forms) {
  Function &host = body.host();
  // Results of ops of closed groups, and those of their calls.
  llvm::DenseMap<const Value *, Value *> replaced;
  for (unsigned number = 0; number < body.numGroups(); ++number) {
    Group &group = body.group(int(number));
    KernelForm &form = forms[group.form];
    if (!form.function) {
      all.functions.push_back(makeKernel(group, form));
      form.function = all.functions.back().get();
    }
    std::vector<Op *> ops;
    llvm::copy_if(group.kernelOps, std::back_inserter(ops),
                  [](const Op *op) { return !isRematerialized(*op); });
    if (Value *result = replaced.lookup(group.instance))
      group.instance = result;
    Op *call = makeCall(*form.function, group);
    host.insert(call, ops.front());
    for (auto [output, result] : llvm::zip_equal(
             llvm::to_vector(group.outputs.values()), call->resultValues())) {
      body.replace(output, result);
      replaced[output] = result;
    }
    // Users inside the group are erased first, in reverse order; there are no
    // other users left.
    for (Op *op : llvm::reverse(ops))
      op->erase();
  }
  for (Op &op : llvm::make_early_inc_range(llvm::reverse(host.body())))
    if (isRematerialized(op) && !op.result()->hasUses())
      op.erase();
}

void OpenedModule::close() {
  if (!isOpen)
    return;
  KernelForms forms(all);
  settle(forms, /*staysOpen=*/false);
  for (OpenedBody &body : opened)
    close(body, forms);
}
