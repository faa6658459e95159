//===- Graph.cpp - rules about combinations of ops ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predicates.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Attention.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Attention.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Rows/Softmax.h"
#include "lib/Target/Chip.h"

using namespace anec;

static constexpr llvm::StringLiteral graphFamily = "graph";

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static Verdict computedWeight(const Op &op, const Target &target) {
  if (!isOneOf(op, {&ops::Conv, &ops::ConvTranspose}) ||
      isConstant(op.operand(param::weight)))
    return {};
  return broken("the weight of `{0}` is computed", op.def().name);
}
constinit const Rule rules::ConvWeight = {
    .id = "conv-weight",
    .family = graphFamily,
    .summary = "the weight of a convolution is a constant",
    .impact = Impact::SilentCorruption,
    .source = "skyfallsin field guide (M3 Max): ignored; maderix/ANE #47 (M1): "
              "InvalidMILProgram",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "q38 runs computed weights on M5 Max",
    .advice = "use `matmul`",
    .rewrite = Rewrite::ConvToMatmul,
    .ofOp = computedWeight,
};

static Verdict convBias(const Op &op, const Target &target) {
  if (!op.is(ops::Conv) || !op.operand(param::bias))
    return {};
  return broken("`conv` with a `bias`");
}
constinit const Rule rules::ConvBias = {
    .id = "conv-bias",
    .family = graphFamily,
    .summary = "a convolution has no `bias`",
    .chips = {Chip::M4},
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "Orion (M4 Max), luengnat/rustane (M4)",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "coremltools always writes a bias of rank 1; ANEForge and "
                "mil-hwx-compiler (M1, M2) compile it",
    .advice = "add it after the convolution",
    .rewrite = Rewrite::SplitBias,
    .ofOp = convBias,
};

static Verdict convRank3(const Op &op, const Target &target) {
  if (!op.is(ops::Conv) || convWeight(op).rank() != 3)
    return {};
  return broken("`conv` with a weight of rank 3");
}
constinit const Rule rules::ConvRank3 = {
    .id = "conv-rank-3",
    .family = graphFamily,
    .summary = "the weight of a convolution has rank 4",
    .chips = {Chip::M1},
    .paths = {EnginePath::InMemory},
    .source = "ane-linux-experiments (M1)",
    .date = "2026-11",
    .conflict = "coremltools writes every convolution of one axis so",
    .advice = "add a height of 1",
    .rewrite = Rewrite::ConvToRank4,
    .ofOp = convRank3,
};

static Verdict customPadding(const Op &op, const Target &target) {
  if (!op.is(ops::Conv) || op.get(param::padType) != PadType::Custom)
    return {};
  return broken("`conv` with `pad_type` `custom`");
}
constinit const Rule rules::ConvPadding = {
    .id = "conv-padding",
    .family = graphFamily,
    .summary = "`pad_type` is `valid` or `same`",
    .chips = {Chip::M1},
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "ane-linux-experiments (M1): some spellings are rejected",
    .date = "2026-11",
    .advice = "use `pad` before the convolution",
    .rewrite = Rewrite::PadConv,
    .rewriteWhen = RewriteWhen::Chosen,
    .ofOp = customPadding,
};

/// What `value` has the elements of, in whatever order.
static const Value *withoutTransposes(const Value *value) {
  const Op *op = value->definingOp();
  while (op && isOneOf(*op, {&ops::Transpose, &ops::Identity})) {
    value = op->operand(0u);
    op = value->definingOp();
  }
  return value;
}

static Verdict equalOperands(const Op &op, const Target &target) {
  if (!op.is(ops::Matmul) ||
      withoutTransposes(op.operand(0u)) != withoutTransposes(op.operand(1u)))
    return {};
  return broken("both operands of `matmul` are `{0}`",
                calledName(*withoutTransposes(op.operand(0u))));
}
constinit const Rule rules::EqualOperands = {
    .id = "equal-operands",
    .family = graphFamily,
    .summary = "`matmul` does not multiply a value, or its transpose, with "
               "itself",
    .chips = {Chip::M5},
    .macOS = {"26-"},
    .paths = {EnginePath::InMemory},
    .source = "q38 (M5 Max): a tensor name is there twice when the height is "
              "folded, also for a transposed copy",
    .date = "2026-11",
    .advice = "compute -(x @ (-x))",
    .rewrite = Rewrite::NegateOperand,
    .ofOp = equalOperands,
};

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

