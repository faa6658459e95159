//===- FuseWoTranspose.cpp - the projection before attention's backward ---===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The backward of attention starts with the product of the transposed output
/// projection and the gradient. As a separate kernel, it costs a dispatch, and
/// its result is moved off the engine and back. Fused into the kernel of the
/// core, it makes that kernel depend on weights.
///
//===----------------------------------------------------------------------===//

#include "OpenedModule.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Rows/Heads.h"
#include "lib/Ops/Rows/Matmul.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// Whether `all` are one product, and otherwise only move elements.
template <typename Ops>
static bool isOneProduct(const Ops &all) {
  unsigned products = 0;
  for (const Op *op : all) {
    if (op->is(ops::Matmul))
      ++products;
    else if (!op->def().has(trait::DataMovement) && !op->is(ops::SplitHeads) &&
             !op->is(ops::MergeHeads) && !isRematerialized(*op))
      return false;
  }
  return products == 1;
}

static bool isProjection(const OpenedBody &body, int group) {
  return isOneProduct(body.ops(group)) && body.hasWeights(group);
}

/// Whether a kernel can be a projection. Most models have none, and opening
/// them takes much longer than looking.
static bool mayHaveProjection(const Module &module) {
  return llvm::any_of(module.functions, [](const auto &function) {
    return function->kind != FunctionKind::Host &&
           isOneProduct(llvm::make_pointer_range(function->body()));
  });
}

/// Whether a group has products of activations.
static bool isCore(const OpenedBody &body, int group) {
  return llvm::any_of(body.ops(group), [&](const Op *op) {
    return op->is(ops::Matmul) &&
           llvm::none_of(op->operandValues(), [](const Value *operand) {
             return operand->definingOp() &&
                    isRematerialized(*operand->definingOp());
           });
  });
}

/// The only group that uses results of `group`, or onHost.
static int onlyUser(const OpenedBody &body, int group) {
  int user = OpenedBody::onHost;
  for (const Op *op : body.ops(group))
    for (const Value *value : op->resultValues())
      for (Operand *use = value->firstUse(); use; use = use->nextUse()) {
        int other =
            use->owner() ? body.groupOf(use->owner()) : OpenedBody::onHost;
        if (other == group)
          continue;
        if (other == OpenedBody::onHost ||
            (user != OpenedBody::onHost && user != other))
          return OpenedBody::onHost;
        user = other;
      }
  return user;
}

static bool fuseWoTranspose(OpenedModule &opened, PassContext &ctx) {
  if (const Module *module = opened.unopened();
      module && !mayHaveProjection(*module))
    return false;
  bool changed = false;
  for (OpenedBody &body : opened.bodies())
    for (unsigned group = 0; group < body.numGroups(); ++group) {
      if (body.ops(group).empty() || !isProjection(body, group))
        continue;
      int core = onlyUser(body, group);
      if (core == OpenedBody::onHost || !isCore(body, core) ||
          !body.canMerge(core, group))
        continue;
      body.merge(core, group);
      ctx.count("fused");
      changed = true;
    }
  return changed;
}

constinit const PassDef passes::FuseWoTranspose = {
    .name = "fuse-wo-transpose",
    .summary = "Move the output projection's transposed product into the "
               "kernel of attention's backward",
    .description =
        "%d = call @attention.backward.wo(%dy); call @attention.backward(%d, "
        "...)\n  ==>  call @attention.backward(%dy, ...)",
    .stats = {{{"fused", "projections moved"}}},
    .tolerance = 0,
    .needs = Need::Bodies,
    .runOnOpened = fuseWoTranspose,
};
