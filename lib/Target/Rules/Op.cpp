//===- Op.cpp - rules about unsupported ops -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predicates.h"

using namespace anec;

static constexpr llvm::StringLiteral family = "ops";

static constexpr llvm::StringLiteral catalogue =
    "ANEForge op catalogue (M1 to M5), ironmill (M3 Pro)";

/// Broken when `op` is one of `rows`.
static Verdict refused(const Op &op,
                       std::initializer_list<const OpDef *> rows) {
  if (isOneOf(op, rows))
    return broken("`{0}` is not accepted", op.def().name);
  return {};
}

/// Defines a rule that ops of some rows are refused.
#define ANEC_REFUSED(NAME, ID, SUMMARY, ADVICE, ...)                           \
  constinit const Rule rules::NAME = {                                         \
      .id = ID,                                                                \
      .family = family,                                                        \
      .summary = SUMMARY,                                                      \
      .source = catalogue,                                                     \
      .date = "2026-11",                                                       \
      .confidence = Confidence::High,                                          \
      .advice = ADVICE,                                                        \
      .ofOp = [](const Op &op,                                                 \
                 const Target &) { return refused(op, {__VA_ARGS__}); },       \
  };

ANEC_REFUSED(NoArgsort, "no-argsort", "there is no `argsort`",
             "sort on the host", &ops::Argsort)
ANEC_REFUSED(NoBandPart, "no-band-part", "there is no `band_part`",
             "multiply by a constant mask", &ops::BandPart)
ANEC_REFUSED(NoCropResize, "no-crop-resize", "there is no `crop_resize`",
             "crop on the host", &ops::CropResize)
ANEC_REFUSED(NoCumsum, "no-cumsum", "there is no `cumsum`",
             "multiply by a triangular matrix of ones", &ops::Cumsum)
ANEC_REFUSED(NoOneHot, "no-one-hot", "there is no `one_hot`",
             "compare with a constant 0, 1, 2, ...", &ops::OneHot)
ANEC_REFUSED(NoRecurrent, "no-recurrent",
             "there are no `gru`, `lstm` and `rnn`",
             "write the step as products and repeat it", &ops::Gru, &ops::Lstm,
             &ops::Rnn)
ANEC_REFUSED(NoReverseSequence, "no-reverse-sequence",
             "there is no `reverse_sequence`", "reverse on the host",
             &ops::ReverseSequence)
ANEC_REFUSED(NoScatter, "no-scatter", "there is no `scatter`",
             "add on the host, or multiply by a one-hot matrix", &ops::Scatter,
             &ops::ScatterAlongAxis, &ops::ScatterNd)
ANEC_REFUSED(NoShape, "no-shape", "there is no `shape`",
             "extents are known: write a constant", &ops::ShapeOf)
ANEC_REFUSED(NoSliceUpdate, "no-slice-update", "there is no `slice_update`",
             "concatenate what stays with what is new", &ops::SliceUpdate)
ANEC_REFUSED(NoSlidingWindows, "no-sliding-windows",
             "there is no `sliding_windows`", "slice and concatenate",
             &ops::SlidingWindows)
ANEC_REFUSED(NoTrigonometry, "no-trigonometry",
             "of trigonometry, only `sin`, `cos` and `atan`",
             "use a polynomial, or `exp` for `sinh` and `cosh`", &ops::Acos,
             &ops::Asin, &ops::Atanh, &ops::Cosh, &ops::Sinh, &ops::Tan)
ANEC_REFUSED(NoReduceProd, "no-reduce-prod", "there is no `reduce_prod`",
             "multiply slices, or sum logarithms", &ops::ReduceProd)
#undef ANEC_REFUSED