static Verdict attentionMask(const Op &op, const Target &target) {
  if (!op.is(ops::ScaledDotProductAttention) || !op.operand(param::attnMask))
    return {};
  return broken("`attn_mask` is ignored");
}
constinit const Rule rules::AttentionMask = {
    .id = "attention-mask",
    .family = graphFamily,
    .summary = "`scaled_dot_product_attention` has no mask, because the mask "
               "is ignored",
    .macOS = {"15-"},
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::SilentCorruption,
    .source = "maderix/ANE (M4), Orion (M4 Max), ANEForge",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "Core ML runs it on the engine with its mask (M6)",
    .advice = "use `matmul`, `mul`, `add` for the mask, `softmax`, `matmul`",
    .rewrite = Rewrite::ExpandAttention,
    .ofOp = attentionMask,
};

static Verdict attentionSize(const Op &op, const Target &target) {
  if (!op.is(ops::ScaledDotProductAttention))
    return {};
  int64_t queries = extentFromEnd(op.operand(param::query)->type, 1);
  int64_t keys = extentFromEnd(op.operand(param::key)->type, 1);
  if (std::max(queries, keys) <= 2048 && std::min(queries, keys) < 512)
    return {};
  return broken("attention of {0} queries to {1} keys", queries, keys);
}
constinit const Rule rules::AttentionSize = {
    .id = "attention-size",
    .family = graphFamily,
    .summary = "`scaled_dot_product_attention` has at most 2048 positions, and "
               "fewer than 512 queries or fewer than 512 keys",
    .impact = Impact::SilentCorruption,
    .source = "ANEForge: results are garbage beyond these limits",
    .date = "2026-11",
    .advice =
        "use `matmul`, `mul`, `softmax`, `matmul` for blocks of 512 queries",
    .rewrite = Rewrite::ExpandAttention,
    .ofOp = attentionSize,
};

/// The softmax that gives an operand of `matmul`, moved at most; null for none.
static const Op *softmaxBefore(const Op &matmul) {
  for (unsigned side = 0; side < 2; ++side) {
    const Op *op = matmul.operand(side)->definingOp();
    while (op && isOneOf(*op, {&ops::Reshape, &ops::Transpose, &ops::Cast}))
      op = op->operand(0u)->definingOp();
    if (op && op->is(ops::Softmax))
      return op;
  }
  return nullptr;
}

static Verdict headScores(const Op &op, const Target &target) {
  constexpr int64_t fewestWrong = int64_t(1) << 20;
  int64_t queries = 0, keys = 0;
  if (op.is(ops::ScaledDotProductAttention)) {
    queries = extentFromEnd(op.operand(param::query)->type, 1);
    keys = extentFromEnd(op.operand(param::key)->type, 1);
  } else if (const Op *softmax =
                 op.is(ops::Matmul) ? softmaxBefore(op) : nullptr) {
    queries = extentFromEnd(softmax->result()->type, 1);
    keys = extentFromEnd(softmax->result()->type, 0);
  }
  if (queries * keys < fewestWrong)
    return {};
  return broken("a head of attention has {0} x {1} scores", queries, keys);
}
constinit const Rule rules::AttentionScores = {
    .id = "attention-scores",
    .family = graphFamily,
    .summary = "a head of attention has fewer than 2^20 scores",
    .chips = {Chip::M2},
    .impact = Impact::Warning,
    .source = "eeane 2.1 (M2): right for 1023 positions, wrong numbers for "
              "1024; stated by its package, not measured by others",
    .date = "2026-11",
    .advice = "compute the queries in blocks of fewer",
    .ofOp = headScores,
};

static Verdict keyExtent(const Op &op, const Target &target) {
  if (!op.is(ops::Matmul))
    return {};
  const Op *softmax = producer(op.operand(0), ops::Softmax);
  if (!softmax || extentFromEnd(softmax->result()->type, 0) <= 512)
    return {};
  return broken("attention to {0} keys at once",
                extentFromEnd(softmax->result()->type, 0));
}
constinit const Rule rules::AttentionKeys = {
    .id = "attention-keys",
    .family = graphFamily,
    .summary = "the softmax of attention has at most 512 keys",
    .chips = {Chip::M3Ultra, Chip::M5},
    .impact = Impact::Warning,
    .source = "H3 (M3 Ultra): correct at 512, wrong at 15744; q38 (M5 Max): "
              "compiles at 256, not at 512",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .advice = "process the keys in blocks, with a running maximum and sum",
    .ofOp = keyExtent,
};

