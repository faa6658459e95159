//===- Build.h - from a source to an output --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Makes an output of a source, both told by tables: the formats of sources
/// (Formats/Source.h) and the outputs below. An output that is added is a row
/// and a file in lib/Driver.
///
///   anec::BuildRequest request;
///   request.input = "mlp.tdsl";
///   const anec::OutputFormat &format = anec::outputFormat("mlp.mil");
///   anec::build(request, format, {"mlp.mil"}, result, diags);
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_DRIVER_BUILD_H
#define ANEC_DRIVER_BUILD_H

#include "anec/API/Compile.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

/// What is compiled, and how.
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
  /// Prints to the stream, or writes `path` whole or not at all. False, with
  /// the reason reported, when that fails.
  [[nodiscard]] bool write(llvm::function_ref<void(llvm::raw_ostream &)> print,
                           Diagnostics &diags) const;
};

/// What building leaves besides the output.
struct BuildResult {
  /// What the passes did, in pipeline order.
  std::vector<PassReport> reports;
  /// The program that was compiled. Destroying a large module takes a tenth of
  /// the time that compiling takes: a process that ends may keep it.
  std::unique_ptr<Module> module;
};

/// A row of the table of outputs. `compile` and `show` return false, with the
/// reason reported, when nothing could be written.
struct OutputFormat {
  llvm::StringLiteral name = "";    ///< `mil`
  llvm::StringLiteral ending = "";  ///< `.mil`; empty when no ending means it
  llvm::StringLiteral summary = ""; ///< for lists of outputs; no period
  /// Whether the output is a folder, which cannot go to a stream.
  bool isFolder = false;
  /// Writes what becomes of `module`, which was read from `request.input`.
  bool (*compile)(std::unique_ptr<Module> module, const BuildRequest &request,
                  const OutputPlace &place, BuildResult &result,
                  Diagnostics &diags) = nullptr;
  /// Writes what there is to show of a package; null when there is nothing.
  bool (*show)(const ModelPackage &package, const BuildRequest &request,
               const OutputPlace &place, Diagnostics &diags) = nullptr;
  /// How much of a package `show` needs.
  PackageCheck check = PackageCheck::Digests;
};

/// All outputs; the first one is MIL text, the default.
llvm::ArrayRef<const OutputFormat *> outputFormats();
/// Null when there is none called `name`.
const OutputFormat *findOutputFormat(llvm::StringRef name);
/// The output that `path` has the ending of; the default for any other path.
const OutputFormat &outputFormat(llvm::StringRef path);

/// Reads `request.input` and writes `format` of it to `place`. False, with the
/// reason reported, when that fails: no part of the output is left then.
[[nodiscard]] bool build(const BuildRequest &request,
                         const OutputFormat &format, const OutputPlace &place,
                         BuildResult &result, Diagnostics &diags);

namespace outputs {
extern const OutputFormat MIL, IR, Dot, Report, ReportJson, ReportPage, Package;
} // namespace outputs

} // namespace anec

#endif // ANEC_DRIVER_BUILD_H