/// The same, with a rewrite of `legalize`.
#define ANEC_REWRITTEN(NAME, ID, SUMMARY, ADVICE, REWRITE, ...)                \
  constinit const Rule rules::NAME = {                                         \
      .id = ID,                                                                \
      .family = family,                                                        \
      .summary = SUMMARY,                                                      \
      .source = catalogue,                                                     \
      .date = "2026-11",                                                       \
      .confidence = Confidence::High,                                          \
      .advice = ADVICE,                                                        \
      .rewrite = REWRITE,                                                      \
      .ofOp = [](const Op &op,                                                 \
                 const Target &) { return refused(op, {__VA_ARGS__}); },       \
  };
ANEC_REWRITTEN(NoMod, "no-mod", "there is no `mod`", "x - floor(x / y) * y",
               Rewrite::ExpandMod, &ops::Mod)
ANEC_REWRITTEN(NoLogical, "no-logical",
               "there are no `logical_and`, `logical_or` and `logical_xor`",
               "cast to fp16 and use `mul`, `maximum` or `not_equal`",
               Rewrite::ExpandLogical, &ops::LogicalAnd, &ops::LogicalOr,
               &ops::LogicalXor)
#undef ANEC_REWRITTEN

static Verdict argmax(const Op &op, const Target &target) {
  return refused(op, {&ops::ReduceArgmax, &ops::ReduceArgmin});
}
constinit const Rule rules::NoArgmax = {
    .id = "no-argmax",
    .family = family,
    .summary = "there are no `reduce_argmax` and `reduce_argmin`",
    .source = catalogue,
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "ANEForge reaches them from M3 on as a layer of its own",
    .advice = "find the largest on the host",
    .ofOp = argmax,
};

static Verdict gather(const Op &op, const Target &target) {
  if (!isOneOf(op, {&ops::Gather, &ops::GatherAlongAxis, &ops::GatherNd}) ||
      isConstant(op.operand(param::indices)))
    return {};
  return broken("`{0}` by indices that are computed", op.def().name);
}
constinit const Rule rules::NoGather = {
    .id = "no-gather",
    .family = family,
    .summary = "there is no `gather` by indices that are not constants",
    .source = catalogue,
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "computer-graphics-tools/ane gathers by uint16",
    .advice = "gather on the host, or multiply by a one-hot matrix",
    .rewrite = Rewrite::LegalInterface,
    .ofOp = gather,
};

static Verdict lastAxisGather(const Op &op, const Target &target) {
  if (!op.is(ops::Gather) || !isConstant(op.operand(param::indices)) ||
      !isLastAxis(op.get(param::axis), op.operand(param::x)))
    return {};
  return broken("`gather` along the last axis");
}
constinit const Rule rules::GatherLastAxis = {
    .id = "gather-last-axis",
    .family = family,
    .summary = "no `gather` along the last axis",
    .chips = {Chip::M1, Chip::M2},
    .impact = Impact::SilentCorruption,
    .source = "ANEForge (M1, M2): other elements come out",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "transpose the axis away from the last place first",
    .ofOp = lastAxisGather,
};

static Verdict sine(const Op &op, const Target &target) {
  return refused(op, {&ops::Sin, &ops::Cos});
}
constinit const Rule rules::NoSine = {
    .id = "no-sine",
    .family = family,
    .summary = "there are no `sin` and `cos` before M3",
    .chips = {Chip::M1, Chip::M2},
    .source = "ANEForge (M1, M2); ironmill on a chip it calls h14g",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "use a polynomial, or a table made on the host",
    .ofOp = sine,
};

static Verdict topK(const Op &op, const Target &target) {
  if (!op.is(ops::Topk))
    return {};
  int64_t k = op.get(param::topK);
  if (k != 3 && k != 4)
    return {};
  return broken("`topk` of {0}", k);
}
constinit const Rule rules::TopkCount = {
    .id = "topk-count",
    .family = family,
    .summary = "`k` of `topk` is not 3 or 4",
    .source = "ANEForge",
    .date = "2026-11",
    .advice = "take 5 and drop the rest",
    .ofOp = topK,
};

