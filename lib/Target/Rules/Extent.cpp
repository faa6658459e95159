//===- Extent.cpp - rules about sizes -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predicates.h"
#include "anec/Ops/Report.h"
#include "lib/IR/Names.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Pool.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Target/Chip.h"

using namespace anec;

static constexpr llvm::StringLiteral extentFamily = "extents";

/// Calls `judge` for each value: parameters and results of ops.
static void eachValue(const Function &function,
                      llvm::function_ref<Verdict(const Value &)> judge,
                      ReportBreach report) {
  for (const auto &param : function.parameters())
    if (Verdict what = judge(*param))
      report(param->range(), *what);
  for (const Op &op : function.body())
    for (const Value *result : op.resultValues())
      if (Verdict what = judge(*result))
        report(result->range(), *what);
}

//===----------------------------------------------------------------------===//
// Any value
//===----------------------------------------------------------------------===//

/// Whether only ops that unpack weights read `value`: the palettes of a filter
/// have two axes more than the filter, which is what the engine reads.
static bool isPartOfWeight(const Value &value) {
  for (const Operand *use = value.firstUse(); use; use = use->nextUse())
    if (!use->owner() || !use->owner()->def().has(trait::Constexpr))
      return false;
  return value.hasUses();
}

static void rankLimit(const Function &function, const Target &target,
                      ReportBreach report) {
  eachValue(
      function,
      [&](const Value &value) -> Verdict {
        if (value.type.rank() <= target.limits.rank || isPartOfWeight(value))
          return {};
        return broken("`{0}` has rank {1}; {2} is the most", displayName(value),
                      value.type.rank(), target.limits.rank.value);
      },
      report);
}
constinit const Rule rules::RankLimit = {
    .id = "rank-limit",
    .family = extentFamily,
    .summary = "values have a rank of at most 5",
    .ofCoreML = true,
    .source = "ANEForge, coremltools",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "merge axes with `reshape`, as `merge-axes` does",
    .ofFunction = rankLimit,
};

static void channelLimit(const Function &function, const Target &target,
                         ReportBreach report) {
  eachValue(
      function,
      [&](const Value &value) -> Verdict {
        int64_t limit = target.limits.channels;
        if (value.type.rank() != 4 || value.type.shape[1] <= limit)
          return {};
        return broken("`{0}` has {1} channels; {2} is the most",
                      displayName(value), value.type.shape[1], limit);
      },
      report);
}
constinit const Rule rules::ChannelLimit = {
    .id = "channel-limit",
    .family = extentFamily,
    .summary = "values have at most 65536 channels",
    .source = "ANEForge (A14 and A16)",
    .date = "2026-11",
    .advice = "split along the channels",
    .ofFunction = channelLimit,
};

static void spatialLimit(const Function &function, const Target &target,
                         ReportBreach report) {
  eachValue(
      function,
      [&](const Value &value) -> Verdict {
        const Op *op = value.definingOp();
        if (op && (op->is(ops::Const) || op->is(ops::Weight) ||
                   op->def().has(trait::Constexpr)))
          return {};
        int64_t limit = target.limits.spatial;
        for (unsigned fromEnd : {0u, 1u}) {
          // The first axis of a rank-2 value becomes the channel axis.
          if (value.type.rank() <= fromEnd + (fromEnd ? 2 : 0))
            continue;
          int64_t extent = extentFromEnd(value.type, fromEnd);
          if (extent > limit)
            return broken("`{0}` is {1} {2}; {3} is the most",
                          displayName(value), extent, fromEnd ? "high" : "wide",
                          limit);
        }
        return {};
      },
      report);
}
constinit const Rule rules::SpatialLimit = {
    .id = "spatial-limit",
    .family = extentFamily,
    .summary = "width and height are at most 16384, and 65536 from M4 on",
    .source = "ANEForge (M1 to M5), ironmill, libane, mobius #61",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "move the extent to the channels, or split the value",
    .ofFunction = spatialLimit,
};

static void opLimit(const Function &function, const Target &target,
                    ReportBreach report) {
  unsigned limit = target.limits.opsPerProgram;
  const Op *end = endOfChain(function, limit, [](const Op &op) {
    return !op.is(ops::Const) && !op.is(ops::Weight) &&
           !op.def().has(trait::Constexpr);
  });
  if (end)
    report(end->range(), *broken("this is op {0} of a chain", limit + 1));
}
constinit const Rule rules::OpLimit = {
    .id = "op-limit",
    .family = extentFamily,
    .summary = "a chain of ops, each using the one before, has at most 382",
    .chips = {Chip::M3, Chip::M3Ultra, Chip::M4, Chip::M5, Chip::M6},
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "maderix/ANE (M4): 383 chained convolutions overflow the "
              "compiler's stack; microarchitecture study (M6): 387",
    .date = "2026-11",
    .conflict = "the study ran 512 ops on M4, and compiled as many for one of "
                "the M6's engines (h18); 73728 ops in 8192 blocks compile for "
                "M1 and M2 (mil-hwx-compiler)",
    .advice = "cut the program in two",
    .danger = "its program overflowed the compiler's stack",
    .ofFunction = opLimit,
};

