//===- Clone.cpp - copies of ops and functions ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/Clone.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

static Value *mapped(const ValueMap &map, const Value *value) {
  if (!value)
    return nullptr;
  auto it = map.find(value);
  assert(it != map.end() && "an operand that nothing stands for");
  return it->second;
}

Op *anec::copyOp(const Op &op, llvm::ArrayRef<Value *> operands) {
  llvm::SmallVector<TensorType, 2> types;
  llvm::SmallVector<llvm::StringRef, 2> names;
  for (const Value *result : op.resultValues()) {
    types.push_back(result->type);
    names.push_back(result->name);
  }
  return Op::create(op.def(), operands, op.constants(), types, names,
                    op.range());
}

Op *anec::cloneOp(const Op &op, Function &to, ValueMap &map, Op *before) {
  llvm::SmallVector<Value *, 4> operands;
  for (const Value *operand : op.operandValues())
    operands.push_back(mapped(map, operand));
  Op *copy = copyOp(op, operands);
  to.insert(copy, before);
  for (auto [old, now] :
       llvm::zip_equal(op.resultValues(), copy->resultValues()))
    map[old] = now;
  return copy;
}

void anec::cloneBody(const Function &from, Function &to, ValueMap &map,
                     bool withResults) {
  for (const auto &parameter : from.parameters()) {
    Value *copy =
        to.addParameter(parameter->type, parameter->name, parameter->role());
    copy->declared = parameter->declared;
    copy->mask = parameter->mask;
    copy->holder = parameter->holder;
    if (parameter->layout)
      copy->layout = std::make_unique<BufferLayout>(*parameter->layout);
    map[parameter.get()] = copy;
  }
  for (const Op &op : from.body())
    cloneOp(op, to, map);
  if (!withResults)
    return;
  llvm::SmallVector<Value *, 2> results;
  for (const Value *result : from.resultValues())
    results.push_back(mapped(map, result));
  llvm::SmallVector<llvm::StringRef, 2> names(from.resultNames().begin(),
                                              from.resultNames().end());
  to.setResults(results, names, from.resultRoles());
}