static Verdict topKBeforeM2(const Op &op, const Target &target) {
  return refused(op, {&ops::Topk});
}
constinit const Rule rules::NoTopk = {
    .id = "no-topk",
    .family = family,
    .summary = "there is no `topk` before M2",
    .chips = {Chip::M1},
    .source = "ANEForge, table of families (M1)",
    .date = "2026-11",
    .advice = "sort on the host",
    .ofOp = topKBeforeM2,
};

static Verdict lrnSize(const Op &op, const Target &target) {
  if (!op.is(ops::LocalResponseNorm) || op.get(param::windowSize) <= 15)
    return {};
  return broken("`local_response_norm` over {0} channels",
                op.get(param::windowSize));
}
constinit const Rule rules::LrnSize = {
    .id = "lrn-size",
    .family = family,
    .summary = "`local_response_norm` is over at most 15 channels",
    .source = "ANEForge",
    .date = "2026-11",
    .advice = "write it as a convolution of squares with ones",
    .ofOp = lrnSize,
};

static Verdict pooling(const Op &op, const Target &target) {
  if (isOneOf(op, {&ops::AvgPool, &ops::MaxPool, &ops::BatchNorm}))
    return broken("`{0}` may not be accepted", op.def().name);
  return {};
}
constinit const Rule rules::NoPooling = {
    .id = "no-pooling",
    .family = family,
    .summary = "no `avg_pool`, `max_pool` and `batch_norm`",
    .impact = Impact::Warning,
    .source = "ironmill (M3 Pro)",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "they compile through E5 and Core ML (ANEForge, study)",
    .advice = "pool by a convolution with constants, or reduce after `reshape`",
    .ofOp = pooling,
};

static Verdict tile(const Op &op, const Target &target) {
  if (op.is(ops::Tile))
    return broken("`tile` may leave the engine broken for the process");
  return {};
}
constinit const Rule rules::NoTile = {
    .id = "no-tile",
    .family = family,
    .summary = "no `tile`: after it, every program of the process fails (0x1d)",
    .macOS = {"26.3-"},
    .impact = Impact::Warning,
    .source = "skyfallsin field guide (M3 Max)",
    .date = "2026-11",
    .conflict = "ironmill runs it on M3 Pro",
    .advice = "concatenate, or add to zeros of the larger shape",
    .danger = "its program left a process that compiled nothing more",
    .rewrite = Rewrite::TileToConcat,
    .ofOp = tile,
};

static Verdict reduceMean(const Op &op, const Target &target) {
  if (op.is(ops::ReduceMean))
    return broken("`reduce_mean` may not be accepted");
  return {};
}
constinit const Rule rules::NoReduceMean = {
    .id = "no-reduce-mean",
    .family = family,
    .summary = "no `reduce_mean`",
    .impact = Impact::Warning,
    .source = "Espresso (M3 Max), q38 (M5 Max, at some shapes)",
    .date = "2026-11",
    .conflict = "ironmill and ANEForge run it",
    .advice = "multiply `reduce_sum` by 1 / n",
    .rewrite = Rewrite::MeanToSum,
    .ofOp = reduceMean,
};

static Verdict concat(const Op &op, const Target &target) {
  if (op.is(ops::Concat))
    return broken("`concat` may not be accepted");
  return {};
}
constinit const Rule rules::NoConcat = {
    .id = "no-concat",
    .family = family,
    .summary = "no `concat`",
    .chips = {Chip::M5},
    .macOS = {"26-"},
    .impact = Impact::Warning,
    .source = "q38 (M5 Max); Orion and Espresso, whose text lacks `interleave`",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "maderix/ANE, ironmill and ANEForge run it on M1 to M5",
    .advice = "return several outputs",
    .ofOp = concat,
};

