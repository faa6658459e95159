//===- Verifier.cpp - well-formedness -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/Verifier.h"
#include "anec/IR/Builder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

static bool verifyOp(const Op &op, const llvm::DenseSet<const Value *> &defined,
                     Diagnostics &diags) {
  llvm::SmallVector<Value *, 4> operands = op.operandValues();
  bool ok = true;
  for (Value *value : operands)
    if (value && !defined.contains(value)) {
      diags.report(op.range(), diag::UseBeforeDefinition, value->name,
                   op.def().name);
      ok = false;
    }
  llvm::SmallVector<ConstantRef, 4> slots(op.constants());
  InferContext ctx(op.def(), operands, op.constants(), op.range(), &diags);
  if (!checkAndInfer(ctx, slots))
    return false;
  if (ctx.results.size() != op.numResults()) {
    diags.report(op.range(), diag::ResultCount, op.def().name,
                 ctx.results.size(), op.numResults());
    return false;
  }
  for (unsigned index = 0; index < op.numResults(); ++index) {
    const Value &result = *op.result(index);
    if (result.type == ctx.results[index])
      continue;
    diags.report(op.range(), diag::ResultType, result.name, result.type.str(),
                 op.def().name, ctx.results[index].str());
    ok = false;
  }
  return ok;
}

bool anec::verify(const Function &function, Diagnostics &diags) {
  llvm::DenseSet<const Value *> defined;
  llvm::StringSet<> names;
  bool ok = true;
  for (const auto &param : function.parameters()) {
    defined.insert(param.get());
    if (!names.insert(param->name).second) {
      diags.report(param->range(), diag::DuplicateName, param->name,
                   function.name);
      ok = false;
    }
  }
  for (const Op &op : function.body()) {
    ok &= verifyOp(op, defined, diags);
    for (const Value *result : op.resultValues())
      defined.insert(result);
  }
  names.clear();
  for (unsigned index = 0; index < function.numResults(); ++index) {
    const Value *value = function.result(index);
    llvm::StringRef name = function.resultNames()[index];
    if (!value || !defined.contains(value)) {
      diags.report(function.range, diag::UndefinedResult, name, function.name);
      ok = false;
    }
    if (!names.insert(name).second) {
      diags.report(function.range, diag::DuplicateName, name, function.name);
      ok = false;
    }
  }
  return ok;
}

bool anec::verify(const Module &module, Diagnostics &diags) {
  llvm::StringSet<> names;
  bool ok = true;
  for (const auto &function : module.functions) {
    if (!names.insert(function->name).second) {
      diags.report(function->range, diag::DuplicateFunction, function->name);
      ok = false;
    }
    ok &= verify(*function, diags);
  }
  return ok;
}
