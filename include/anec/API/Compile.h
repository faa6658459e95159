//===- Compile.h - compiles kernels and models ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Compiles a kernel to a MIL program with its weights, and a model to a
/// package:
///
///   auto program = anec::compileFile("mlp.tdsl", options, diags);
///   auto package = anec::compileModelFile("llama.tdsl", options, "", diags);
///   if (!program || !package)
///     diags.print(llvm::errs());
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_API_COMPILE_H
#define ANEC_API_COMPILE_H

#include "anec/API/DeclaredShapes.h"
#include "anec/API/SourceShapes.h"
#include "anec/CoreML/Deployment.h"
#include "anec/Formats/Source.h"
#include "anec/MIL/Printer.h"
#include "anec/Package/ModelPackage.h"
#include "anec/Package/WeightBinding.h"
#include "anec/Passes/Adapters.h"
#include "anec/Passes/Objective.h"
#include "anec/Passes/PassManager.h"

namespace anec {

struct CoreMLWriteOptions;
struct WantedDescription;

/// What Core ML packages are written for; see CoreMLWriteOptions.
struct CoreMLOptions : CoreMLForm {
  /// The chip whose rules for Core ML the package keeps, and the rules that are
  /// left out.
  const Target *target = &genericTarget();
  Assumptions assumptions = {};
  /// What the package says of itself, and its images and class labels; null for
  /// what the source says. See readWantedDescription.
  std::shared_ptr<const WantedDescription> wanted = nullptr;
};

/// A request, of parts that are passed on whole: how the source is read, how a
/// model becomes kernels, and how these are compiled and written. Of the
/// latter, `passes` has the chip and the passes to run: for files and texts,
/// none means those of `kernelPipeline`; an empty `milVersion` that of the
/// chip, or that which a MIL program declares; and an unset `weightMode` that
/// weights are constants when the model is not trained and `weights` has
/// values.
struct CompileOptions : ReadOptions, ModelPipelineOptions, PackageOptions {
  /// The kernel or layer to compile; empty for the only one of the program.
  std::string kernel;
  CoreMLOptions coreML;
  /// FP16: fp32 values are computed in fp16 as `narrow` does it. FP32: as the
  /// source computes them. Unset: the same, except where build() writes a Core
  /// ML package of a source of training (Formats/Source.h), which is in fp16.
  std::optional<DType> precision;
  /// `NAME=FILE.npy` for each input of a kernel or of a program that others
  /// wrote, and that becomes one in fp16: example inputs, which give
  /// `passes.examples` where there are none; see CalibrationData::arrays.
  std::vector<std::string> calibration;

  // For models.

  /// Whether the programs of `decode` keep their caches as states; see
  /// WholeModel.h. A package's caches belong to its session.
  bool cachesAreStates = false;
  /// Makes a program that others wrote a model, whose weights begin as they
  /// are; see addObjective.
  std::optional<Objective> objective;
  /// Keeps the weights of a program that others wrote under their names, as
  /// `objective` does, without a loss.
  bool namesWeights = false;
  /// Adds adapters and freezes all other weights; see addAdapters.
  std::optional<AdapterOptions> lora;

  /// Compiles for `target`: a program that breaks its rules is an error.
  void setTarget(const Target &target) {
    passes.target = &target;
    passes.targetChosen = true;
  }
  WeightMode chosenWeightMode() const;
  /// Options of the passes that turn a model into kernels and a host schedule.
  ModelPipelineOptions modelPipelineOptions() const;
};

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// A compiled kernel: a module with one function of MIL ops, and the source of
/// its weight values. Source ranges point into texts owned by the Diagnostics
/// that it was compiled with.
struct CompiledProgram {
  std::unique_ptr<Module> program;
  WeightBinding weights;
  std::string milVersion;
  /// The places of constants in the text of `print`; a MIL program that is
  /// printed again keeps them.
  MILPrintOptions::Placement placement = MILPrintOptions::Placement::Gather;
  /// The maximum number of weight files; see MILPrintOptions.
  unsigned mostWeightFiles = 1;
  /// The values of the parts of quantized weights; null without any.
  std::shared_ptr<QuantizedWeights> quantized = nullptr;
  /// The initial distributions of weights by name, where the uses of a weight
  /// do not show it.
  llvm::StringMap<InitialValue> initialValues = {};
  /// Those of a kernel of `.tdsl` or `.ir`, which a Core ML package has.
  DeclaredShapes declared = {};
  /// What the source says of its functions, for a Core ML package; null for
  /// nothing.
  std::shared_ptr<const ModelDescription> description = nullptr;
  /// What its inputs can have, of which the program has one.
  SourceShapes shapes = {};

  /// Writes the MIL text to `path` and, if there are weights,
  /// `weights/STEM.bin` next to it: both files or none. Returns false, with the
  /// reason reported, on failure.
  [[nodiscard]] bool write(llvm::StringRef path, Diagnostics &diags) const;
  /// The same for files in memory: the text is called `textFile`.
  [[nodiscard]] bool write(NamedFiles &files, Diagnostics &diags) const;
  static constexpr llvm::StringLiteral textFile = "program.mil";
  /// The program that is read of what `write` writes, for backends: it stays in
  /// memory. Returns null, with the reason reported, on failure.
  [[nodiscard]] std::unique_ptr<Module> readBack(Diagnostics &diags) const;
  /// Writes `path`, a Core ML package (`.mlpackage`); see writeCoreMLPackage,
  /// which also says what it adds to `program`, after `coreMLPipeline`. A rule
  /// that Core ML's compiler or the engine silently breaks is an error.
  /// `description` says what the source says of its functions, and may be null.
  [[nodiscard]] bool writeCoreML(llvm::StringRef path,
                                 const CoreMLOptions &options,
                                 const ModelDescription *description,
                                 Diagnostics &diags);
  /// The same for a compiled model (`.mlmodelc`); see writeCompiledCoreML.
  [[nodiscard]] bool writeCompiledCoreML(llvm::StringRef path,
                                         const CoreMLOptions &options,
                                         const ModelDescription *description,
                                         Diagnostics &diags);
  /// Prints only the MIL text; the weight file that it names is not written.
  [[nodiscard]] bool print(llvm::raw_ostream &out, Diagnostics &diags) const;