static Verdict channelSoftmax(const Op &op, const Target &target) {
  if (!op.is(ops::Softmax) || op.operand(0)->type.rank() != 4)
    return {};
  int64_t axis = op.get(param::axis), channels = op.operand(0)->type.shape[1];
  if ((axis != 1 && axis != -3) || llvm::isPowerOf2_64(uint64_t(channels)))
    return {};
  return broken("`softmax` over {0} channels", channels);
}
constinit const Rule rules::ChannelSoftmax = {
    .id = "channel-softmax",
    .family = graphFamily,
    .summary =
        "the number of channels of a `softmax` over channels is a power of two",
    .chips = {Chip::M3},
    .impact = Impact::Warning,
    .source = "Espresso (M3 Max): InvalidMILProgram",
    .date = "2026-11",
    .conflict = "ANEForge and ironmill accept any axis and extent; maderix/ANE "
                "runs 32000 channels on M4",
    .advice = "apply it to the last axis",
    .rewrite = Rewrite::SoftmaxOfWidth,
    .rewriteWhen = RewriteWhen::Chosen,
    .ofOp = channelSoftmax,
};

static void splitMatmulSoftmaxTile(const Function &function,
                                   const Target &target, ReportBreach report) {
  const Op *last = nullptr;
  for (const OpDef *def :
       {&ops::Split, &ops::Matmul, &ops::Softmax, &ops::Tile}) {
    auto found = llvm::find_if(function.body(),
                               [&](const Op &op) { return op.is(*def); });
    if (found == function.body().end())
      return;
    last = &*found;
  }
  report(last->range(),
         "the program has `split`, `matmul`, `softmax` and `tile`");
}
constinit const Rule rules::SplitMatmulSoftmaxTile = {
    .id = "split-matmul-softmax-tile",
    .family = graphFamily,
    .summary = "a program does not have all of `split`, `matmul`, `softmax` "
               "and `tile`",
    .chips = {Chip::M3},
    .saidBy = &rules::NoTile,
    .source = "ironmill (M3 Pro)",
    .date = "2026-11",
    .advice = "concatenate instead of `tile`",
    .danger = "see `no-tile`",
    .ofFunction = splitMatmulSoftmaxTile,
};

//===----------------------------------------------------------------------===//
// After reductions
//===----------------------------------------------------------------------===//

static Verdict rootOfReduction(const Op &op, const Target &target) {
  if (!isOneOf(op, {&ops::Rsqrt, &ops::Sqrt}))
    return {};
  const Op *reduction = op.operand(0)->definingOp();
  if (!reduction || !isReduction(*reduction))
    return {};
  return broken("`{0}` of `{1}`", op.def().name, reduction->def().name);
}
constinit const Rule rules::RootOfReduction = {
    .id = "root-of-reduction",
    .family = graphFamily,
    .summary =
        "`rsqrt` and `sqrt` are not applied to the result of a reduction",
    .chips = {Chip::M3, Chip::M4},
    .source = "rustane (M4 Max), Espresso (M3 Max)",
    .date = "2026-11",
    .advice = "use `pow` with -0.5 or 0.5",
    .rewrite = Rewrite::RootToPow,
    .ofOp = rootOfReduction,
};

static Verdict reductionTimesZero(const Op &op, const Target &target) {
  if (!op.is(ops::Mul))
    return {};
  for (unsigned slot : {0u, 1u}) {
    const Op *reduction = op.operand(slot)->definingOp();
    if (reduction && isReduction(*reduction) &&
        scalarConstant(op.operand(1 - slot)) == 0.0)
      return broken("`mul` of `{0}` by 0", reduction->def().name);
  }
  return {};
}
constinit const Rule rules::ReductionTimesZero = {
    .id = "reduction-times-zero",
    .family = graphFamily,
    .summary = "the result of a reduction is not multiplied by 0",
    .source = "ANEForge",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "subtract the reduction from itself",
    .rewrite = Rewrite::ZeroBySub,
    .ofOp = reductionTimesZero,
};

static bool isNonlinearity(const Op &op) {
  return isOneOf(op, {&ops::Sigmoid, &ops::Tanh, &ops::Relu, &ops::Gelu,
                      &ops::Silu, &ops::Exp, &ops::Erf, &ops::Softplus});
}

