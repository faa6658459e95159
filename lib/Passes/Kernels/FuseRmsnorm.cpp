//===- FuseRmsnorm.cpp - move norms into kernels --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A norm on the host costs two passes over the activations, and a norm in its
/// own kernel costs a dispatch. In the kernel that uses it, it is nearly free:
/// its input has the same size as the input that it replaces.
///
//===----------------------------------------------------------------------===//

#include "OpenedModule.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Rows/RmsNorm.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace anec;

/// The groups that use `value`, lowest first.
static llvm::SetVector<int> userGroups(const OpenedBody &body,
                                       const Value *value) {
  llvm::SetVector<int> groups;
  for (Operand *use = value->firstUse(); use; use = use->nextUse())
    if (use->owner() && body.groupOf(use->owner()) != OpenedBody::onHost)
      groups.insert(body.groupOf(use->owner()));
  return groups;
}

static bool fuseRmsnorm(OpenedModule &opened, PassContext &ctx) {
  bool changed = false;
  for (OpenedBody &body : opened.bodies())
    for (Op &op : llvm::make_early_inc_range(body.host().body())) {
      if (!op.is(ops::RmsNorm) || body.groupOf(&op) != OpenedBody::onHost ||
          op.result()->type.dtype != DType::FP16)
        continue;
      for (int group : userGroups(body, op.result())) {
        if (!body.isConvex(group, &op))
          continue;
        body.computeIn(op, group);
        ctx.count("fused");
        changed = true;
      }
      if (!op.result()->hasUses()) {
        body.erase(op);
        changed = true;
      }
    }
  return changed;
}

constinit const PassDef passes::FuseRmsnorm = {
    .name = "fuse-rmsnorm",
    .summary = "Move an rmsnorm from the host into the kernels that use it",
    .description = "host: %h = rmsnorm(%x, %w); call @k(%h)\n"
                   "  ==>  call @k(%x), with the rmsnorm in @k",
    .stats = {{{"fused", "norms moved into a kernel"}}},
    .tolerance = 0,
    .needs = Need::Bodies,
    .runOnOpened = fuseRmsnorm,
};
