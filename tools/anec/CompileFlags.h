//===- CompileFlags.h - the flags of compiling ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_COMPILEFLAGS_H
#define ANEC_TOOLS_ANEC_COMPILEFLAGS_H

#include "../ChoiceFlag.h"
#include "../DefineFlag.h"
#include "../FixFlag.h"
#include "../NumberFlag.h"
#include "../PartFlag.h"
#include "../ShapeFlag.h"
#include "CoreMLFlags.h"
#include "PackageFlags.h"
#include "PassFlags.h"
#include "QuantizeFlags.h"
#include "TargetFlags.h"
#include "lib/Driver/RefusedFlag.h"

namespace anec {

enum class ReportFormat { Text, Html };
enum class DiagnosticsFormat { Text, Json };

/// --emit: the name of a row of `outputFormats`.
enum class OutputIndex : size_t {};
struct EmitFlag : ChoiceFlag<OutputIndex> {
  EmitFlag();
};

struct CompileFlags {
  /// The error in the flags, independent of the input; empty when they are
  /// valid.
  std::string check() const;
  /// The request that the flags make. `target` has the chip and the
  /// assumptions. Returns nothing, with the reason reported, when a pass does
  /// not exist. The request refers to the flags.
  [[nodiscard]] std::optional<BuildRequest> read(PassManagerOptions target,
                                                 Diagnostics &diags) const;
  /// The output, by --emit, or by the ending of -o.
  const OutputFormat &format() const;
  /// The place of the output: -o, or standard output.
  OutputPlace place() const;

  llvm::cl::opt<std::string> input{llvm::cl::Positional};
  llvm::cl::opt<std::string> output{
      "o", llvm::cl::value_desc("FILE"),
      llvm::cl::desc(
          "Write to FILE, and for MIL to weights/ in its folder, instead of "
          "standard output; the extension selects the format")};
  EmitFlag emit;
  ChoiceFlag<ReportFormat> reportFormat{
      "format", llvm::cl::desc("Output format of --emit=report:"),
      llvm::cl::init(ReportFormat::Text),
      llvm::cl::values(
          clEnumValN(ReportFormat::Text, "text", "for the terminal"),
          clEnumValN(ReportFormat::Html, "html",
                     "an HTML page with predicted costs and graphs"))};
  llvm::cl::opt<std::string> kernel{
      "kernel", llvm::cl::value_desc("NAME"),
      llvm::cl::desc(
          "The kernel or layer to compile, if the program has several")};
  llvm::cl::opt<std::string> function{
      "function", llvm::cl::value_desc("NAME"),
      llvm::cl::desc("The function of a MIL program or a Core ML package to "
                     "read (default: all)")};
  PartFlag part;
  TargetFlags target;

  DefineFlag defines;

  ShapeFlag shapes;
  FixFlag fixed;

  llvm::cl::opt<std::string> weights{
      "weights", llvm::cl::value_desc("FILE|FOLDER"),
      llvm::cl::desc(
          "Weight values: a .safetensors or .gguf file, a .bin file of "
          "llama2.c, or a folder of .safetensors or .npy files")};
  llvm::cl::opt<std::string> weightMap{
      "weight-map", llvm::cl::value_desc("FILE.json"),
      llvm::cl::desc(
          "A JSON object that maps names of weights to names in --weights")};
  WholeFlag<uint64_t> seed{
      "init", llvm::cl::value_desc("SEED"),
      llvm::cl::desc("Initialize the weights that --weights lacks with random "
                     "values from SEED")};
  WholeFlag<unsigned> threads{
      "threads", llvm::cl::value_desc("N"), llvm::cl::init(0),
      llvm::cl::desc("Threads (default: one per processor)")};

  ChoiceFlag<DType> precision{
      "precision", llvm::cl::value_desc("fp16|fp32"),
      llvm::cl::desc("Floats that a source in fp32 is computed in (default: "
                     "fp16 for a Core ML package of an ONNX or PyTorch model, "
                     "and with --loss; otherwise as in the source):"),
      llvm::cl::values(clEnumValN(DType::FP16, "fp16",
                                  "half precision, except where it gives other "
                                  "results"),
                       clEnumValN(DType::FP32, "fp32", "as in the source"))};
  llvm::cl::opt<std::string> milVersion{
      "mil-version", llvm::cl::value_desc("1.3|1.0"),
      llvm::cl::desc("MIL dialect: 1.3 with ios18, or 1.0 with ios16 for older "
                     "compilers (default: the target's)")};
  llvm::cl::opt<bool> canonical{
      "canonical", llvm::cl::desc("Name values by position and share "
                                  "constants, so that texts can be compared")};
  ChoiceFlag<DiagnosticsFormat> diagnostics{
      "diagnostics", llvm::cl::desc("Output format of diagnostics:"),
      llvm::cl::init(DiagnosticsFormat::Text),
      llvm::cl::values(
          clEnumValN(DiagnosticsFormat::Text, "text", "for people"),
          clEnumValN(DiagnosticsFormat::Json, "json", "for programs"))};

  PassFlags passes;
  PackageFlags package;
  QuantizeFlags quantize;
  CoreMLFlags coreML;

  /// Whether fp32 becomes fp16.
  bool isNarrowed() const;

private:
  /// The row that --emit or the ending of -o names.
  const OutputFormat &named() const;
  /// What was asked for, by flags that have an effect for some outputs only.
  GivenFlags given() const;
  bool wouldReplaceSource() const;
  std::string checkPaths() const;
  std::string checkPrecision() const;
};

} // namespace anec

#endif // ANEC_TOOLS_ANEC_COMPILEFLAGS_H
