//===- Canonical.cpp - one form for equal programs ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/MIL/Canonical.h"
#include "anec/IR/OpDef.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace llvm;

static bool isConst(const Op &op) { return op.is(ops::Const); }

namespace {
/// Constants that were met, to find equal ones. Collisions are compared.
class KnownConstants {
public:
  /// The first const op whose value equals that of `op`: `op` itself if none
  /// was met before.
  Op *first(Op &op) {
    const Constant &value = *op.constant(param::val);
    SmallVector<Op *, 1> &bucket = byHash[value.hash() >> 1];
    for (Op *known : bucket)
      if (known->constant(param::val)->equals(value))
        return known;
    bucket.push_back(&op);
    return &op;
  }

private:
  /// By half the hash: two of its values are the map's own.
  DenseMap<size_t, SmallVector<Op *, 1>> byHash;
};
} // namespace

/// Rebuilds the order of `function`: all ops but constants stay where they are,
/// and each constant stands before the first op that uses it.
static void placeConstants(Function &function) {
  std::vector<Op *> others, constants;
  for (Op &op : function.body())
    (isConst(op) ? constants : others).push_back(&op);

  KnownConstants known;
  DenseSet<const Op *> placed;
  auto place = [&](Value *value, Op *before) -> Value * {
    if (!value || !value->definingOp() || !isConst(*value->definingOp()))
      return value;
    Op *constant = known.first(*value->definingOp());
    if (placed.insert(constant).second) {
      function.body().remove(constant);
      function.insert(constant, before);
    }
    return constant->result();
  };
  for (Op *op : others)
    for (unsigned slot = 0; slot < op->numOperands(); ++slot)
      op->setOperand(slot, place(op->operand(slot), op));
  for (unsigned index = 0; index < function.numResults(); ++index)
    function.setResult(index, place(function.result(index), nullptr));
  for (Op *constant : constants)
    if (!placed.contains(constant))
      constant->erase();
}

/// Results take the names of the interface when they are printed; until then
/// they are numbered like the others.
static void nameByPosition(Function &function) {
  unsigned values = 0, constants = 0;
  for (Op &op : function.body())
    for (Value *result : op.resultValues())
      result->name = isConst(op) ? "c" + std::to_string(constants++)
                                 : "v" + std::to_string(values++);
}

void anec::makeCanonical(Module &module) {
  module.buildInfo.clear();
  for (const auto &function : module.functions) {
    placeConstants(*function);
    nameByPosition(*function);
  }
}
