//===- Op.cpp - rules about unsupported ops -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predicates.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Params/Quantization.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Boxes.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "lib/Ops/Rows/ConstexprLookup.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Pool.h"
#include "lib/Ops/Rows/Recurrent.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Reverse.h"
#include "lib/Ops/Rows/Sample.h"
#include "lib/Ops/Rows/Scatter.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Rows/Sort.h"
#include "lib/Target/Chip.h"
#include "lib/Target/Place.h"

using namespace anec;

static constexpr llvm::StringLiteral opFamily = "ops";

static constexpr llvm::StringLiteral catalogue =
    "ANEForge op catalogue (M1 to M5), ironmill (M3 Pro)";

/// Broken when `op` is one of `rows`.
static Verdict refused(const Op &op,
                       std::initializer_list<const OpDef *> rows) {
  if (isOneOf(op, rows))
    return broken("`{0}` is not accepted", op.def().name);
  return {};
}

/// Defines a rule that ops of some rows are refused. ANEC_REFUSED_INSIDE is for
/// light ones, which Core ML can do at the ends of a program.
#define ANEC_REFUSED(NAME, ID, SUMMARY, ADVICE, ...)                           \
  ANEC_REFUSED_ROW(NAME, ID, SUMMARY, ADVICE, false, __VA_ARGS__)
#define ANEC_REFUSED_INSIDE(NAME, ID, SUMMARY, ADVICE, ...)                    \
  ANEC_REFUSED_ROW(NAME, ID, SUMMARY, ADVICE, true, __VA_ARGS__)
#define ANEC_REFUSED_ROW(NAME, ID, SUMMARY, ADVICE, IS_LIGHT, ...)             \
  constinit const Rule rules::NAME = {                                         \
      .id = ID,                                                                \
      .family = opFamily,                                                      \
      .summary = SUMMARY,                                                      \
      .isFineAtEnds = IS_LIGHT,                                                \
      .source = catalogue,                                                     \
      .date = "2026-11",                                                       \
      .confidence = Confidence::High,                                          \
      .trial = opSweep,                                                        \
      .advice = ADVICE,                                                        \
      .ofOp = [](const Op &op,                                                 \
                 const Target &) { return refused(op, {__VA_ARGS__}); },       \
  };

ANEC_REFUSED_INSIDE(NoArgsort, "no-argsort", "`argsort` is not supported",
                    "sort on the host", &ops::Argsort)
ANEC_REFUSED(NoCropResize, "no-crop-resize", "`crop_resize` is not supported",
             "crop on the host", &ops::CropResize)
ANEC_REFUSED_INSIDE(NoOneHot, "no-one-hot", "`one_hot` is not supported",
                    "compare with the constant 0, 1, 2, ...", &ops::OneHot)
ANEC_REFUSED(NoRecurrent, "no-recurrent",
             "`gru`, `lstm` and `rnn` are not supported",
             "write one step as matrix products and repeat it", &ops::Gru,
             &ops::Lstm, &ops::Rnn)
ANEC_REFUSED_INSIDE(NoReverseSequence, "no-reverse-sequence",
                    "`reverse_sequence` is not supported",
                    "reverse on the host", &ops::ReverseSequence)
ANEC_REFUSED_INSIDE(NoScatter, "no-scatter", "`scatter` is not supported",
                    "add on the host, or multiply by a one-hot matrix",
                    &ops::Scatter, &ops::ScatterAlongAxis, &ops::ScatterNd)
ANEC_REFUSED_INSIDE(NoShape, "no-shape", "`shape` is not supported",
                    "use a constant: extents are known", &ops::ShapeOf)
ANEC_REFUSED_INSIDE(NoSliceUpdate, "no-slice-update",
                    "`slice_update` is not supported",
                    "concatenate the unchanged parts with the update",
                    &ops::SliceUpdate)
ANEC_REFUSED(NoSlidingWindows, "no-sliding-windows",
             "`sliding_windows` is not supported", "slice and concatenate",
             &ops::SlidingWindows)
ANEC_REFUSED(NoTrigonometry, "no-trigonometry",
             "trigonometric functions other than `sin`, `cos` and `atan` are "
             "not supported",
             "use a polynomial, or `exp` for `sinh` and `cosh`", &ops::Acos,
             &ops::Asin, &ops::Atanh, &ops::Cosh, &ops::Sinh, &ops::Tan)
ANEC_REFUSED(NoReduceProd, "no-reduce-prod", "`reduce_prod` is not supported",
             "multiply slices, or sum logarithms", &ops::ReduceProd)
#undef ANEC_REFUSED
#undef ANEC_REFUSED_INSIDE
#undef ANEC_REFUSED_ROW