static Verdict squareWidth(const Op &op, const Target &target) {
  if (!op.is(ops::Square) || extentFromEnd(op.result()->type, 0) % 128 <= 64)
    return {};
  const Op *from = op.operand(0)->definingOp();
  bool follows = from && isNonlinearity(*from);
  for (const Operand *use = op.result()->firstUse(); use; use = use->nextUse())
    follows |= use->owner() && isNonlinearity(*use->owner());
  if (!follows)
    return {};
  return broken("`square`, {0} wide, beside a nonlinearity",
                extentFromEnd(op.result()->type, 0));
}
constinit const Rule rules::SquareWidth = {
    .id = "square-width",
    .family = graphFamily,
    .summary = "`square` is not used next to a nonlinearity when width mod 128 "
               "is greater than 64",
    .source = "ANEForge (M1 to M5)",
    .date = "2026-11",
    .advice = "multiply the value by itself",
    .rewrite = Rewrite::SquareToMul,
    .ofOp = squareWidth,
};

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

/// Whether a constant has different elements.
static bool varies(const Value *value) {
  const Op *op = value ? value->definingOp() : nullptr;
  if (!op)
    return value != nullptr;
  if (!op->is(ops::Const))
    return true;
  const Constant &constant = *op->constant(param::val);
  for (int64_t i = 1; i < constant.numElements(); ++i)
    if (constant.doubleAt(i) != constant.doubleAt(0))
      return true;
  return false;
}

static int64_t normalizedElements(const Op &layerNorm) {
  int64_t elements = 1;
  for (int64_t axis : layerNorm.get(param::axes))
    elements *=
        layerNorm.operand(0)
            ->type
            .shape[axis < 0 ? axis + layerNorm.operand(0)->type.rank() : axis];
  return elements;
}

static Verdict layerNormAffine(const Op &op, const Target &target) {
  if (!op.is(ops::LayerNorm) ||
      !(op.operand(param::gamma) || op.operand(param::betaValue)))
    return {};
  return broken("`layer_norm` with `gamma` or `beta`");
}
constinit const Rule rules::LayerNormAffine = {
    .id = "layer-norm-affine",
    .family = graphFamily,
    .summary = "`layer_norm` has neither `gamma` nor `beta`",
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "ane-linux-experiments (M1)",
    .date = "2026-11",
    .conflict = "ironmill runs them on M3 Pro",
    .advice = "multiply and add after `layer_norm`",
    .rewrite = Rewrite::SplitAffine,
    .ofOp = layerNormAffine,
};

static Verdict layerNormOneAffine(const Op &op, const Target &target) {
  if (!op.is(ops::LayerNorm) || normalizedElements(op) < 1024 ||
      varies(op.operand(param::gamma)) == varies(op.operand(param::betaValue)))
    return {};
  return broken("`layer_norm` over {0} elements with one of `gamma` and "
                "`beta` uniform",
                normalizedElements(op));
}
constinit const Rule rules::LayerNormOneAffine = {
    .id = "layer-norm-one-affine",
    .family = graphFamily,
    .summary = "for 1024 or more elements, `gamma` and `beta` of `layer_norm` "
               "either both vary or are both uniform",
    .chips = {Chip::M1, Chip::M2},
    .source = "ANEForge #149 and #162 (M1, M2)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "normalize over the last axis, then multiply and add",
    .rewrite = Rewrite::SplitAffine,
    .ofOp = layerNormOneAffine,
};

static Verdict layerNormWide(const Op &op, const Target &target) {
  if (!op.is(ops::LayerNorm) || normalizedElements(op) < 10240 ||
      !varies(op.operand(param::gamma)) ||
      !varies(op.operand(param::betaValue)))
    return {};
  return broken("`layer_norm` over {0} elements with `gamma` and `beta`",
                normalizedElements(op));
}
constinit const Rule rules::LayerNormWide = {
    .id = "layer-norm-wide",
    .family = graphFamily,
    .summary = "for 10240 or more elements, `layer_norm` does not have both "
               "`gamma` and `beta`",
    .chips = {Chip::M5},
    .source = "ANEForge #201 (M5): fails at run time",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "normalize over the last axis, then multiply and add",
    .rewrite = Rewrite::SplitAffine,
    .ofOp = layerNormWide,
};

//===----------------------------------------------------------------------===//
// Moving
//===----------------------------------------------------------------------===//

/// Where a slice starts along the last axis, if that is constant.
static std::optional<int64_t> lastBegin(const Op &op) {
  if (!isOneOf(op, {&ops::SliceByIndex, &ops::SliceBySize}) ||
      !op.constant(param::begin))
    return std::nullopt;
  if (op.is(ops::SliceByIndex))
    if (const Constant *mask = op.constant(param::beginMask))
      if (mask->numElements() != 0 &&
          mask->doubleAt(mask->numElements() - 1) != 0)
        return 0;
  Shape begin = op.get(param::begin);
  return begin.empty() ? 0 : begin.back();
}

