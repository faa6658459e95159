//===- PassManager.h - runs and checks passes -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PASSES_PASSMANAGER_H
#define ANEC_PASSES_PASSMANAGER_H

#include "anec/Passes/DecodePrograms.h"
#include "anec/Passes/ExampleRanges.h"
#include "anec/Passes/Pass.h"
#include "anec/Support/Words.h"
#include <functional>
#include <optional>

namespace anec {

/// The passes that lower a kernel or a layer from the tensor language to the
/// ops that the MIL printer accepts, in order.
llvm::ArrayRef<const PassDef *> defaultPipeline();

/// How far kernels of a model are fused.
/// - `Default`: as far as such kernels are known to run
/// - `Max`: up to the target's limits
ANEC_ENUM(Fusion, (Default, "default"), (Max, "max"))

struct ModelPipelineOptions {
  /// Look for repeated layers: the program does not say what its layers are.
  bool findLayers = false;
  /// Compile forward, loss and backward; otherwise only the forward.
  bool train = true;
  /// Compile the programs that prefill and decode instead of the forward.
  bool decode = false;
  Fusion fusion = Fusion::Default;
  /// Pass weights to kernels as inputs instead of compiling them into the
  /// kernels.
  bool packWeights = true;
};

/// The passes that give a program the forms that Core ML takes. They leave
/// others alone. With `countsFromEnd`, indices can be negative, as before
/// ios17.
std::vector<const PassDef *> coreMLPipeline(bool countsFromEnd);

/// The passes that transform a model into host functions and the kernels that
/// they call, in order. Each kernel is then compiled by the default pipeline.
std::vector<const PassDef *> modelPipeline(const ModelPipelineOptions &options);

/// The passes that make a kernel of each entry of a model that is not trained,
/// in order: forwards or, with `decode`, the programs that read blocks. The
/// default pipeline compiles the kernels.
std::vector<const PassDef *> wholeModelPipeline(bool decode);

/// Reports that there is no pass `name`, with the nearest of the passes and of
/// `others`, the names that can stand beside those of passes.
void reportUnknownPass(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> others,
                       Diagnostics &diags);

/// Parses `a,b,c` and appends the passes. Reports unknown names and returns
/// false.
[[nodiscard]] bool parsePipeline(llvm::StringRef text,
                                 std::vector<const PassDef *> &passes,
                                 Diagnostics &diags);
/// The same, with `default` for the pipeline of a kernel and `model` for the
/// pipeline of a model.
[[nodiscard]] bool parsePipeline(llvm::StringRef text,
                                 const ModelPipelineOptions &model,
                                 std::vector<const PassDef *> &passes,
                                 Diagnostics &diags);

struct PassManagerOptions {
  std::vector<const PassDef *> passes;
  /// The chip to compile for; never null.
  const Target *target = &genericTarget();
  /// Owns `target` where that is what was measured of a machine.
  std::shared_ptr<const Target> measuredTarget = nullptr;
  /// The user chose the target: inputs and outputs are also changed to fit it,
  /// and broken rules that remain are errors.
  bool targetChosen = false;
  /// The user's assumptions about the target's rules.
  Assumptions assumptions;
  /// The programs that `incremental` derives.
  DecodePrograms decode;
  /// Whether ops of fp16 can have other constants in fp32: Core ML takes them
  /// from ios17 on. For `narrow`.
  bool takesMixedTypes = true;
  /// What the values are for example inputs, for `narrow`; may be null.
  std::shared_ptr<const ExampleRanges> examples = nullptr;
  /// Report the reasons for the passes' decisions, as remarks.
  bool remarks = false;
  /// Check well-formedness after every pass.
  bool verifyEach = true;
  /// Evaluate every function before and after each pass, in double precision
  /// on random inputs, and report the first pass whose results move by more
  /// than its tolerance.
  bool verifyNumerics = false;
  /// Run at most this number of passes, to find a faulty one by bisection. A
  /// pass counts once for each function it runs on; a pass on the module counts
  /// once.
  std::optional<unsigned> limit;
  /// Called after each pass, for the function it ran on, or after a pass on the
  /// module for every function.
  std::function<void(const PassDef &, const Function &)> afterPass;
};

/// The effect of one pass of a run; reports are in pipeline order.
struct PassReport {
  const PassDef *pass;
  unsigned runs = 0;
  unsigned changes = 0;
  double seconds = 0;
  std::array<uint64_t, maxStats> counts = {};
};

/// Runs the passes on every kernel and layer of `module`, each pass on all
/// functions before the next; passes with `runOnModule` or `runOnOpened` run on
/// the module.
/// Returns false after an error was reported; the module must not be used then.
[[nodiscard]] bool runPasses(Module &module, const PassManagerOptions &options,
                             Diagnostics &diags,
                             std::vector<PassReport> *reports = nullptr);

} // namespace anec

#endif // ANEC_PASSES_PASSMANAGER_H
