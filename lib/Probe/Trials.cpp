//===- Trials.cpp - programs that show hazards of the engine --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Trials.h"
#include "llvm/Support/ErrorHandling.h"

using namespace anec;

static constexpr Hazard hazards[] = {
    {"basics", "the simplest programs do not run, or are wrong"},
    {"constants", "scalar constants are not taken or misread"},
    {"run-time-vector", "a vector that scales channels at run time is misread"},
    {"symbol-order", "inputs or outputs are bound in the wrong order",
     "loading-awesome/MiniMax-H3-Swift, M3 Ultra; True2456/qwen-ane, M5 Max"},
    {"row-padding", "rows that do not fill 64 bytes are misread or refused",
     "spokvulcan/lil-bro, M3 Max; True2456/qwen-ane, M5 Max"},
    {"narrow-width", "widths below 32 give zeros or garbage",
     "True2456/qwen-ane, M5 Max, and against Epistates/pmetal"},
    {"odd-channels",
     "channels that are not a multiple of 32 are refused or wrong",
     "True2456/qwen-ane, M5 Max"},
    {"same-operand", "one tensor as both operands of a product is refused",
     "True2456/qwen-ane, M5 Max"},
    {"unaligned-slice", "a slice of the last axis takes the wrong elements",
     "sbryngelson/ANEForge, M1 and M2"},
    {"batch-broadcast", "a product broadcast along the batch axis is wrong",
     "skyfallsin/apple-neural-engine-field-guide, M3 Max, which doubts it "
     "later"},
    {"small-operands", "products below 2^-17 count as zero",
     "loading-awesome/MiniMax-H3-Swift, M3 Ultra; True2456/qwen-ane, M5 Max"},
    {"large-arguments", "activations of large arguments are wrong",
     "True2456/qwen-ane, M5 Max"},
    {"norms", "normalization is inaccurate or refused",
     "True2456/qwen-ane, M5 Max"},
    {"attention", "attention is inaccurate or refused",
     "loading-awesome/MiniMax-H3-Swift, M3 Ultra"},
    {"long-programs", "a program of many ops is refused or wrong"},
    {"tile", "`tile` is refused or wrong", "True2456/qwen-ane, M5 Max"},
    {"after-tile", "after a program with `tile`, other programs are wrong",
     "skyfallsin/apple-neural-engine-field-guide, M3 Max"},
    {"idle", "work that arrives while the engine goes to sleep is lost",
     "loading-awesome/MiniMax-H3-Swift, M3 Ultra"},
    {"decay", "runs become slower with their number",
     "Epistates/pmetal; ncdrone/rustane, dual die"},
    {"training", "a step of training gives another loss or other weights",
     "Epistates/pmetal"},
};

// A text has a text as its baseline, and what is compiled something compiled:
// a chip can refuse the version of texts that all have.
static constexpr Trial trials[] = {
    {.name = "add", .hazard = "basics"},
    {.name = "conv", .hazard = "basics"},
    {.name = "feed-forward", .hazard = "basics"},
    {.name = "two-inputs", .hazard = "basics", .baseline = "add"},
    {.name = "matmul", .hazard = "basics", .baseline = "two-inputs"},
    {.name = "scalar-constants", .hazard = "constants", .baseline = "add"},
    {.name = "run-time-vector",
     .hazard = "run-time-vector",
     .baseline = "two-inputs"},
    {.name = "input-order",
     .hazard = "symbol-order",
     .baseline = "two-inputs",
     .rule = "io-input-order"},
    {.name = "equal-outputs",
     .hazard = "symbol-order",
     .baseline = "add",
     .rule = "io-output-order"},
    {.name = "different-outputs",
     .hazard = "symbol-order",
     .baseline = "conv",
     .rule = "io-output-order"},
    {.name = "width-131", .hazard = "row-padding", .baseline = "conv"},
    {.name = "width-12",
     .hazard = "narrow-width",
     .baseline = "conv",
     .rule = "io-width-32"},
    {.name = "width-1",
     .hazard = "narrow-width",
     .baseline = "add",
     .rule = "io-width-32"},
    {.name = "conv-channels", .hazard = "odd-channels", .baseline = "conv"},
    {.name = "matmul-inner",
     .hazard = "odd-channels",
     .baseline = "matmul",
     .rule = "matmul-inner-32"},
    {.name = "same-operand", .hazard = "same-operand", .baseline = "matmul"},
    {.name = "unaligned-slice", .hazard = "unaligned-slice", .baseline = "add"},
    {.name = "batch-broadcast",
     .hazard = "batch-broadcast",
     .baseline = "two-inputs",
     .rule = "batch-broadcast"},
    // Sums of 512 positive products of about 2^-20, which fp16 can hold.
    {.name = "small-operands",
     .hazard = "small-operands",
     .baseline = "matmul",
     .setting = {.low = 0.0005, .high = 0.0015, .relative = 0.02}},
    {.name = "large-silu",
     .hazard = "large-arguments",
     .baseline = "add",
     .rule = "silu-table",
     .setting = {.low = -20, .high = 20, .absolute = 0.03}},
    {.name = "large-gelu",
     .hazard = "large-arguments",
     .baseline = "add",
     .rule = "gelu-table",
     .setting = {.low = -20, .high = 20, .absolute = 0.03}},
    {.name = "large-softplus",
     .hazard = "large-arguments",
     .baseline = "add",
     .rule = "softplus-range",
     .setting = {.low = -4, .high = 40, .absolute = 0.05}},
    {.name = "layer-norm",
     .hazard = "norms",
     .baseline = "add",
     .rule = "layer-norm-affine"},
    {.name = "rms-norm", .hazard = "norms", .baseline = "feed-forward"},
    {.name = "masked-softmax",
     .hazard = "attention",
     .baseline = "feed-forward"},
    // The input has the weights, too.
    {.name = "packed-attention",
     .hazard = "attention",
     .baseline = "feed-forward",
     .setting = {.low = -0.25, .high = 0.25, .relative = 0.02}},
    {.name = "attention-1024",
     .hazard = "attention",
     .baseline = "feed-forward"},
    {.name = "ops-64", .hazard = "long-programs", .baseline = "conv"},
    {.name = "many-runs",
     .hazard = "decay",
     .baseline = "conv",
     .kind = TrialKind::Many,
     .program = "conv"},
    {.name = "after-idle",
     .hazard = "idle",
     .baseline = "add",
     .kind = TrialKind::AfterIdle,
     .program = "add"},
    {.name = "training-step",
     .hazard = "training",
     .baseline = "feed-forward",
     .kind = TrialKind::Training},
    {.name = "tile", .hazard = "tile", .baseline = "add", .rule = "no-tile"},
    {.name = "after-tile",
     .hazard = "after-tile",
     .baseline = "conv",
     .rule = "no-tile",
     .program = "conv",
     .before = "tile"},
};

static constexpr TrialProgram programs[] = {
#include "TrialPrograms.inc"
};

llvm::ArrayRef<Hazard> anec::allHazards() { return hazards; }
llvm::ArrayRef<Trial> anec::allTrials() { return trials; }

const Trial *anec::findTrial(llvm::StringRef name) {
  for (const Trial &trial : trials)
    if (trial.name == name)
      return &trial;
  return nullptr;
}

const TrialProgram &anec::programOf(const Trial &trial) {
  llvm::StringRef name = trial.program.empty() ? trial.name : trial.program;
  for (const TrialProgram &program : programs)
    if (program.name == name)
      return program;
  llvm_unreachable("a trial without a program");
}