static Verdict lastAxisSlice(const Op &op, const Target &target) {
  if (lastBegin(op).value_or(0) == 0)
    return {};
  return broken("a slice that begins at {0} of the last axis", *lastBegin(op));
}
constinit const Rule rules::SliceLastAxis = {
    .id = "slice-last-axis",
    .family = graphFamily,
    .summary = "slices of the last axis start at 0; others clamp values to "
               "[-4094, 4094]",
    .chips = {Chip::M1, Chip::M2},
    .impact = Impact::Warning,
    .source = "ANEForge (M1, M2)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict =
        "kernels with packed weights have such slices; their values are small",
    .advice = "if values can be that large, first reshape so that the slice is "
              "of another axis",
    .rewrite = Rewrite::SliceOfBlocks,
    .rewriteWhen = RewriteWhen::Chosen,
    .ofOp = lastAxisSlice,
};

static Verdict widthMovement(const Op &op, const Target &target) {
  bool isSlice = isOneOf(op, {&ops::SliceByIndex, &ops::SliceBySize}) &&
                 op.operand(0)->type.rank() > 0 &&
                 extentFromEnd(op.operand(0)->type, 0) !=
                     extentFromEnd(op.result()->type, 0);
  bool isConcat =
      op.is(ops::Concat) && isLastAxis(op.get(param::axis), op.operand(0u));
  if (!isSlice && !isConcat)
    return {};
  return broken("`{0}` along the last axis", op.def().name);
}
constinit const Rule rules::WidthMovement = {
    .id = "width-movement",
    .family = graphFamily,
    .summary = "there are no slices and no `concat` along the last axis, as in "
               "rotary embeddings",
    .chips = {Chip::M3Ultra},
    .impact = Impact::Warning,
    .source = "rustane PR #9 (M3 Ultra): refused",
    .date = "2026-11",
    .conflict = "rustane slices packed weights this way on M4 Max",
    .advice = "multiply by a constant permutation matrix",
    .rewrite = Rewrite::MoveBlocks,
    .rewriteWhen = RewriteWhen::Chosen,
    .ofOp = widthMovement,
};

static void sliceOfInput(const Function &function, const Target &target,
                         ReportBreach report) {
  if (llvm::none_of(function.body(),
                    [](const Op &op) { return op.is(ops::Conv); }))
    return;
  for (const Op &op : function.body())
    if (op.is(ops::SliceByIndex) && !op.operand(0)->definingOp())
      report(op.range(), *broken("`slice_by_index` of the input `{0}`",
                                 op.operand(0)->name));
}
constinit const Rule rules::SliceOfInput = {
    .id = "slice-of-input",
    .family = graphFamily,
    .summary = "a program with convolutions does not slice inputs with "
               "`slice_by_index`",
    .chips = {Chip::M3},
    .macOS = {"15-"},
    .impact = Impact::Warning,
    .source = "Espresso (M3 Max): InvalidMILProgram",
    .date = "2026-11",
    .conflict = "this depends on the shape: ironmill and Orion slice inputs",
    .advice = "use `slice_by_size`",
    .ofFunction = sliceOfInput,
};

static Verdict batchBroadcast(const Op &op, const Target &target) {
  if (!op.is(ops::Mul) || op.result()->type.rank() != 4)
    return {};
  for (const Value *operand : op.operandValues())
    if (operand->type.rank() == 4 && operand->type.shape[0] == 1 &&
        op.result()->type.shape[0] > 1)
      return broken("`mul` broadcasts `{0}` along axis 0",
                    calledName(*operand));
  return {};
}
constinit const Rule rules::BatchBroadcast = {
    .id = "batch-broadcast",
    .family = graphFamily,
    .summary = "`mul` does not broadcast along axis 0",
    .chips = {Chip::M3},
    .macOS = {"26.3-"},
    .saidBy = &rules::NoTile,
    .impact = Impact::Warning,
    .source = "skyfallsin field guide (M3 Max)",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "the guide later blames `tile`; with `mul` alone its product "
                "is right",
    .advice = "concatenate copies first, or use `add`, which broadcasts",
    .rewrite = Rewrite::CopyBatch,
    .rewriteWhen = RewriteWhen::Chosen,
    .ofOp = batchBroadcast,
};
