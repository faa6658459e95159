//===- ExposeLogits.cpp - what a model predicts, beside its loss ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A model gives its loss. Who generates wants what the loss is computed of: it
/// becomes a second result, so that one program serves training and use.
///
//===----------------------------------------------------------------------===//

#include "anec/IR/OpDef.h"
#include "anec/Ops/Ops.h"
#include "anec/Passes/Pass.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// The only `cross_entropy` of `host`; null when there is none or several.
static Op *findLoss(Function &host) {
  Op *loss = nullptr;
  for (Op &op : host.body()) {
    if (!op.is(ops::CrossEntropy))
      continue;
    if (loss)
      return nullptr;
    loss = &op;
  }
  return loss;
}

static bool exposeLogits(Module &module, PassContext &ctx) {
  unsigned exposed = 0;
  for (const auto &host : module.functions) {
    if (host->kind != FunctionKind::Host || host->isDeclaration() ||
        host->numResults() != 1 ||
        llvm::is_contained(host->resultNames(), "logits"))
      continue;
    Op *loss = findLoss(*host);
    if (!loss)
      continue;
    host->setResults({host->result(0), loss->operand(0u)},
                     {std::string(host->resultNames()[0]), "logits"});
    ++exposed;
  }
  ctx.count("exposed", exposed);
  return exposed != 0;
}

constinit const PassDef passes::ExposeLogits = {
    .name = "expose-logits",
    .summary = "Give what the loss of a model is computed of as a result too",
    .description = "host @m(%tokens, %targets) { ... return "
                   "cross_entropy(%logits, %targets) }\n"
                   "  ==>  ... return cross_entropy(%logits, %targets), "
                   "%logits",
    .stats = {{{"exposed", "models with a second result"}}},
    .tolerance = 0,
    .runOnModule = exposeLogits,
};
