//===- RequestFlags.h - what a request can ask for --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What a request to compile can ask for beyond its source and its output, by
/// the names of the flags. Rows of source formats and of outputs say which of
/// them change anything; others are refused.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_FORMATS_REQUESTFLAGS_H
#define ANEC_FORMATS_REQUESTFLAGS_H

#include "anec/Support/Words.h"
#include <initializer_list>

namespace anec {

ANEC_ENUM(RequestFlag,
          // Reading.
          (Define, "define"), (Shape, "shape"), (Fix, "fix"),
          (Function, "function"), (Part, "part"), (Kernel, "kernel"),
          (Weights, "weights"), (WeightMap, "weight-map"), (Init, "init"),
          // The chip.
          (Target, "target"), (Assume, "assume"), (OS, "os"),
          // Passes.
          (Passes, "passes"), (SkipPasses, "skip-passes"),
          (PrintAfter, "print-after"), (PassLimit, "pass-limit"),
          (Remarks, "remarks"), (VerifyNumerics, "verify-numerics"),
          (Precision, "precision"),
          // Models.
          (ForwardOnly, "forward-only"), (Fuse, "fuse"), (IO, "io"),
          (WeightMode, "weight-mode"), (Lora, "lora"), (Loss, "loss"),
          (TrainWeights, "train-weights"), (Decode, "decode"), (Cache, "cache"),
          (Context, "context"), (Batch, "batch"), (Block, "block"),
          (Prefill, "prefill"), (Ladder, "ladder"),
          // Weights as integers.
          (Quantize, "quantize"), (QuantizeSkip, "quantize-skip"),
          (QuantizeReport, "quantize-report"),
          (ActivationScales, "activation-scales"),
          (ActivationMargin, "activation-margin"), (Calibrate, "calibrate"),
          (CalibrateTokenizer, "calibrate-tokenizer"),
          (CalibrateTokens, "calibrate-tokens"),
          // Outputs.
          (Deployment, "deployment"), (Interface, "interface"),
          (Describe, "describe"), (MILVersion, "mil-version"),
          (Canonical, "canonical"), (Format, "format"))

/// A set of them.
class RequestFlags {
public:
  constexpr RequestFlags() = default;
  constexpr RequestFlags(std::initializer_list<RequestFlag> flags) {
    for (RequestFlag flag : flags)
      add(flag);
  }
  constexpr void add(RequestFlag flag) { bits |= bitOf(flag); }
  constexpr void remove(RequestFlag flag) { bits &= ~bitOf(flag); }
  constexpr bool has(RequestFlag flag) const { return bits & bitOf(flag); }
  constexpr RequestFlags operator|(RequestFlags other) const {
    other.bits |= bits;
    return other;
  }
  constexpr RequestFlags operator&(RequestFlags other) const {
    other.bits &= bits;
    return other;
  }

private:
  static constexpr uint64_t bitOf(RequestFlag flag) {
    return uint64_t(1) << unsigned(flag);
  }
  uint64_t bits = 0;
};

/// Sets that rows have in common.
namespace requests {
using enum RequestFlag;
inline constexpr RequestFlags weights = {Weights, WeightMap, Init};
inline constexpr RequestFlags chip = {Target, Assume, OS};
/// Those that are about the passes that run.
inline constexpr RequestFlags passes = {SkipPasses, PrintAfter, PassLimit,
                                        Remarks, VerifyNumerics};
/// How a model becomes kernels, and these a package.
inline constexpr RequestFlags models = {ForwardOnly, Fuse, IO, WeightMode,
                                        Lora};
inline constexpr RequestFlags decoding = {Decode, Context, Batch,
                                          Block,  Prefill, Ladder};
/// The programs of `decoding` that keep their caches as states.
inline constexpr RequestFlags states = {Decode, Cache, Context, Block, Prefill};
inline constexpr RequestFlags objective = {Loss, TrainWeights};
inline constexpr RequestFlags quantizing = {
    Quantize,         QuantizeSkip, QuantizeReport,     ActivationScales,
    ActivationMargin, Calibrate,    CalibrateTokenizer, CalibrateTokens};
inline constexpr RequestFlags coreML = {Deployment, Interface, Describe};
} // namespace requests

} // namespace anec

#endif // ANEC_FORMATS_REQUESTFLAGS_H