/// Reports the weight that makes those of `function` take more than `limit`.
static void reportBeyond(const Function &function, uint64_t limit,
                         ReportBreach report) {
  uint64_t bytes = 0;
  for (const Op &op : function.body()) {
    if (!op.is(ops::Const) && !op.is(ops::Weight))
      continue;
    uint64_t before = bytes;
    bytes += op.result()->type.numBytes();
    if (before <= limit && bytes > limit)
      report(op.range(), *broken("with `{0}`, weights have {1} bytes",
                                 calledName(*op.result()), bytes));
  }
}
static void weightLimit(const Function &function, const Target &target,
                        ReportBreach report) {
  reportBeyond(function, target.limits.weightBytes, report);
}
constinit const Rule rules::WeightLimit = {
    .id = "weight-limit",
    .family = extentFamily,
    .summary = "the weights of a program take at most 2 GiB",
    .source = "coremltools PR 2593: the compiler's error; ANEForge",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "split the program, or pass weights as inputs",
    .danger = "its program has 2 GiB of weights",
    .ofFunction = weightLimit,
};

static void compiledWeights(const Function &function, const Target &target,
                            ReportBreach report) {
  reportBeyond(function, uint64_t(1) << 30, report);
}
constinit const Rule rules::CompiledWeights = {
    .id = "compiled-weights",
    .family = extentFamily,
    .summary = "the weights of a program take at most 1 GiB, or macOS 27 runs "
               "it on the processor without saying so",
    .macOS = {"27-"},
    .impact = Impact::Warning,
    .source = "eeane 2.1 (M2): 2 GiB before; stated by its package, not "
              "measured by others",
    .date = "2026-11",
    .advice = "split the program, or quantize the weights",
    .danger = "its program has 1 GiB of weights",
    .ofFunction = compiledWeights,
};

static Verdict concatWidth(const Op &op, const Target &target) {
  if (!op.is(ops::Concat))
    return {};
  const TensorType &type = op.result()->type;
  for (unsigned axis = 0; axis < type.rank(); ++axis)
    if (type.shape[axis] > target.limits.concatExtent)
      return broken("`concat` makes axis {0} {1} long", axis, type.shape[axis]);
  return {};
}
constinit const Rule rules::ConcatExtent = {
    .id = "concat-extent",
    .family = extentFamily,
    .summary = "the result of `concat` has no axis of 100000 or more elements",
    .source = "q38 (M5 Max), ANEForge: the compiler crashes at 100352",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "return several outputs",
    .danger = "its program crashed the compiler",
    .ofOp = concatWidth,
};

static Verdict transposeExtent(const Op &op, const Target &target) {
  if (op.is(ops::Transpose))
    for (int64_t extent : op.result()->type.shape)
      if (extent > target.limits.transposeExtent)
        return broken("`transpose` of an extent of {0}", extent);
  return {};
}
constinit const Rule rules::TransposeExtent = {
    .id = "transpose-extent",
    .family = extentFamily,
    .summary = "`transpose` has extents below 2^23 - 1",
    .source = "ANEForge (M1); 2^24 - 1 on later chips",
    .date = "2026-11",
    .advice = "split, or transpose on the host",
    .ofOp = transposeExtent,
};

static Verdict reduceExtent(const Op &op, const Target &target) {
  if (isReduction(op) && reducedElements(op) > target.limits.reducedElements)
    return broken("`{0}` over {1} elements", op.def().name,
                  reducedElements(op));
  return {};
}
constinit const Rule rules::ReduceExtent = {
    .id = "reduce-extent",
    .family = extentFamily,
    .summary = "reductions have at most 65536 elements",
    .source = "ANEForge",
    .date = "2026-11",
    .advice = "reduce in two steps",
    .rewrite = Rewrite::SplitReduce,
    .ofOp = reduceExtent,
};

