//===- Place.cpp - assign ops to the engine or the host -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// After this pass, a layer has only ops that the target supports. Its callers
/// have the others:
///
///   - whatever is not fp16: gradients of weights are fp32, tokens are integers
///   - the backward's copy of forward ops: `expose-taps` decides about these
///   - a norm of a layer's input, which alone is not worth a dispatch:
///     `fuse-rmsnorm` moves it on
///   - what the host functions compute themselves: embedding, loss
///
/// A layer that needs values from the host in between becomes two.
///
//===----------------------------------------------------------------------===//

#include "GradientFlow.h"
#include "OpenedModule.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Rows/RmsNorm.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// Why the engine cannot, or should not, run `op`; null when it can.
static const char *reasonForHost(const Op &op, const OpenedBody &body,
                                 const GradientFlow &flow,
                                 bool groupHasBackward) {
  if (!hasEngineTypes(op))
    return "the engine computes in fp16";
  if (groupHasBackward && !flow.depends(op))
    return "it repeats the forward";
  if (op.is(ops::RmsNorm) && !groupHasBackward &&
      body.groupOf(op.operand(0u)) != body.groupOf(&op))
    return "a norm alone is not worth a dispatch";
  return nullptr;
}

static bool hasBackward(const OpenedBody &body, int group,
                        const GradientFlow &flow) {
  return llvm::any_of(body.ops(group),
                      [&](const Op *op) { return flow.depends(*op); });
}

/// Splits a group where a value comes back from the host: stage n + 1 needs
/// values that the host computes from results of stage n. Returns whether there
/// are several stages.
static bool splitIntoStages(OpenedBody &body, int group) {
  std::vector<Op *> ops = body.ops(group);
  if (ops.empty())
    return false;
  // What comes back has left before: only ops between the group's matter.
  llvm::DenseMap<const Op *, unsigned> stages;
  unsigned last = 0;
  for (const Op &op : llvm::make_range(ops.front()->getIterator(),
                                       std::next(ops.back()->getIterator()))) {
    unsigned stage = 0;
    bool inGroup = body.groupOf(&op) == group;
    for (const Value *operand : op.operandValues()) {
      const Op *def = operand ? operand->definingOp() : nullptr;
      auto it = def ? stages.find(def) : stages.end();
      if (it == stages.end())
        continue;
      bool back = inGroup && body.groupOf(def) != group;
      stage = std::max(stage, it->second + back);
    }
    if (inGroup || stage > 0 ||
        llvm::any_of(op.operandValues(), [&](const Value *operand) {
          return operand && operand->definingOp() &&
                 stages.contains(operand->definingOp());
        }))
      stages[&op] = stage;
    if (inGroup)
      last = std::max(last, stage);
  }
  std::string name = body.group(group).name;
  std::vector<int> parts = {group};
  for (unsigned stage = 1; stage <= last; ++stage)
    parts.push_back(
        body.addPart(group, name + ".part" + std::to_string(stage)));
  for (Op *op : ops)
    body.assign(op, parts[stages.lookup(op)]);
  return last > 0;
}

static bool place(OpenedModule &opened, PassContext &ctx) {
  GradientFlow flow(opened.module());
  bool changed = false;
  for (OpenedBody &body : opened.bodies()) {
    int groups = body.numGroups();
    for (int group = 0; group < groups; ++group) {
      bool backward = hasBackward(body, group, flow);
      for (Op *op : body.ops(group)) {
        const char *reason = reasonForHost(*op, body, flow, backward);
        if (!reason) {
          ctx.count("engine");
          continue;
        }
        body.assign(op, OpenedBody::onHost);
        ctx.count("host");
        ctx.remark(op->range(), diag::PlacedOnHost, op->def().name, reason);
        changed = true;
      }
      changed |= splitIntoStages(body, group);
    }
  }
  return changed;
}

constinit const PassDef passes::Place = {
    .name = "place",
    .summary = "Move ops that the engine does not run out of layers",
    .description =
        "layer @l(%x) { %h = rmsnorm(%x, %w); return matmul(%m, %h) }\n"
        "  ==>  host: %h = rmsnorm(%x, %w); call @l(%h)\n"
        "       layer @l(%h) { return matmul(%m, %h) }",
    .stats = {{{"host", "ops of layers placed on the host"},
               {"engine", "ops of layers placed on the engine"}}},
    .tolerance = 0,
    .needs = Need::Bodies,
    .runOnOpened = place,
};
