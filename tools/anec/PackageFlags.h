//===- PackageFlags.h - the flags of models ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_PACKAGEFLAGS_H
#define ANEC_TOOLS_ANEC_PACKAGEFLAGS_H

#include "../ChoiceFlag.h"
#include "../NumberFlag.h"
#include "anec/API/Compile.h"

namespace anec {

enum class CacheForm { IO, State };

/// What becomes of a model: which programs, and how their kernels are written.
struct PackageFlags {
  /// The error in the flags, for a source of `format`; empty when they are
  /// valid.
  std::string check(const SourceFormat &format, bool hasKernel) const;
  /// Adds them to `options`.
  void read(CompileOptions &options) const;

  ChoiceFlag<Fusion> fusion{
      "fuse", llvm::cl::desc("Fusion of a model's kernels:"),
      llvm::cl::init(Fusion::Default),
      llvm::cl::values(
          choiceOf(
              Fusion::Default,
              "fuse to kernels that others are known to have run (default)"),
          choiceOf(Fusion::Max, "fuse up to the limits of the target"))};
  ChoiceFlag<IOMode> io{
      "io", llvm::cl::desc("Inputs and outputs of a package's kernels:"),
      llvm::cl::init(IOMode::Packed),
      llvm::cl::values(
          choiceOf(IOMode::Packed, "one of each (default)"),
          choiceOf(
              IOMode::Separate,
              "one for each tensor, with names that sort in their order"))};
  ChoiceFlag<WeightMode> weightMode{
      "weight-mode", llvm::cl::desc("Weights of a package's kernels:"),
      llvm::cl::init(WeightMode::Packed),
      llvm::cl::values(
          choiceOf(WeightMode::Packed,
                   "weights are inputs that the host passes (default)"),
          choiceOf(WeightMode::Baked,
                   "weights are constants, with a weight file for each layer "
                   "(default with --forward-only or --decode, and weight "
                   "values)"))};
  llvm::cl::opt<std::string> lora{
      "lora", llvm::cl::value_desc("rank=N,alpha=NUMBER,targets=NAME:NAME"),
      llvm::cl::desc("Add low-rank adapters to the matrices of these names, "
                     "and freeze all other weights")};
  llvm::cl::opt<std::string> loss{
      "loss", llvm::cl::value_desc("output|mse|cross-entropy[:AXIS]"),
      llvm::cl::desc("Train a program that others wrote, .onnx, .pt2, Core ML "
                     "or MIL: its first output is the loss, or is compared "
                     "with an input `target` (docs/use/training.md)")};
  llvm::cl::list<std::string> trainWeights{
      "train-weights", llvm::cl::value_desc("PATTERN"),
      llvm::cl::desc("The weights that are trained with --loss, by the names "
                     "in the source, with * and ?; repeatable (default: all)")};
  llvm::cl::opt<bool> forwardOnly{
      "forward-only",
      llvm::cl::desc("Write a package without the backward and training step")};

  llvm::cl::opt<bool> decode{
      "decode",
      llvm::cl::desc("Write a package of programs that prefill and decode "
                     "texts, with cached keys and values")};
  ChoiceFlag<CacheForm> cache{
      "cache", llvm::cl::desc("Caches of the programs of --decode:"),
      llvm::cl::init(CacheForm::IO),
      llvm::cl::values(
          clEnumValN(CacheForm::IO, "io",
                     "inputs and outputs of kernels, in a package, whose "
                     "session keeps them (default)"),
          clEnumValN(CacheForm::State, "state",
                     "states of a whole model, in a Core ML package or MIL"))};
  WholeFlag<int64_t> context{
      "context", llvm::cl::value_desc("N"),
      llvm::cl::desc("Positions of a text with --decode (default: those of the "
                     "model)")};
  WholeFlag<int64_t> batch{
      "batch", llvm::cl::value_desc("N"), llvm::cl::init(1),
      llvm::cl::desc("Texts that a program of --decode reads at once (default: "
                     "1)")};
  WholeListFlag<int64_t> blocks{
      "block", llvm::cl::value_desc("N,..."), llvm::cl::CommaSeparated,
      llvm::cl::desc("Positions that a program of --decode reads at once, with "
                     "logits for each (default: 1)")};
  WholeListFlag<int64_t> prefills{
      "prefill", llvm::cl::value_desc("N,..."), llvm::cl::CommaSeparated,
      llvm::cl::desc("Positions that a program of --decode reads at once, with "
                     "logits for one of them (default: 64, in a context that "
                     "has them; 1 for none)")};
  WholeListFlag<int64_t> ladder{
      "ladder", llvm::cl::value_desc("N,..."), llvm::cl::CommaSeparated,
      llvm::cl::desc("Cached positions of the programs of --decode (default: "
                     "256 and its doubles below --context)")};
};

} // namespace anec

#endif // ANEC_TOOLS_ANEC_PACKAGEFLAGS_H
