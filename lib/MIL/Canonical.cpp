//===- Canonical.cpp - canonical form of programs -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/MIL/Canonical.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace llvm;

namespace {
/// The constants seen so far, for finding equal ones. Hash collisions are
/// compared.
class KnownConstants {
public:
  /// The first const op whose value equals that of `op`: `op` itself if there
  /// is none.
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
  /// Keyed by half the hash, since two key values are reserved by the map.
  DenseMap<size_t, SmallVector<Op *, 1>> byHash;
};
} // namespace

/// Reorders `function`: each constant is moved before the first op that uses
/// it, and the order of all other ops is kept.
static void placeConstants(Function &function) {
  std::vector<Op *> others, constants;
  for (Op &op : function.body())
    (op.is(ops::Const) ? constants : others).push_back(&op);

  KnownConstants known;
  DenseSet<const Op *> placed;
  auto place = [&](Value *value, Op *before) -> Value * {
    if (!value || !value->definingOp() || !value->definingOp()->is(ops::Const))
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

/// Results get the names of the interface when they are printed; here they are
/// numbered like other values.
static void nameByPosition(Function &function) {
  unsigned values = 0, constants = 0;
  for (Op &op : function.body())
    for (Value *result : op.resultValues())
      result->name = op.is(ops::Const) ? "c" + std::to_string(constants++)
                                       : "v" + std::to_string(values++);
}

void anec::roundDerivedConstants(Function &function) {
  for (Op &op : function.body())
    if (op.is(ops::Const))
      op.setConstant(param::val, roundedConstant(*op.constant(param::val)));
}

void anec::makeCanonical(Module &module) {
  module.buildInfo.clear();
  for (const auto &function : module.functions) {
    roundDerivedConstants(*function);
    placeConstants(*function);
    nameByPosition(*function);
  }
}
