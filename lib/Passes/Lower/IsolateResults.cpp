//===- IsolateResults.cpp - a separate value for every result -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A MIL program returns values by name, so each result has to be computed by
/// an op of the program, and a value can be returned only once.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "llvm/ADT/DenseSet.h"

using namespace anec;

static bool isolateResults(Function &function, PassContext &ctx) {
  llvm::DenseSet<Value *> returned;
  bool mayBeUsed = !ctx.isRewrittenFor(rules::OutputUsed);
  bool changed = false;
  for (unsigned index = 0; index < function.numResults(); ++index) {
    Value *value = function.result(index);
    Op *op = value->definingOp();
    bool computed = op && !op->is(ops::Const) && !op->is(ops::Weight);
    bool isAlone = mayBeUsed || !value->user();
    // A buffer is not a value that can be copied.
    if ((returned.insert(value).second && computed && isAlone) ||
        value->holder != Holder::Tensor)
      continue;
    Builder builder(function);
    builder.setRange(value->range());
    function.setResult(index, builder.build(ops::Identity, {value}, {},
                                            function.resultNames()[index]));
    ctx.count("copied");
    changed = true;
  }
  return changed;
}

constinit const PassDef passes::IsolateResults = {
    .name = "isolate-results",
    .summary =
        "Copy results that are parameters, constants, or already returned",
    .description =
        "return %x, %y, %y  ==>  %a = identity(%x); "
        "%b = identity(%y); return %a, %y, %b\n"
        "With --target, results that ops use are copied, too, if a rule of "
        "the target\n"
        "asks for it.",
    .stats = {{{"copied", "results copied"}}},
    .tolerance = 0,
    .run = isolateResults,
};