static Verdict rank5Product(const Op &op, const Target &target) {
  if (!op.is(ops::Matmul))
    return {};
  for (const Value *operand : op.operandValues())
    if (operand->type.rank() >= 5 && producer(operand, ops::Transpose))
      return broken("`matmul` of a `transpose` of rank {0}",
                    operand->type.rank());
  return {};
}
constinit const Rule rules::TransposedRank5 = {
    .id = "transposed-rank-5",
    .family = extentFamily,
    .summary = "no operand of `matmul` is a `transpose` of rank 5",
    .source = "ANEForge",
    .date = "2026-11",
    .advice = "merge the leading axes with `reshape` first",
    .ofOp = rank5Product,
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Verdict convInputs(const Op &op, const Target &target) {
  if (!op.is(ops::Conv))
    return {};
  int64_t channels = convWeight(op).shape[1],
          limit = target.limits.convInputChannels;
  if (channels <= limit)
    return {};
  return broken("`conv` adds over {0} channels; {1} is the most", channels,
                limit);
}
constinit const Rule rules::ConvInputChannels = {
    .id = "conv-input-channels",
    .family = extentFamily,
    .summary = "a convolution has at most 16384 input channels",
    .source = "maderix/ANE (M4): 32000 fail; ironmill, libane: 16384",
    .date = "2026-11",
    .conflict = "no source gives the exact limit between 16384 and 32000",
    .advice = "split the input along the channels and add the results",
    .rewrite = Rewrite::SplitContraction,
    .ofOp = convInputs,
};

static Verdict convOutputs(const Op &op, const Target &target) {
  if (!op.is(ops::Conv))
    return {};
  int64_t channels = convWeight(op).shape[0],
          limit = target.limits.convOutputChannels;
  if (channels <= limit)
    return {};
  return broken("`conv` has {0} output channels; {1} is the most", channels,
                limit);
}
constinit const Rule rules::ConvOutputChannels = {
    .id = "conv-output-channels",
    .family = extentFamily,
    .summary = "a convolution has at most 16384 output channels (32000 on M4, "
               "62080 on M5)",
    .source = "ANEForge #181; maderix/ANE (M4): 32000 run; q38 (M5 Max): 62080 "
              "run, 124160 fail",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "split the weight along the outputs and concatenate the results",
    .rewrite = Rewrite::TileConv,
    .ofOp = convOutputs,
};

static Verdict matmulContraction(const Op &op, const Target &target) {
  if (!op.is(ops::Matmul))
    return {};
  int64_t limit = target.limits.matmulContraction;
  if (contraction(op) <= limit)
    return {};
  return broken("`matmul` adds over {0} elements; {1} is the most",
                contraction(op), limit);
}
constinit const Rule rules::MatmulContraction = {
    .id = "matmul-contraction",
    .family = extentFamily,
    .summary =
        "`matmul` contracts at most 16384 elements (32768 on M4, 65536 on M5)",
    .source = "rustane #13 (M3 Ultra): 17920 fail; ANEForge (M4): 32768 run, "
              "40000 fail",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice =
        "split both operands along the contracted axis and add the products",
    .rewrite = Rewrite::SplitContraction,
    .ofOp = matmulContraction,
};

static Verdict matmulRows128(const Op &op, const Target &target) {
  if (!op.is(ops::Matmul) || !isConstant(op.operand(param::y)) ||
      extentFromEnd(op.result()->type, 1) != 128 || contraction(op) != 8192)
    return {};
  return broken("`matmul` of 128 rows adds over 8192 elements");
}
constinit const Rule rules::MatmulRows128 = {
    .id = "matmul-rows-128",
    .family = extentFamily,
    .summary = "`matmul` of 128 rows with a constant does not contract 8192 "
               "elements",
    .chips = {Chip::M1, Chip::M2},
    .macOS = {"26.6-"},
    .source = "mil-hwx-compiler (M1, M2): refused with 2048, 4096 and 8192 "
              "columns; 1, 16, 32, 256 and 512 rows and other extents compile",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "pad or split the rows, or split both operands along the "
              "contracted axis and add the products",
    .ofOp = matmulRows128,
};

static Verdict matmulExtent(const Op &op, const Target &target) {
  if (!op.is(ops::Matmul))
    return {};
  int64_t limit = target.limits.matmulExtent;
  for (unsigned fromEnd : {0u, 1u}) {
    int64_t extent = extentFromEnd(op.result()->type, fromEnd);
    if (extent > limit)
      return broken("`matmul` has {0} {1}; {2} is the most", extent,
                    fromEnd ? "rows" : "columns", limit);
  }
  return {};
}
constinit const Rule rules::MatmulExtent = {
    .id = "matmul-extent",
    .family = extentFamily,
    .summary = "`matmul` has at most 16384 rows and columns (65536 from M4 on)",
    .source = "rustane #13 (M3 Ultra): 17920 fail; ANEForge",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "split an operand and concatenate the products",
    .rewrite = Rewrite::TileMatmul,
    .ofOp = matmulExtent,
};

static Verdict matmulInner32(const Op &op, const Target &target) {
  if (!op.is(ops::Matmul) || contraction(op) % 32 == 0)
    return {};
  return broken("`matmul` adds over {0} elements", contraction(op));
}
constinit const Rule rules::MatmulInner32 = {
    .id = "matmul-inner-32",
    .family = extentFamily,
    .summary = "the contracted extent of `matmul` is a multiple of 32",
    .chips = {Chip::M1},
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "maderix/ANE #47 (M1)",
    .date = "2026-03",
    .confidence = Confidence::Low,
    .conflict = "mil-hwx-compiler compiles others for M1",
    .advice = "pad both operands with zeros",
    .rewrite = Rewrite::PadContraction,
    .ofOp = matmulInner32,
};

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

static Verdict convKernelWidth(const Op &op, const Target &target) {
  if (!op.is(ops::Conv))
    return {};
  int64_t width = convWeight(op).shape.back(),
          limit = target.limits.convKernelWidth;
  if (width <= limit)
    return {};
  return broken("the kernel of `conv` is {0} wide; {1} is the most", width,
                limit);
}
constinit const Rule rules::ConvKernelWidth = {
    .id = "conv-kernel-width",
    .family = extentFamily,
    .summary = "kernels are at most 13 wide (15 from M4 on)",
    .source = "ANEForge (M1: 13, M5: 15)",
    .date = "2026-11",
    .conflict = "ironmill says 16 x 16, and the study 15 (M6)",
    .advice = "use `space_to_depth`, or add the results of two kernels",
    .ofOp = convKernelWidth,
};

static Verdict convKernelHeight(const Op &op, const Target &target) {
  if (!op.is(ops::Conv) || convWeight(op).rank() < 4)
    return {};
  int64_t height = convWeight(op).shape[2],
          limit = target.limits.convKernelHeight;
  if (height <= limit)
    return {};
  return broken("the kernel of `conv` is {0} high; {1} is the most", height,
                limit);
}
constinit const Rule rules::ConvKernelHeight = {
    .id = "conv-kernel-height",
    .family = extentFamily,
    .summary = "kernels are at most 31 high",
    .source = "microarchitecture study (M6)",
    .date = "2026-11",
    .conflict = "ANEForge found no limit on M5",
    .advice = "use `space_to_depth`, or add the results of two kernels",
    .ofOp = convKernelHeight,
};

static Verdict kernelCost(const Op &op, const Target &target) {
  if (!op.is(ops::Conv) || convWeight(op).rank() < 4)
    return {};
  llvm::ArrayRef<int64_t> shape = convWeight(op).shape;
  if (std::min(shape[2], shape[3]) <= 7)
    return {};
  return broken("the kernel of `conv` is {0} x {1}", shape[2], shape[3]);
}
constinit const Rule rules::KernelCompileTime = {
    .id = "kernel-compile-time",
    .family = extentFamily,
    .summary = "kernels larger than 7 x 7 compile slowly: 16 x 16 took 220 s "
               "and 11.7 GB",
    .macOS = {"27-"},
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::Performance,
    .source = "microarchitecture study (M4, M6)",
    .date = "2026-11",
    .advice = "use `space_to_depth`, or several smaller kernels",
    .danger = "a larger kernel took 220 s and 11.7 GB to compile",
    .ofOp = kernelCost,
};

/// The extents of a pooling window.
static Verdict poolWindow(const Op &op, const OpDef &def, int64_t limit) {
  if (op.is(def))
    for (int64_t extent : op.get(param::kernelSizes))
      if (extent > limit)
        return broken("the window of `{0}` is {1} long; {2} is the most",
                      def.name, extent, limit);
  return {};
}
constinit const Rule rules::MaxPoolWindow = {
    .id = "max-pool-window",
    .family = extentFamily,
    .summary = "windows of `max_pool` are at most 8 wide and high",
    .source = "ANEForge; on M4 9 x 1 runs and 1 x 9 does not",
    .date = "2026-11",
    .advice = "pool twice",
    .ofOp =
        [](const Op &op, const Target &target) {
          return poolWindow(op, ops::MaxPool, target.limits.maxPoolWindow);
        },
};
constinit const Rule rules::AvgPoolWindow = {
    .id = "avg-pool-window",
    .family = extentFamily,
    .summary = "windows of `avg_pool` are at most 29 wide and high (31 from M2 "
               "on)",
    .source = "ANEForge (M1: 29, later: 31)",
    .date = "2026-11",
    .advice = "pool twice",
    .ofOp =
        [](const Op &op, const Target &target) {
          return poolWindow(op, ops::AvgPool, target.limits.avgPoolWindow);
        },
};
