//===- PassManager.h - runs passes and watches them ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PASSES_PASSMANAGER_H
#define ANEC_PASSES_PASSMANAGER_H

#include "anec/Passes/Pass.h"
#include <functional>
#include <optional>

namespace anec {

/// The passes that take a kernel or a layer from the tensor language to what
/// the MIL printer prints, in order.
llvm::ArrayRef<const PassDef *> defaultPipeline();

/// How far kernels of a model are made one.
enum class Fusion : uint8_t {
  Default, ///< as far as people have run such kernels
  Max,     ///< as far as the target's limits go
};

struct ModelPipelineOptions {
  /// Forward, loss and backward; without, the forward alone.
  bool train = true;
  Fusion fusion = Fusion::Default;
  /// Weights are inputs of kernels, rather than part of them.
  bool packWeights = true;
};

/// The passes that take a model to host functions and the kernels they call, in
/// order. Each kernel is then compiled by the default pipeline.
std::vector<const PassDef *> modelPipeline(const ModelPipelineOptions &options);

/// Turns `a,b,c` into passes; reports unknown names.
[[nodiscard]] bool parsePipeline(llvm::StringRef text,
                                 std::vector<const PassDef *> &passes,
                                 Diagnostics &diags);
/// The same, where `default` stands for the pipeline of a kernel and `model`
/// for that of a model.
[[nodiscard]] bool parsePipeline(llvm::StringRef text,
                                 const ModelPipelineOptions &model,
                                 std::vector<const PassDef *> &passes,
                                 Diagnostics &diags);

struct PassManagerOptions {
  std::vector<const PassDef *> passes;
  /// The chip that passes work for; never null.
  const Target *target = &genericTarget();
  /// The target was asked for, and is no default: inputs and outputs are made
  /// to fit it too, and what cannot be is an error.
  bool targetChosen = false;
  /// What the user knows better than the target's rules.
  Assumptions assumptions;
  /// Say why the passes decided as they did, as remarks.
  bool remarks = false;
  /// Check well-formedness after every pass.
  bool verifyEach = true;
  /// Evaluate every function before and after each pass, in double precision
  /// on random inputs, and report the first pass whose results move by more
  /// than its tolerance.
  bool verifyNumerics = false;
  /// Run no more than so many passes (each pass on each function counts, and a
  /// pass on the module once): the way to find a guilty one by bisection.
  std::optional<unsigned> limit;
  /// Called after each pass, for the function it ran on, or after a pass on the
  /// module for every function.
  std::function<void(const PassDef &, const Function &)> afterPass;
};

/// What a run did, by pass in pipeline order.
struct PassReport {
  const PassDef *pass;
  unsigned runs = 0;
  unsigned changes = 0;
  double seconds = 0;
  std::array<uint64_t, maxStats> counts = {};
};

/// Runs the passes over every kernel and layer of `module`, each pass over all
/// functions before the next; those with `runOnModule` over the module. False
/// when something was reported; the module is then not to be used.
[[nodiscard]] bool runPasses(Module &module, const PassManagerOptions &options,
                             Diagnostics &diags,
                             std::vector<PassReport> *reports = nullptr);

} // namespace anec

#endif // ANEC_PASSES_PASSMANAGER_H
