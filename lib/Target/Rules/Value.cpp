//===- Value.cpp - rules about accuracy -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predicates.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Target/Place.h"
#include <cmath>

using namespace anec;

static constexpr llvm::StringLiteral valueFamily = "values";

/// The engine treats smaller numbers as zero in `log`, `rsqrt` and divisions.
static constexpr double smallest = 7.63e-6;

static Verdict smallEpsilon(const Op &op, const Target &target) {
  if (!isOneOf(op, {&ops::Rsqrt, &ops::Log, &ops::Inverse, &ops::LayerNorm,
                    &ops::InstanceNorm, &ops::BatchNorm, &ops::L2Norm}))
    return {};
  // Where it is left out, converters write the default, which nobody relies on:
  // it is nearly 0. With 0, the result is infinite elsewhere, too.
  double byDefault = op.is(ops::Rsqrt) ? 1e-12 : op.is(ops::Log) ? 1e-45 : 0;
  const Constant *epsilon = op.constant(param::epsilon);
  if (!epsilon || epsilon->asDouble() >= smallest ||
      epsilon->asDouble() <= byDefault * 1.5)
    return {};
  return broken("`epsilon` of `{0}` is {1:e2}", op.def().name,
                epsilon->asDouble());
}
/// In a norm, it is added to a variance, which only equal elements make 0, and
/// models are trained with it.
static bool isInNorm(const Op &op, const OpsAroundEngine &around) {
  return isOneOf(
      op, {&ops::LayerNorm, &ops::InstanceNorm, &ops::BatchNorm, &ops::L2Norm});
}

constinit const Rule rules::SmallEpsilon = {
    .id = "small-epsilon",
    .family = valueFamily,
    .summary = "`epsilon` is 0 or at least 7.63e-6; smaller values count as 0 "
               "and produce infinity",
    .isFineForCoreML = isInNorm,
    .fineForCoreML = "in norms",
    .impact = Impact::Warning,
    .source = "libane (M3 Pro)",
    .date = "2026-11",
    .advice = "use 1e-5, or clamp the operand first",
    .rewrite = Rewrite::InverseToDiv,
    .ofOp = smallEpsilon,
};

static Verdict smallAddend(const Op &op, const Target &target) {
  if (!op.is(ops::Pow) || scalarConstant(op.operand(1)).value_or(0) >= 0)
    return {};
  const Op *add = producer(op.operand(0u), ops::Add);
  for (unsigned slot : {0u, 1u})
    if (add)
      if (auto epsilon = scalarConstant(add->operand(slot));
          epsilon && std::abs(*epsilon) < smallest)
        return broken("{0:e2} is added before `pow` with a negative exponent",
                      *epsilon);
  return {};
}
constinit const Rule rules::SmallAddend = {
    .id = "small-addend",
    .family = valueFamily,
    .summary = "the constant that keeps the base of a negative power from 0 is "
               "at least 7.63e-6",
    .impact = Impact::Warning,
    .source = "libane (M3 Pro); luengnat/rustane: NaN from `pow`",
    .date = "2026-11",
    .advice = "add 1e-5, or clamp the base first",
    .ofOp = smallAddend,
};

static Verdict infiniteConstant(const Op &op, const Target &target) {
  if (!op.is(ops::Const) || !isFloat(op.result()->type.dtype))
    return {};
  const Constant &value = *op.constant(param::val);
  if (value.origin()) // large weights are checked when written
    return {};
  for (int64_t i = 0; i < value.numElements(); ++i)
    if (!std::isfinite(value.doubleAt(i)))
      return broken("`{0}` has an element that is {1}", op.result()->name,
                    std::isnan(value.doubleAt(i)) ? "no number" : "infinite");
  return {};
}
constinit const Rule rules::FiniteConstants = {
    .id = "finite-constants",
    .family = valueFamily,
    .summary = "constants are finite; products treat infinity as 65536, and "
               "NaN as a number",
    .impact = Impact::Warning,
    .source = "microarchitecture study (M4, M6)",
    .date = "2026-11",
    .advice = "mask with -65504 or -10000",
    .ofOp = infiniteConstant,
};

static Verdict narrowSum(const Op &op, const Target &target) {
  if (!isOneOf(op,
               {&ops::ReduceSum, &ops::ReduceMean, &ops::ReduceSumSquare}) ||
      reducedElements(op) <= 2048)
    return {};
  return broken("`{0}` over {1} elements", op.def().name, reducedElements(op));
}
constinit const Rule rules::NarrowSum = {
    .id = "narrow-sum",
    .family = valueFamily,
    .summary = "reductions have at most 2048 elements, because they add in "
               "fp16, which is exact for integers up to 2048",
    .impact = Impact::Warning,
    .source = "ANEForge (M1, M2, M5), H3 (M3 Ultra)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "multiply by a vector of ones, which adds in higher precision",
    .rewrite = Rewrite::SplitReduce,
    .ofOp = narrowSum,
};