/// The same, with a rewrite of `legalize`.
#define ANEC_REWRITTEN(NAME, ID, SUMMARY, ADVICE, IS_LIGHT, REWRITE, ...)      \
  constinit const Rule rules::NAME = {                                         \
      .id = ID,                                                                \
      .family = opFamily,                                                      \
      .summary = SUMMARY,                                                      \
      .isFineAtEnds = IS_LIGHT,                                                \
      .source = catalogue,                                                     \
      .date = "2026-11",                                                       \
      .confidence = Confidence::High,                                          \
      .trial = opSweep,                                                        \
      .advice = ADVICE,                                                        \
      .rewrite = REWRITE,                                                      \
      .ofOp = [](const Op &op,                                                 \
                 const Target &) { return refused(op, {__VA_ARGS__}); },       \
  };
ANEC_REWRITTEN(NoBandPart, "no-band-part", "`band_part` is not supported",
               "multiply by a constant mask", false, Rewrite::MaskBand,
               &ops::BandPart)
ANEC_REWRITTEN(NoCumsum, "no-cumsum", "`cumsum` is not supported",
               "multiply by a triangular matrix of ones", false,
               Rewrite::SumByProduct, &ops::Cumsum)
ANEC_REWRITTEN(NoMod, "no-mod", "`mod` is not supported",
               "use `x - floor(x / y) * y`", true, Rewrite::ExpandMod,
               &ops::Mod)
ANEC_REWRITTEN(
    NoLogical, "no-logical",
    "`logical_and`, `logical_or` and `logical_xor` are not supported",
    "cast to fp16 and use `mul`, `maximum` or `not_equal`", true,
    Rewrite::ExpandLogical, &ops::LogicalAnd, &ops::LogicalOr, &ops::LogicalXor)
#undef ANEC_REWRITTEN

constinit const Rule rules::NoSuppression = {
    .id = "no-suppression",
    .family = opFamily,
    .summary = "`non_maximum_suppression` is not supported",
    .isFineAtEnds = true,
    .source = catalogue,
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "choose the boxes on the host",
    .ofOp =
        [](const Op &op, const Target &) {
          return refused(op, {&ops::NonMaximumSuppression});
        },
};

static Verdict argmax(const Op &op, const Target &target) {
  return refused(op, {&ops::ReduceArgmax, &ops::ReduceArgmin});
}
constinit const Rule rules::NoArgmax = {
    .id = "no-argmax",
    .family = opFamily,
    .summary = "`reduce_argmax` and `reduce_argmin` are not supported",
    .isFineAtEnds = true,
    .source = catalogue,
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "ANEForge runs them from M3 on as a separate layer",
    .trial = opSweep,
    .advice = "find the index on the host",
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
    .family = opFamily,
    .summary = "`gather` with computed indices is not supported",
    .isFineAtEnds = true,
    .source = catalogue,
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "computer-graphics-tools/ane gathers with uint16 indices",
    .trial = opSweep,
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
    .family = opFamily,
    .summary = "`gather` is not along the last axis",
    .chips = {Chip::M1, Chip::M2},
    .impact = Impact::SilentCorruption,
    .source = "ANEForge (M1, M2): wrong elements are returned",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "first transpose so that the axis is not the last",
    .rewrite = Rewrite::GatherTransposed,
    .rewriteWhen = RewriteWhen::Chosen,
    .ofOp = lastAxisGather,
};

static Verdict sine(const Op &op, const Target &target) {
  return refused(op, {&ops::Sin, &ops::Cos});
}
constinit const Rule rules::NoSine = {
    .id = "no-sine",
    .family = opFamily,
    .summary = "`sin` and `cos` are not supported before M3",
    .chips = {Chip::M1, Chip::M2},
    .source = "ANEForge (M1, M2); ironmill on a chip it calls h14g",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "use a polynomial, or a table computed on the host",
    .rewrite = Rewrite::SineToPolynomial,
    .rewriteWhen = RewriteWhen::Chosen,
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
    .family = opFamily,
    .summary = "`k` of `topk` is not 3 or 4",
    .chips = {Chip::M2, Chip::M3, Chip::M3Ultra, Chip::M4, Chip::M5, Chip::M6},
    .isFineAtEnds = true,
    .source = "ANEForge",
    .date = "2026-11",
    .advice = "use 5 and drop the rest",
    .ofOp = topK,
};

static Verdict topKBeforeM2(const Op &op, const Target &target) {
  return refused(op, {&ops::Topk});
}
constinit const Rule rules::NoTopk = {
    .id = "no-topk",
    .family = opFamily,
    .summary = "`topk` is not supported before M2",
    .chips = {Chip::M1},
    .isFineAtEnds = true,
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
    .family = opFamily,
    .summary = "`local_response_norm` has a `size` of at most 15 channels",
    .source = "ANEForge",
    .date = "2026-11",
    .advice = "use a convolution of the squares with ones",
    .ofOp = lrnSize,
};

