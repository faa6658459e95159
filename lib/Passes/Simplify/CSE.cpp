//===- CSE.cpp - common subexpression elimination -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Passes/Pass.h"
#include "lib/IR/OpDef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

namespace {

/// Compares ops by their computation. Equal operands and constants imply equal
/// result types, so these are not compared.
struct SameComputation {
  static Op *getEmptyKey() { return llvm::DenseMapInfo<Op *>::getEmptyKey(); }
  static Op *getTombstoneKey() {
    return llvm::DenseMapInfo<Op *>::getTombstoneKey();
  }
  static unsigned getHashValue(const Op *op) {
    llvm::hash_code code = llvm::hash_value(&op->def());
    for (const Value *operand : op->operandValues())
      code = llvm::hash_combine(code, operand);
    for (const ConstantRef &constant : op->constants())
      code = llvm::hash_combine(code, constant ? constant->hash() : 0);
    return unsigned(size_t(code));
  }
  static bool isEqual(const Op *lhs, const Op *rhs) {
    if (lhs == rhs)
      return true;
    if (lhs == getEmptyKey() || lhs == getTombstoneKey() ||
        rhs == getEmptyKey() || rhs == getTombstoneKey())
      return false;
    return lhs->is(rhs->def()) &&
           lhs->operandValues() == rhs->operandValues() &&
           equalConstants(lhs->constants(), rhs->constants());
  }
};

} // namespace

static bool eliminateCommonOps(Function &function, PassContext &ctx) {
  llvm::DenseSet<Op *, SameComputation> seen;
  bool changed = false;
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (op.def().has(trait::SideEffect))
      continue;
    auto [it, inserted] = seen.insert(&op);
    if (inserted)
      continue;
    for (unsigned index = 0; index < op.numResults(); ++index)
      op.result(index)->replaceAllUsesWith((*it)->result(index));
    op.erase();
    ctx.count("merged");
    changed = true;
  }
  return changed;
}

constinit const PassDef passes::CSE = {
    .name = "cse",
    .summary = "Merge ops that compute the same value",
    .description = "%a = exp(%x); %b = exp(%x)  ==>  %a = exp(%x), used for "
                   "%b too",
    .stats = {{{"merged", "ops replaced by an earlier equal op"}}},
    .tolerance = 0,
    .run = eliminateCommonOps,
};
