//===- Cost.cpp - rules about performance ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predicates.h"
#include "anec/Ops/Report.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Target/Chip.h"

using namespace anec;

static constexpr llvm::StringLiteral costFamily = "cost";

static Verdict constantMatmul(const Op &op, const Target &target) {
  if (!op.is(ops::Matmul) ||
      !(isConstant(op.operand(0u)) || isConstant(op.operand(1u))))
    return {};
  return broken("`matmul` by a constant");
}
constinit const Rule rules::ConstantMatmul = {
    .id = "constant-matmul",
    .family = costFamily,
    .summary = "products with weights are convolutions, which take a third of "
               "the time",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::Performance,
    .source = "maderix/ANE (M4), ironmill (M3 Pro)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "luengnat/rustane says that constants from files are rejected "
                "in `matmul`; ANEForge runs them",
    .advice = "use a 1x1 convolution",
    .rewrite = Rewrite::MatmulToConv,
    .ofOp = constantMatmul,
};

static void elementwiseChain(const Function &function, const Target &target,
                             ReportBreach report) {
  constexpr unsigned most = 128;
  const Op *end = endOfChain(function, most, [](const Op &op) {
    return op.def().has(trait::Elementwise);
  });
  if (end)
    report(end->range(),
           *broken("this is op {0} of a chain of elementwise ops", most + 1));
}
constinit const Rule rules::ElementwiseChain = {
    .id = "elementwise-chain",
    .family = costFamily,
    .summary = "a chain of elementwise ops has at most 128: compiling it for "
               "two engines takes a time that grows with the power 3.5 of its "
               "length, and 512 took 179 s",
    .chips = {Chip::M6},
    .impact = Impact::Performance,
    .source = "microarchitecture study (M6); 0.39 s for one engine (h18)",
    .date = "2026-11",
    .advice = "cut the program in two",
    .unprobed = "what it costs is compiling, which is not timed",
    .ofFunction = elementwiseChain,
};

static Verdict transposedY(const Op &op, const Target &target) {
  if (!op.is(ops::Matmul) || !op.get(param::transposeY) ||
      op.operand(1u)->definingOp())
    return {};
  return broken("`matmul` by the input `{0}`, transposed",
                op.operand(1u)->name);
}
constinit const Rule rules::TransposedInput = {
    .id = "transposed-input",
    .family = costFamily,
    .summary = "`matmul` does not transpose an input that is its second "
               "operand; compiling it takes 30 s, and it runs slowly",
    .chips = {Chip::M3Ultra},
    .impact = Impact::Performance,
    .source = "H3 (M3 Ultra)",
    .date = "2026-11",
    .advice = "pass the input transposed, or transpose `x`",
    .ofOp = transposedY,
};

static void shallow(const Function &function, const Target &target,
                    ReportBreach report) {
  constexpr unsigned enough = 16;
  unsigned ops = makeReport(function).ops;
  if (ops && ops < enough)
    report(function.range,
           *broken("the program has {0} {1}", ops, ops == 1 ? "op" : "ops"));
}
constinit const Rule rules::ShallowProgram = {
    .id = "shallow-program",
    .family = costFamily,
    .summary = "a program has at least 16 ops: one op reaches 30 % of the "
               "peak, 16 to 64 ops reach 94 %",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::Performance,
    .source = "maderix/ANE (M4), rustane (M4 Max)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "combine consecutive kernels into one program",
    .rewrite = Rewrite::FormKernels,
    .ofFunction = shallow,
};