static Verdict pooling(const Op &op, const Target &target) {
  if (isOneOf(op, {&ops::AvgPool, &ops::MaxPool, &ops::BatchNorm}))
    return broken("`{0}` may not be accepted", op.def().name);
  return {};
}
constinit const Rule rules::NoPooling = {
    .id = "no-pooling",
    .family = opFamily,
    .summary = "`avg_pool`, `max_pool` and `batch_norm` are not supported",
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "ironmill (M3 Pro)",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "they compile through E5 and Core ML (ANEForge, study)",
    .advice = "pool with a constant convolution, or reduce after `reshape`",
    .ofOp = pooling,
};

static Verdict tile(const Op &op, const Target &target) {
  if (op.is(ops::Tile))
    return broken("`tile` may leave the engine broken for the process");
  return {};
}
constinit const Rule rules::NoTile = {
    .id = "no-tile",
    .family = opFamily,
    .summary = "`tile` is not supported: after it, every program of the "
               "process fails (0x1d)",
    .chips = {Chip::M3},
    .macOS = {"26.3-"},
    .impact = Impact::Warning,
    .source = "skyfallsin field guide (M3 Max)",
    .date = "2026-11",
    .conflict =
        "ironmill runs it on M3 Pro, and mil-hwx-compiler compiles it for M1",
    .advice = "concatenate copies, or add zeros of the larger shape",
    .danger = "after its program, the process compiled no other program",
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
    .family = opFamily,
    .summary = "`reduce_mean` is not supported",
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "Espresso (M3 Max), q38 (M5 Max, at some shapes)",
    .date = "2026-11",
    .conflict = "ironmill, ANEForge and mil-hwx-compiler (M1, M2) compile it",
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
    .family = opFamily,
    .summary = "`concat` is not supported",
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
    .family = opFamily,
    .summary = "`concat` has two operands",
    .paths = {EnginePath::E5},
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
    .family = opFamily,
    .summary = "`cast` does not convert from or to int32",
    .isFineAtEnds = true,
    .isFineForCoreML =
        [](const Op &op, const OpsAroundEngine &around) {
          return around.castsOfOthers.contains(&op);
        },
    .fineForCoreML = "beside ops that the engine does not take",
    .source = "ironmill (M3 Pro), ANEForge",
    .date = "2026-11",
    .confidence = Confidence::High,
    .trial = opSweep,
    .advice = "pass small integers as fp16, and keep the rest on the host",
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
    .family = opFamily,
    .summary = "arithmetic has float operands",
    .isOneFact = true,
    .isFineAtEnds = true,
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
    .family = opFamily,
    .summary = "weights with lookup tables are not supported",
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "ironmill (M3 Pro), its list of constraints",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "ironmill's own support matrix and ANEForge (E5) run them",
    .advice = "use int8 weights with `constexpr_affine_dequantize`",
    .ofOp = lut,
};

/// Whether scales differ along more than one axis: groups within a channel.
static bool hasGroups(const Op &op) {
  return llvm::count_if(op.operand(param::scale)->type.shape,
                        [](int64_t extent) { return extent > 1; }) > 1;
}

static Verdict blockwise(const Op &op, const Target &target) {
  // Of groups, GroupedScale says more.
  if (op.is(ops::ConstexprBlockwiseShiftScale) && !hasGroups(op))
    return broken("`{0}` before M3", op.def().name);
  return {};
}
constinit const Rule rules::NoBlockwise = {
    .id = "no-blockwise",
    .family = opFamily,
    .summary = "`constexpr_blockwise_shift_scale` is not supported before M3",
    .chips = {Chip::M1, Chip::M2},
    .saidBy = &rules::GroupedScale,
    .impact = Impact::Warning,
    .source = "ANEForge, table of families: streams blocks from M3 on",
    .date = "2026-11",
    .advice = "use `constexpr_affine_dequantize` with a scale per channel",
    .ofOp = blockwise,
};

static Verdict groupedScale(const Op &op, const Target &target) {
  if (!op.is(ops::ConstexprBlockwiseShiftScale) || !hasGroups(op))
    return {};
  return broken("`scale` is {0}",
                shapeToString(op.operand(param::scale)->type.shape));
}
constinit const Rule rules::GroupedScale = {
    .id = "grouped-scale",
    .family = opFamily,
    .summary = "`constexpr_blockwise_shift_scale` has one scale, or one for "
               "each channel",
    .source = "Qwen ANE (M5 Max): InvalidMILProgram; Core ML's compiler says "
              "per channel or per tensor only",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "quantize with `int8:per-channel` or `int4:per-channel`",
    .ofOp = groupedScale,
};
