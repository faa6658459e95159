//===- Result.cpp - rules about results of functions ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predicates.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Target/Chip.h"

using namespace anec;

static constexpr llvm::StringLiteral resultFamily = "results";

static void outputIsInput(const Function &function, const Target &target,
                          ReportBreach report) {
  for (unsigned i = 0; i < function.numResults(); ++i)
    if (const Value *result = function.result(i); !result->definingOp())
      report(result->range(),
             *broken("output `{0}` is an input", function.resultNames()[i]));
}
constinit const Rule rules::OutputIsInput = {
    .id = "output-is-input",
    .family = resultFamily,
    .summary = "no output is also an input",
    .source = "Orion, ironmill: the compiler crashes",
    .date = "2026-11",
    .advice = "add 0 to the input",
    .danger = "its program crashed the compiler",
    .rewrite = Rewrite::IsolateResults,
    .ofFunction = outputIsInput,
};

static void outputUsed(const Function &function, const Target &target,
                       ReportBreach report) {
  for (unsigned i = 0; i < function.numResults(); ++i) {
    const Value *result = function.result(i);
    if (const Op *user = result->user(); user && result->definingOp())
      report(result->range(),
             *broken("output `{0}` is used by `{1}` as well",
                     function.resultNames()[i], user->def().name));
  }
}
constinit const Rule rules::OutputUsed = {
    .id = "output-used",
    .family = resultFamily,
    .summary = "an output is not also an operand in the program",
    .chips = {Chip::M5},
    .impact = Impact::Warning,
    .source = "q38 (M5 Max)",
    .date = "2026-11",
    .advice = "return an `identity` of the value",
    .rewrite = Rewrite::IsolateResults,
    .rewriteWhen = RewriteWhen::Chosen,
    .ofFunction = outputUsed,
};

static bool isComputation(const Op &op) {
  return !op.is(ops::Const) && !op.is(ops::Weight) &&
         !op.def().has(trait::Constexpr);
}

static void emptyBody(const Function &function, const Target &target,
                      ReportBreach report) {
  if (llvm::none_of(function.body(), isComputation))
    report(function.range, "the program computes nothing");
}
constinit const Rule rules::EmptyBody = {
    .id = "empty-body",
    .family = resultFamily,
    .summary = "a program has at least one op",
    .source = "Orion, ironmill: the compiler crashes",
    .date = "2026-11",
    .advice = "add 0 to the output",
    .danger = "its program crashed the compiler",
    .ofFunction = emptyBody,
};

static bool isMovement(const Op &op) {
  return op.def().has(trait::DataMovement) || op.is(ops::Identity);
}

static void onlyMovement(const Function &function, const Target &target,
                         ReportBreach report) {
  bool moves = false;
  for (const Op &op : function.body()) {
    if (!isComputation(op))
      continue;
    if (!isMovement(op) || op.is(ops::Identity) || op.is(ops::Concat))
      return;
    moves = true;
  }
  if (moves)
    report(function.range, "the program only moves elements");
}
constinit const Rule rules::OnlyMovement = {
    .id = "only-movement",
    .family = resultFamily,
    .summary = "a program with only data movement, such as `reshape`, `slice` "
               "and `tile`, is rejected",
    .macOS = {"14-26.5"},
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "ironmill (M3 Pro), luengnat/rustane (M4)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "macOS 26.6 compiles a single `transpose`, `tile` or "
                "`slice_by_index` (mil-hwx-compiler, M1)",
    .advice = "add 0 to the output, or do it on the host",
    .rewrite = Rewrite::LegalInterface,
    .ofFunction = onlyMovement,
};

static void onlyIdentity(const Function &function, const Target &target,
                         ReportBreach report) {
  bool copies = false;
  for (const Op &op : function.body()) {
    if (!isComputation(op))
      continue;
    if (!op.is(ops::Identity))
      return;
    copies = true;
  }
  if (copies)
    report(function.range, "the program has no op but `identity`");
}
constinit const Rule rules::OnlyIdentity = {
    .id = "only-identity",
    .family = resultFamily,
    .summary = "`identity` is not the only op of a program",
    .chips = {Chip::M5},
    .impact = Impact::SilentCorruption,
    .source = "q38 (M5 Max): the result is NaN",
    .date = "2026-11",
    .advice = "add 0 to the output",
    .rewrite = Rewrite::LegalInterface,
    .ofFunction = onlyIdentity,
};

static void reshapedProduct(const Function &function, const Target &target,
                            ReportBreach report) {
  if (function.numResults() != 1)
    return;
  const Op *reshape = producer(function.result(0), ops::Reshape);
  if (reshape && producer(reshape->operand(0), ops::Matmul))
    report(reshape->range(), "the only output is a `reshape` of a `matmul`");
}
constinit const Rule rules::ReshapedProduct = {
    .id = "reshaped-product",
    .family = resultFamily,
    .summary = "the only output is not a `reshape` of a `matmul`",
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "luengnat/rustane (M4)",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "maderix/ANE runs a classifier that ends this way",
    .advice = "add 0 to the output",
    .rewrite = Rewrite::LegalInterface,
    .ofFunction = reshapedProduct,
};