static Verdict siluTable(const Op &op, const Target &target) {
  if (op.is(ops::Silu))
    return broken("`silu` is off by up to 0.04");
  return {};
}
constinit const Rule rules::SiluTable = {
    .id = "silu-table",
    .family = valueFamily,
    .summary = "`silu` is a coarse lookup table with an error of 0.015 to 0.04",
    .isOneFact = true,
    .impact = Impact::Warning,
    .source = "microarchitecture study (M4, M6), ironmill (M3 Pro)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "multiply by `sigmoid`, which has an error of 0.0034",
    .rewrite = Rewrite::ExpandSilu,
    .ofOp = siluTable,
};

static Verdict geluTable(const Op &op, const Target &target) {
  if (op.is(ops::Gelu))
    return broken("`gelu` is off by up to 0.0062, also at 0");
  return {};
}
constinit const Rule rules::GeluTable = {
    .id = "gelu-table",
    .family = valueFamily,
    .summary = "`gelu` is a coarse lookup table, the same in all modes, with "
               "an error of 0.0062 (0.08 relative on M1)",
    .isOneFact = true,
    .impact = Impact::Warning,
    .source = "microarchitecture study (M4, M6), Bryngelson guide (M1)",
    .date = "2026-11",
    .advice = "use the `tanh` formula, which has an error of 0.0016",
    .rewrite = Rewrite::ExpandGelu,
    .ofOp = geluTable,
};

static Verdict softplusTable(const Op &op, const Target &target) {
  if (isOneOf(op, {&ops::Softplus, &ops::SoftplusParametric}))
    return broken("`{0}` is 0 above 10.4", op.def().name);
  return {};
}
constinit const Rule rules::SoftplusRange = {
    .id = "softplus-range",
    .family = valueFamily,
    .summary = "`softplus` is 0 above 10.4",
    .impact = Impact::Warning,
    .source = "coremltools #2687 (M3 Max on macOS 26.3.1, M4), ANEForge #113 "
              "(M5 on macOS 26.5), ironmill (M3 Pro)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "use `maximum(x, 0) + log(1 + exp(-abs(x)))`",
    .rewrite = Rewrite::ExpandSoftplus,
    .ofOp = softplusTable,
};

static Verdict logSumExpRange(const Op &op, const Target &target) {
  if (op.is(ops::ReduceLogSumExp))
    return broken("`{0}` is 0 where the exponentials add up to more than 65504",
                  op.def().name);
  return {};
}
constinit const Rule rules::LogSumExpRange = {
    .id = "log-sum-exp-range",
    .family = valueFamily,
    .summary = "`reduce_log_sum_exp` is 0 where the exponentials add up to "
               "more than 65504",
    .impact = Impact::Warning,
    .source = "coremltools #2690: of 32 equal channels it is 0 from 7.63 on; "
              "by the reporter of #2687 (M3 Max)",
    .date = "2026-11",
    .advice = "subtract the maximum first, and add it to the result",
    .ofOp = logSumExpRange,
};

static Verdict roundRange(const Op &op, const Target &target) {
  if (op.is(ops::Round))
    return broken("`round` is wrong from 1024 on");
  return {};
}
constinit const Rule rules::RoundRange = {
    .id = "round-range",
    .family = valueFamily,
    .summary = "`round` is wrong from 1024 on, and rounds ties away from 0",
    .impact = Impact::Warning,
    .source = "ironmill (M3 Pro), ANEForge",
    .date = "2026-11",
    .advice = "use `floor(x + 0.5)`",
    .ofOp = roundRange,
};

static Verdict fp32Inside(const Op &op, const Target &target) {
  if (op.is(ops::Cast) || op.is(ops::Const) || op.is(ops::Weight) ||
      op.def().has(trait::Constexpr))
    return {};
  for (const Value *result : op.resultValues())
    if (result->type.dtype == DType::FP32)
      return broken("`{0}` is fp32", calledName(*result));
  return {};
}
/// Pixels that are scaled, and the probabilities of labels.
static bool isLightAtEnds(const Op &op, const OpsAroundEngine &around) {
  return around.hasWork && around.atEnds.contains(&op) &&
         llvm::all_of(op.resultValues(), [&](const Value *result) {
           return countFlops(op) <= result->type.numElements();
         });
}

constinit const Rule rules::Fp32Inside = {
    .id = "fp32-inside",
    .family = valueFamily,
    .summary = "values inside a program are fp16; fp32 is only for inputs and "
               "outputs, which are cast at the boundary",
    .isOneFact = true,
    .isFineForCoreML = isLightAtEnds,
    .fineForCoreML = "of light work before and after all that the engine runs",
    .impact = Impact::Warning,
    .source = "maderix/ANE, Orion: every kernel casts fp32 at its boundary; "
              "the engine has no fp32",
    .date = "2026-11",
    .advice = "cast inputs to fp16",
    .ofOp = fp32Inside,
};