  /// The elements of a view of a weight; null, with the reason reported at
  /// `range`, when there is no value.
  [[nodiscard]] ConstantRef weightValue(const WeightView &view,
                                        SourceRange range,
                                        Diagnostics &diags) const;

private:
  [[nodiscard]] ConstantRef resolve(const Op &weight, Diagnostics &diags) const;
  [[nodiscard]] MILPrintOptions writeOptions(Diagnostics &diags) const;
  using WriteCoreML = bool (*)(Module &module, llvm::StringRef path,
                               const CoreMLWriteOptions &options,
                               Diagnostics &diags);
  [[nodiscard]] bool writeCoreMLBy(WriteCoreML write, llvm::StringRef path,
                                   const CoreMLOptions &options,
                                   const ModelDescription *description,
                                   Diagnostics &diags);
};

/// Compiles the kernel of a file. Returns nothing, with the reason reported, on
/// failure.
[[nodiscard]] std::optional<CompiledProgram>
compileFile(llvm::StringRef path, const CompileOptions &options,
            Diagnostics &diags);
/// The same for a text in memory, which is copied. `name` is the file name in
/// messages, and its ending selects the language.
[[nodiscard]] std::optional<CompiledProgram>
compileText(llvm::StringRef text, llvm::StringRef name,
            const CompileOptions &options, Diagnostics &diags);

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Compiles the model of a file to a package at `folder`, which is written
/// completely or, on an error, not at all. With an empty `folder`, the package
/// is in memory, and `folderOf` writes it to a temporary folder for those who
/// need one. Returns nothing, with the reason reported, on failure.
[[nodiscard]] std::optional<ModelPackage>
compileModelFile(llvm::StringRef path, const CompileOptions &options,
                 llvm::StringRef folder, Diagnostics &diags);
/// The same for a text in memory, as with compileText.
[[nodiscard]] std::optional<ModelPackage>
compileModelText(llvm::StringRef text, llvm::StringRef name,
                 const CompileOptions &options, llvm::StringRef folder,
                 Diagnostics &diags);

//===----------------------------------------------------------------------===//
// Kernel or model, and single steps
//===----------------------------------------------------------------------===//

/// The result of compiling a source: a program or a package, or neither after
/// an error.
struct Compiled {
  std::optional<CompiledProgram> program;
  std::optional<ModelPackage> package;
  explicit operator bool() const { return program || package; }
};

/// Compiles a source: its model to a package or, if it has no model or
/// `options` names a kernel, its kernel to a program.
[[nodiscard]] Compiled compileSource(const Source &source,
                                     const CompileOptions &options,
                                     llvm::StringRef folder,
                                     Diagnostics &diags);

/// Whether `module`, read from a source of `format`, is compiled as a model: it
/// has one, or gets one by a loss, and `options` name no kernel.
bool isModel(const Module &module, const SourceFormat &format,
             const CompileOptions &options);

/// Removes all functions of `module` except the kernel or layer called `name`,
/// or the only one if `name` is empty. Returns false, with a diagnostic, when
/// there is no such kernel or the choice is ambiguous.
[[nodiscard]] bool selectKernel(Module &module, llvm::StringRef name,
                                Diagnostics &diags);

/// The passes that compile a kernel of a source of `format` if none are named:
/// the default pipeline. For a MIL program, none, or with a chosen target those
/// that make it fit the target.
std::vector<const PassDef *> kernelPipeline(const SourceFormat &format,
                                            const PassManagerOptions &options);

/// `passes` for results of `options.precision`: with `narrow` in front of those
/// that make a program fit a target.
std::vector<const PassDef *> withPrecision(std::vector<const PassDef *> passes,
                                           const CompileOptions &options);

/// Reduces `module`, read from a source of `format`, to the kernel that
/// `options` names, and runs only the passes of `options`. A MIL program keeps
/// all functions if no kernel is named.
[[nodiscard]] std::optional<CompiledProgram>
compile(std::unique_ptr<Module> module, const SourceFormat &format,
        const CompileOptions &options, Diagnostics &diags,
        std::vector<PassReport> *reports = nullptr);

/// Runs only the passes of `options`, and writes the package to `folder`.
/// Returns false, with the reason reported, on failure.
[[nodiscard]] bool compileModel(std::unique_ptr<Module> module,
                                const CompileOptions &options,
                                llvm::StringRef folder, Diagnostics &diags,
                                std::vector<PassReport> *reports = nullptr);
/// The same for a package in memory; `name` is what it is compiled of, for
/// messages.
[[nodiscard]] std::optional<ModelPackage>
compileModelInMemory(std::unique_ptr<Module> module,
                     const CompileOptions &options, llvm::StringRef name,
                     Diagnostics &diags,
                     std::vector<PassReport> *reports = nullptr);

} // namespace anec

#endif // ANEC_API_COMPILE_H
