//===- Compile.h - kernels and models from source --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A kernel becomes a MIL program with its weights, a model becomes a package:
///
///   auto program = anec::compileFile("mlp.tdsl", options, diags);
///   auto package = anec::compileModelFile("llama.tdsl", options, "", diags);
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_API_COMPILE_H
#define ANEC_API_COMPILE_H

#include "anec/Formats/Source.h"
#include "anec/MIL/Printer.h"
#include "anec/Package/ModelPackage.h"
#include "anec/Package/WeightBinding.h"
#include "anec/Passes/PassManager.h"

namespace anec {

struct CompileOptions : ReadOptions {
  /// The kernel or layer to compile; empty when the program has just one.
  std::string kernel;
  /// The chip, in `passes.target`, and the passes to run. An empty list of
  /// passes stands for the default pipeline wherever a file or a text is
  /// compiled, except for MIL, which stays as it is.
  PassManagerOptions passes;
  WeightOptions weights;
  /// `1.3` or `1.0`; empty for that of `passes.target`, or for what a MIL
  /// program says itself.
  std::string milVersion;

  // For models.

  /// Forward, loss and backward; without, the forward alone.
  bool train = true;
  Fusion fusion = Fusion::Default;
  IOMode io = IOMode::Packed;
  /// Unset: constants of the kernels where nothing trains them and `weights`
  /// gives values, inputs of the kernels otherwise.
  std::optional<WeightMode> weightMode;

  /// Compiles for `target`: what does not fit it is an error.
  void setTarget(const Target &target) {
    passes.target = &target;
    passes.targetChosen = true;
  }
  WeightMode chosenWeightMode() const;
  /// The passes that make kernels and a host schedule of a model.
  ModelPipelineOptions modelPipelineOptions() const;
};

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// A compiled kernel: a module with one function, in MIL ops, and where the
/// values of its weights come from. Its source ranges point into the texts that
/// the Diagnostics own which it was compiled with.
struct CompiledProgram {
  std::unique_ptr<Module> program;
  WeightBinding weights;
  std::string milVersion;
  /// Where `print` says that constants are: a MIL program that is printed again
  /// keeps each where it is.
  MILPrintOptions::Placement placement = MILPrintOptions::Placement::Gather;
  /// How many weight files there may be; an array to each.
  unsigned mostWeightFiles = 1;

  /// Writes `path` and, when there are weights, `weights/STEM.bin` beside it:
  /// both or neither.
  bool write(llvm::StringRef path, Diagnostics &diags) const;
  /// Prints the MIL text alone; the weight file it names is not written.
  bool print(llvm::raw_ostream &out, Diagnostics &diags) const;
};

/// Compiles the kernel of a file; nothing, with the reason reported, when that
/// fails.
std::optional<CompiledProgram> compileFile(llvm::StringRef path,
                                           const CompileOptions &options,
                                           Diagnostics &diags);
/// The same for a text in memory, which is copied. `name` stands for the file's
/// in messages, and its ending tells the language.
std::optional<CompiledProgram> compileText(llvm::StringRef text,
                                           llvm::StringRef name,
                                           const CompileOptions &options,
                                           Diagnostics &diags);

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Compiles the model of a file to the package at `folder`, which appears whole
/// or, after an error, not at all. With an empty `folder` the package is in a
/// temporary one, which is removed with the ModelPackage, or with the session
/// that took it.
std::optional<ModelPackage> compileModelFile(llvm::StringRef path,
                                             const CompileOptions &options,
                                             llvm::StringRef folder,
                                             Diagnostics &diags);
/// The same for a text in memory, as with compileText.
std::optional<ModelPackage> compileModelText(llvm::StringRef text,
                                             llvm::StringRef name,
                                             const CompileOptions &options,
                                             llvm::StringRef folder,
                                             Diagnostics &diags);

//===----------------------------------------------------------------------===//
// Either, and step by step
//===----------------------------------------------------------------------===//

/// What a source was compiled to: one of them, or none after an error.
struct Compiled {
  std::optional<CompiledProgram> program;
  std::optional<ModelPackage> package;
  explicit operator bool() const { return program || package; }
};

/// Compiles a source to what it has: the package of its model or, where it has
/// none or `options` names a kernel, the program of its kernel.
Compiled compileSource(const Source &source, const CompileOptions &options,
                       llvm::StringRef folder, Diagnostics &diags);

/// Cuts `module` down to the kernel or layer called `name`, or to its only one
/// when `name` is empty. False, with a diagnostic, when that is not clear.
bool selectKernel(Module &module, llvm::StringRef name, Diagnostics &diags);

/// Cuts `module`, read from a source of `format`, down to the kernel that
/// `options` names (a MIL program may keep all) and runs the passes of
/// `options`, no others.
std::optional<CompiledProgram>
compile(std::unique_ptr<Module> module, const SourceFormat &format,
        const CompileOptions &options, Diagnostics &diags,
        std::vector<PassReport> *reports = nullptr);

/// Runs the passes of `options`, no others, and writes the package at `folder`.
bool compileModel(std::unique_ptr<Module> module, const CompileOptions &options,
                  llvm::StringRef folder, Diagnostics &diags,
                  std::vector<PassReport> *reports = nullptr);

} // namespace anec

#endif // ANEC_API_COMPILE_H
