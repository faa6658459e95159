//===- anec.h - the embedding API ------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The compiler as a library: a program in, MIL and weights out. Nothing here
/// prints, exits or throws; what goes wrong is in the Diagnostics.
///
///   anec::Diagnostics diags;
///   anec::CompileOptions options;
///   options.weights.seed = 7;
///   auto package = anec::compileFile("mlp.tdsl", options, diags);
///   if (!package || !package->write("out/mlp.mil", diags))
///     diags.print(llvm::errs());
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_ANEC_H
#define ANEC_ANEC_H

#include "anec/Formats/Source.h"
#include "anec/MIL/Printer.h"
#include "anec/Package/WeightBinding.h"
#include "anec/Passes/PassManager.h"

namespace anec {

struct CompileOptions : ReadOptions {
  /// The kernel or layer to compile; empty when the program has just one.
  std::string kernel;
  /// What to run. compileFile takes the default pipeline for an empty list,
  /// except for MIL, which stays as it is. `passes.target` is the chip that
  /// all of compiling is for.
  PassManagerOptions passes;
  WeightOptions weights;
  /// `1.3` or `1.0`; empty for that of `passes.target`, or for what a MIL
  /// program says itself.
  std::string milVersion;
};

/// A compiled kernel: a module with one function, in MIL ops, and where the
/// values of its weights come from.
struct Package {
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
  [[nodiscard]] bool write(llvm::StringRef path, Diagnostics &diags) const;
  /// Prints the MIL text alone; the weight file it names is not written.
  [[nodiscard]] bool print(llvm::raw_ostream &out, Diagnostics &diags) const;
};

/// Cuts `module` down to the kernel or layer called `name`, or to its only one
/// when `name` is empty. False, with a diagnostic, when that is not clear.
[[nodiscard]] bool selectKernel(Module &module, llvm::StringRef name,
                                Diagnostics &diags);

/// Cuts `module`, read from a source of `format`, down to the kernel that
/// `options` names (a MIL program may keep all) and runs the passes.
[[nodiscard]] std::optional<Package>
compile(std::unique_ptr<Module> module, const SourceFormat &format,
        const CompileOptions &options, Diagnostics &diags,
        std::vector<PassReport> *reports = nullptr);

/// readSourceFile and compile.
[[nodiscard]] std::optional<Package> compileFile(llvm::StringRef path,
                                                 const CompileOptions &options,
                                                 Diagnostics &diags);
/// The same for a text in memory, which is copied. `name` stands for the file's
/// in messages, and its ending tells the language.
[[nodiscard]] std::optional<Package> compileText(llvm::StringRef text,
                                                 llvm::StringRef name,
                                                 const CompileOptions &options,
                                                 Diagnostics &diags);

} // namespace anec

#endif // ANEC_ANEC_H
