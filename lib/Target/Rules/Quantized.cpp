//===- Quantized.cpp - rules about int8 activations -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predicates.h"
#include "lib/Ops/Params/Quantization.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Quantization.h"
#include "lib/Target/Chip.h"

using namespace anec;

static constexpr llvm::StringLiteral quantizedFamily = "graph";

/// The scale of quantize or dequantize, if it is one number.
static std::optional<double> scaleOf(const Op &op) {
  return scalarConstant(op.operand(param::scale));
}

/// A product of a rounded branch that is rounded by another scale.
static Verdict quantizedBranch(const Op &op, const Target &target) {
  if (!op.is(ops::Mul))
    return {};
  for (const Value *operand : op.operandValues()) {
    const Op *branch = producer(operand, ops::Dequantize);
    if (!branch)
      continue;
    for (const Operand *use = op.result()->firstUse(); use;
         use = use->nextUse()) {
      const Op *next = use->owner();
      if (!next || !next->is(ops::Quantize))
        continue;
      std::optional<double> before = scaleOf(*branch), after = scaleOf(*next);
      if (!before || !after || *before != *after)
        return broken("`mul` of the result of `dequantize`, before `quantize` "
                      "with another scale");
    }
  }
  return {};
}
constinit const Rule rules::QuantizedBranch = {
    .id = "quantized-branch",
    .family = quantizedFamily,
    .summary = "a product of what `dequantize` returns is not quantized with "
               "another scale",
    .chips = {Chip::M5},
    .impact = Impact::SilentCorruption,
    .source = "apple/coreai-torch#112 (M5 Pro, macOS 27): the integers of the "
              "branch are scaled by the scale of the product",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "put `clip` to [-128, 127] times the second scale between them, "
              "or quantize only the product",
    .ofOp = quantizedBranch,
};
