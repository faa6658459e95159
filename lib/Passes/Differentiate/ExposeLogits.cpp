//===- ExposeLogits.cpp - return the logits of a model with its loss ------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A model returns its loss. Generation needs the logits that the loss is
/// computed from: they become a result with the role `logits`, and the model
/// becomes an inference model.
///
//===----------------------------------------------------------------------===//

#include "StopGradients.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/Names.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Rows/Shape.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

static const Value *untransposed(const Value *value) {
  while (value->definingOp() && value->definingOp()->is(ops::Transpose))
    value = value->definingOp()->operand(0u);
  return value;
}

/// The only logits that `host` computes losses from, or the first of several
/// that are transposed; null when there are none or others.
static Value *findLogits(Function &host) {
  Value *logits = nullptr;
  for (const Op &op : host.body()) {
    int slot = op.def().valueSlot(ValueRole::Logits);
    if (slot < 0)
      continue;
    Value *taken = op.operand(unsigned(slot));
    if (!logits)
      logits = taken;
    else if (untransposed(logits) != untransposed(taken))
      return nullptr;
  }
  return logits;
}

static void addResult(Function &host, Value *value, llvm::StringRef name,
                      ValueRole role) {
  llvm::SmallVector<Value *, 2> values = host.resultValues();
  llvm::SmallVector<ValueRole, 2> roles(host.resultRoles());
  std::vector<std::string> names = host.resultNames().vec();
  NameSet taken;
  for (llvm::StringRef other : names)
    taken.unique(other);
  values.push_back(value);
  roles.push_back(role);
  names.push_back(taken.unique(name).str());
  llvm::SmallVector<llvm::StringRef, 2> views(names.begin(), names.end());
  host.setResults(values, views, roles);
}

static bool exposeLogits(Module &module, PassContext &ctx) {
  unsigned exposed = 0, models = 0;
  for (const auto &host : module.functions) {
    if (!host->isEntry() || host->role != FunctionRole::Forward ||
        !host->resultOf(ValueRole::Loss))
      continue;
    host->role = FunctionRole::Infer;
    ++models;
    Value *logits = findLogits(*host);
    if (!logits || host->resultOf(ValueRole::Logits))
      continue;
    addResult(*host, logits, "logits", ValueRole::Logits);
    ++exposed;
  }
  if (models)
    removeStopGradients(module);
  removeDropouts(module);
  ctx.count("models", models);
  ctx.count("exposed", exposed);
  return models != 0;
}

constinit const PassDef passes::ExposeLogits = {
    .name = "expose-logits",
    .summary = "Prepare models for inference: return the logits that the loss "
               "is computed from",
    .description = "host @m(%tokens, %targets) -> (%loss {role = loss})\n"
                   "  ==>  host @m(%tokens, %targets) -> (%loss {role = loss}, "
                   "%logits {role = logits}) {role = infer}",
    .stats = {{{"models", "models prepared for inference"},
               {"exposed", "models with an added result"}}},
    .tolerance = 0,
    .runOnModule = exposeLogits,
};
