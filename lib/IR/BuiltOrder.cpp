//===- BuiltOrder.cpp - ops in an order of their own ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/BuiltOrder.h"
#include "llvm/ADT/DenseSet.h"

using namespace anec;

namespace {
/// Ops after the ops of their operands. Rules are small, so recursion is, too.
class Postorder {
public:
  explicit Postorder(llvm::ArrayRef<Op *> built)
      : waiting(built.begin(), built.end()) {}

  void visit(Op *op) {
    if (!waiting.erase(op))
      return;
    for (unsigned slot = op->numOperands(); slot != 0; --slot)
      if (const Value *operand = op->operand(slot - 1);
          operand && operand->definingOp())
        visit(operand->definingOp());
    order.push_back(op);
  }

  llvm::SmallVector<Op *, 16> order;

private:
  llvm::SmallDenseSet<Op *, 16> waiting;
};
} // namespace

void anec::orderBuilt(llvm::ArrayRef<Op *> built, const Value *result) {
  if (built.size() < 2)
    return;
  Postorder postorder(built);
  if (result->definingOp())
    postorder.visit(result->definingOp());
  for (Op *op : built)
    postorder.visit(op);
  llvm::ilist<Op> &body = built.back()->parent()->body();
  auto end = std::next(built.back()->getIterator());
  for (Op *op : postorder.order) {
    body.splice(end, body, op->getIterator());
    for (unsigned slot = 0; slot != op->numOperands(); ++slot) {
      Value *operand = op->operand(slot);
      op->setOperand(slot, nullptr);
      op->setOperand(slot, operand);
    }
  }
}
