//===- Control.cpp - branches ---------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"

using namespace anec;
using namespace anec::onnx;

/// One branch if the condition is known, or selects from both.
static void branches(Node &node) {
  Emitter &e = node.e;
  Val condition = node.raw(0);
  if (node.failed())
    return;
  ConstantRef known = condition.known();
  if (!node.hasAttr("then_branch") || !node.hasAttr("else_branch"))
    return node.fail("`If` needs two branches");
  Vals yes, no;
  if (known && known->numElements() == 1) {
    if (node.branch(known->doubleAt(0) != 0 ? "then_branch" : "else_branch",
                    yes))
      for (size_t i = 0; i != std::min(yes.size(), node.numOutputs()); ++i)
        node.out(i, yes[i]);
    return;
  }
  if (!node.branch("then_branch", yes) || !node.branch("else_branch", no))
    return;
  Val scalar = e.reshape(condition, {});
  for (size_t i = 0; i != node.numOutputs(); ++i) {
    Val left = i < yes.size() ? e.native(yes[i]) : Val();
    Val right = i < no.size() ? e.native(no[i]) : Val();
    if (!left || !right)
      return node.fail("a branch has too few outputs");
    // Of different types, the condition must be known.
    if (left.shape() != right.shape() || left.dtype() != right.dtype()) {
      node.known(0);
      return;
    }
    node.out(i, e.select(scalar, left, right));
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow rows[] = {
    {"If", branches, 1,
     "both branches are computed if the condition is not known"},
};

llvm::ArrayRef<OpRow> onnx::controlRows() { return rows; }
