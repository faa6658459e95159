//===- Build.h - compiles a source to an output -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Compiles a source to an output. Tables describe the source formats
/// (Formats/Source.h) and the output formats below. A new output format is a
/// row and a file in lib/Driver.
///
///   anec::BuildRequest request;
///   request.input = "mlp.tdsl";
///   const anec::OutputFormat *format = anec::outputFormat("mlp.mil");
///   if (!anec::build(request, *format, {"mlp.mil"}, result, diags))
///     diags.print(llvm::errs());
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_DRIVER_BUILD_H
#define ANEC_LIB_DRIVER_BUILD_H

#include "anec/API/Compile.h"
#include "anec/MIL/ModelDescription.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

/// A source, and how it is compiled.
struct BuildRequest {
  std::string input;
  /// The target, the weights, and the passes of `passes`.
  CompileOptions options;
  /// Whether `options.passes.passes` replace the passes that the output would
  /// run, even when there are none.
  bool hasPasses = false;
  /// Passes to leave out.
  std::vector<const PassDef *> skipped;
  /// Name values by position and share constants in MIL.
  bool canonical = false;

  /// The passes to run where an output runs `passes` by default.
  std::vector<const PassDef *>
  passesOr(std::vector<const PassDef *> passes) const;
};

/// Where an output goes.
struct OutputPlace {
  /// A file, or a folder for a package; empty for `stream`.
  std::string path;
  llvm::raw_ostream *stream = nullptr;

  bool isStream() const { return path.empty(); }
  /// Prints to the stream, or writes `path` completely or not at all. Returns
  /// false, with the reason reported, on failure.
  [[nodiscard]] bool write(llvm::function_ref<void(llvm::raw_ostream &)> print,
                           Diagnostics &diags) const;
};

/// The results of building besides the output.
struct BuildResult {
  /// The reports of the passes, in pipeline order.
  std::vector<PassReport> reports;
  /// What the source says beyond its functions.
  ModelDescription description;
  /// The compiled program. Destroying a large module takes a tenth of the time
  /// of compiling it, so a process that ends can keep it.
  std::unique_ptr<Module> module;
};

/// Whether passes run for an output when nobody names any.
enum class RunsPasses : uint8_t {
  Always,
  ToFit,      ///< of a program that others wrote, those that a chip or a
              ///< precision needs
  OfPrograms, ///< not of a program that others wrote
  WhenNamed,
};

/// A row of the table of outputs. `compile` and `show` return false, with the
/// reason reported, when nothing could be written.
struct OutputFormat {
  llvm::StringLiteral name = "";    ///< `mil`
  llvm::StringLiteral ending = "";  ///< `.mil`; empty when no ending selects it
  llvm::StringLiteral summary = ""; ///< for lists of outputs; no period
  /// Whether the output is a folder, which cannot go to a stream.
  bool isFolder = false;
  /// Whether `CompileOptions::coreML` is for it.
  bool isCoreML = false;
  /// Whether it shows models alone: of other programs, nothing.
  bool isOfModels = false;
  RunsPasses runs = RunsPasses::Always;
  /// What changes the output of a source that takes it, too; what else does so
  /// where passes run, where --loss makes a model, and where caches are states;
  /// and of the output of a package.
  RequestFlags takes = {}, takesWithPasses = requests::passes,
               takesWithLoss = {}, takesWithStates = {}, shows = {};
  /// Compiles `module`, which was read from `request.input`, and writes the
  /// output.
  bool (*compile)(std::unique_ptr<Module> module, const BuildRequest &request,
                  const OutputPlace &place, BuildResult &result,
                  Diagnostics &diags) = nullptr;
  /// Writes the output of an existing package; null when there is none.
  bool (*show)(const ModelPackage &package, const BuildRequest &request,
               const OutputPlace &place, Diagnostics &diags) = nullptr;
  /// How a package is checked before `show`.
  PackageCheck check = PackageCheck::Digests;
};

/// All outputs; the first one is MIL text, the default.
llvm::ArrayRef<const OutputFormat *> outputFormats();
/// The names of those that show a package: "coreml, ir or dot".
std::string packageOutputs();
/// Returns null when there is none called `name`.
const OutputFormat *findOutputFormat(llvm::StringRef name);
/// The output selected by the ending of `path`: the default for an empty path,
/// for
/// `-`, and for a device or a FIFO; null for an ending that no output has.
const OutputFormat *outputFormat(llvm::StringRef path);
/// Says which endings there are when outputFormat(path) is null; else empty.
std::string wrongOutput(llvm::StringRef path);

/// Reads `request.input` and writes it as `format` to `place`. Returns false,
/// with the reason reported, on failure; then no part of the output is left.
[[nodiscard]] bool build(const BuildRequest &request,
                         const OutputFormat &format, const OutputPlace &place,
                         BuildResult &result, Diagnostics &diags);

namespace outputs {
extern const OutputFormat MIL, CoreML, CompiledCoreML, IR, Program, Dot, Report,
    ReportJson, ReportPage, Package;
} // namespace outputs

} // namespace anec

#endif // ANEC_LIB_DRIVER_BUILD_H
