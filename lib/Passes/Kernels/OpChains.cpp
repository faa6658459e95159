//===- OpChains.cpp - paths through a function ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OpChains.h"
#include <algorithm>

using namespace anec;

static void forEachUser(const Op &op,
                        llvm::function_ref<void(const Op *)> visit) {
  for (const Value *result : op.resultValues())
    for (const Operand *use = result->firstUse(); use; use = use->nextUse())
      if (use->owner())
        visit(use->owner());
}

OpChains::OpChains(const Function &function) {
  std::vector<const Op *> ops;
  for (const Op &op : function.body())
    ops.push_back(&op);
  // The number of ops on the longest path that an op begins. Chains follow
  // these, so that the first one goes through all layers.
  llvm::DenseMap<const Op *, unsigned> length;
  for (const Op *op : llvm::reverse(ops)) {
    unsigned longest = 0;
    forEachUser(*op, [&](const Op *user) {
      longest = std::max(longest, length.lookup(user));
    });
    length[op] = longest + 1;
  }
  unsigned chain = 0;
  for (const Op *first : ops) {
    if (places.contains(first))
      continue;
    unsigned index = 0;
    for (const Op *op = first; op;) {
      places[op] = {chain, index++};
      const Op *next = nullptr;
      forEachUser(*op, [&](const Op *user) {
        if (!places.contains(user) &&
            (!next || length.lookup(user) > length.lookup(next)))
          next = user;
      });
      op = next;
    }
    ++chain;
  }
}

bool OpChains::returns(llvm::ArrayRef<Op *> ops,
                       llvm::function_ref<bool(const Op *)> isInside) const {
  // By chain, where the ops lead to it first.
  llvm::DenseMap<unsigned, unsigned> entered;
  for (const Op *op : ops)
    forEachUser(*op, [&](const Op *user) {
      if (isInside(user))
        return;
      Place place = places.lookup(user);
      auto it = entered.try_emplace(place.chain, place.index).first;
      it->second = std::min(it->second, place.index);
    });
  for (const Op *op : ops)
    for (const Value *operand : op->operandValues()) {
      const Op *def = operand ? operand->definingOp() : nullptr;
      if (!def || isInside(def))
        continue;
      Place place = places.lookup(def);
      auto it = entered.find(place.chain);
      if (it != entered.end() && it->second <= place.index)
        return true;
    }
  return false;
}