static void workingSet(const Function &function, const Target &target,
                       ReportBreach report) {
  FunctionReport numbers = makeReport(function);
  if (numbers.activationPeak > target.limits.sramBytes)
    report(numbers.peakOp ? numbers.peakOp->range() : function.range,
           *broken("values take {0} bytes here; the chip has {1}",
                   numbers.activationPeak, target.limits.sramBytes.value));
}
constinit const Rule rules::WorkingSet = {
    .id = "working-set",
    .family = costFamily,
    .summary = "values that are live at the same time fit in on-chip memory; "
               "beyond it, a third of the speed is lost",
    .impact = Impact::Performance,
    .source = "maderix/ANE (M4): 32 MB; libane: 8 to 48 MB by chip",
    .date = "2026-11",
    .conflict = "the study reports 2 MiB per operand (M6), and Bryngelson a "
                "knee at 4.72 MB (M5)",
    .advice = "split the program, or process fewer positions at a time",
    .ofFunction = workingSet,
};

static Verdict notch(const Op &op, const Target &target) {
  constexpr int64_t cores = 16, mebibyte = 1 << 20;
  if (!op.is(ops::Conv))
    return {};
  const TensorType &weight = convWeight(op);
  int64_t bytes = weight.shape[0] * weight.shape[1] * 2;
  if (bytes % (cores * mebibyte) != 0)
    return {};
  return broken("`conv` reads {0} MiB for each of 16 cores",
                bytes / cores / mebibyte);
}
constinit const Rule rules::BandwidthNotch = {
    .id = "bandwidth-notch",
    .family = costFamily,
    .summary = "the weight of a convolution is not a multiple of 1 MiB for "
               "each of 16 cores; such weights stream at half the rate",
    .chips = {Chip::M3, Chip::M3Ultra, Chip::M4},
    .impact = Impact::Performance,
    .source = "q38 and oMLX: M4 23.7 instead of 43.5 GB/s, M3 17 to 19 instead "
              "of 45 to 60",
    .date = "2026-11",
    .advice = "split the convolution",
    .ofOp = notch,
};

static Verdict wideContraction(const Op &op, const Target &target) {
  if (!op.is(ops::Conv) || convWeight(op).shape[1] < 5120)
    return {};
  return broken("`conv` has {0} input channels", convWeight(op).shape[1]);
}
constinit const Rule rules::WideChannels = {
    .id = "wide-channels",
    .family = costFamily,
    .summary = "convolutions have fewer than 5120 input channels; wider layers "
               "are 4.7 times slower",
    .chips = {Chip::M4, Chip::M5},
    .impact = Impact::Performance,
    .source = "rustane (M4 Max, M5 Max)",
    .date = "2026-11",
    .advice = "limit the widths of the model to 4096, or split the convolution",
    .ofOp = wideContraction,
};

static Verdict longReduction(const Op &op, const Target &target) {
  if (!isReduction(op) || reducedElements(op) < target.limits.longReduction)
    return {};
  return broken("`{0}` over {1} elements", op.def().name, reducedElements(op));
}
constinit const Rule rules::LongReduction = {
    .id = "long-reduction",
    .family = costFamily,
    .summary = "reductions of 384 or more elements (192 before M3) include a "
               "transposition",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::Performance,
    .source = "ANEForge (M1 to M5)",
    .date = "2026-11",
    .advice = "multiply by a vector of ones",
    .ofOp = longReduction,
};

static void channelVector(const Function &function, const Target &target,
                          ReportBreach report) {
  for (const auto &param : function.parameters()) {
    const TensorType &type = param->type;
    if (type.rank() == 4 && type.shape[1] >= 64 && type.shape[2] == 1 &&
        type.shape[3] == 1)
      report(param->range(),
             *broken("input `{0}` is a vector along the channels: {1} bytes "
                     "instead of {2}",
                     param->name, type.shape[1] * target.surface.rowAlignment,
                     type.numBytes()));
  }
}
constinit const Rule rules::ChannelVector = {
    .id = "channel-vector",
    .family = costFamily,
    .summary = "vectors extend along the width, because each channel takes a "
               "row of 64 bytes",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::Performance,
    .source = "ironmill (M3 Pro: PlaneStride 64), Orion",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "declare [1, 1, 1, n] and `transpose`",
    .ofFunction = channelVector,
};