static Verdict concatOperands(const Op &op, const Target &target) {
  if (!op.is(ops::Concat) || op.numOperands() <= 2)
    return {};
  return broken("`concat` of {0} values", op.numOperands());
}
constinit const Rule rules::ConcatOperands = {
    .id = "concat-operands",
    .family = family,
    .summary = "`concat` is of two values",
    .impact = Impact::Warning,
    .source = "ANEForge, through E5",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "maderix/ANE and Espresso concatenate six on M3 to M5",
    .advice = "concatenate two at a time",
    .rewrite = Rewrite::ConcatTree,
    .ofOp = concatOperands,
};

static bool isInt32(const Value *value) {
  return value->type.dtype == DType::Int32;
}

static Verdict castInt32(const Op &op, const Target &target) {
  if (!op.is(ops::Cast) || !(isInt32(op.operand(0)) || isInt32(op.result())))
    return {};
  return broken("`cast` from {0} to {1}", spelling(op.operand(0)->type.dtype),
                spelling(op.result()->type.dtype));
}
constinit const Rule rules::CastInt32 = {
    .id = "cast-int32",
    .family = family,
    .summary = "no `cast` from or to int32",
    .source = "ironmill (M3 Pro), ANEForge",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "pass what is small as fp16, and keep the rest on the host",
    .ofOp = castInt32,
};

static Verdict integerArithmetic(const Op &op, const Target &target) {
  if (!isOneOf(op,
               {&ops::Add, &ops::Sub, &ops::Mul, &ops::RealDiv, &ops::FloorDiv,
                &ops::Maximum, &ops::Minimum, &ops::Matmul}) ||
      !isInteger(op.result()->type.dtype))
    return {};
  return broken("`{0}` of {1}", op.def().name,
                spelling(op.result()->type.dtype));
}
constinit const Rule rules::IntegerArithmetic = {
    .id = "integer-arithmetic",
    .family = family,
    .summary = "arithmetic is of floats",
    .source = "ironmill (M3 Pro), ANEForge",
    .date = "2026-11",
    .advice = "use fp16, which is exact for integers up to 2048",
    .ofOp = integerArithmetic,
};

static Verdict lut(const Op &op, const Target &target) {
  if (isOneOf(op, {&ops::ConstexprLutToDense, &ops::ConstexprLutToSparse}))
    return broken("`{0}` may not be accepted", op.def().name);
  return {};
}
constinit const Rule rules::NoLut = {
    .id = "no-lut",
    .family = family,
    .summary = "no weights by look-up table",
    .impact = Impact::Warning,
    .source = "ironmill (M3 Pro), its list of constraints",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "ironmill's own matrix and ANEForge (E5) run them",
    .advice = "use int8 weights by `constexpr_affine_dequantize`",
    .ofOp = lut,
};

static Verdict blockwise(const Op &op, const Target &target) {
  if (op.is(ops::ConstexprBlockwiseShiftScale))
    return broken("`{0}` before M3", op.def().name);
  return {};
}
constinit const Rule rules::NoBlockwise = {
    .id = "no-blockwise",
    .family = family,
    .summary = "no `constexpr_blockwise_shift_scale` before M3",
    .chips = {Chip::M1, Chip::M2},
    .impact = Impact::Warning,
    .source = "ANEForge, table of families: streams blocks from M3 on",
    .date = "2026-11",
    .advice = "use `constexpr_affine_dequantize` with a scale per channel",
    .ofOp = blockwise,
};

static Verdict linear(const Op &op, const Target &target) {
  if (op.is(ops::Linear))
    return broken("`linear` may not be accepted");
  return {};
}
constinit const Rule rules::NoLinear = {
    .id = "no-linear",
    .family = family,
    .summary = "no `linear`",
    .chips = {Chip::M1},
    .impact = Impact::Warning,
    .source = "ane-linux-experiments (M1): a chain of them is refused",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .advice = "use `matmul` and `add`, or a 1x1 convolution",
    .rewrite = Rewrite::ExpandLinear,
    .ofOp = linear,
};
