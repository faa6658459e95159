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
#include "TargetFlags.h"
#include "lib/Driver/Build.h"

namespace anec {

enum class ReportFormat { Text, Html };
enum class DiagnosticsFormat { Text, Json };
enum class CacheForm { IO, State };

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

  llvm::cl::opt<std::string> passList{
      "passes", llvm::cl::value_desc("A,B,..."),
      llvm::cl::desc("Run these passes instead of `default`")};
  llvm::cl::list<std::string> skippedPasses{
      "skip-passes", llvm::cl::value_desc("A,B,..."), llvm::cl::CommaSeparated,
      llvm::cl::desc("Skip these passes")};
  ChoiceFlag<Fusion> fusion{
      "fuse", llvm::cl::desc("Fusion of a model's kernels:"),
      llvm::cl::init(Fusion::Default),
      llvm::cl::values(
          clEnumValN(
              Fusion::Default, "default",
              "fuse to kernels that others are known to have run (default)"),
          clEnumValN(Fusion::Max, "max",
                     "fuse up to the limits of the target"))};
  llvm::cl::list<std::string> printAfter{
      "print-after", llvm::cl::value_desc("PASS"), llvm::cl::CommaSeparated,
      llvm::cl::desc("Print the IR to standard error "
                     "after PASS, or after `all`")};
  llvm::cl::opt<bool> timePasses{"time-passes",
                                 llvm::cl::desc("Print the time of each pass")};
  WholeFlag<unsigned> passLimit{
      "pass-limit", llvm::cl::value_desc("N"),
      llvm::cl::desc("Stop after N passes, for bisection")};
  llvm::cl::opt<bool> remarks{
      "remarks", llvm::cl::desc("Print remarks about the decisions of passes")};
  llvm::cl::opt<bool> verifyNumerics{
      "verify-numerics",
      llvm::cl::desc(
          "Compare results before and after each pass, with random inputs")};

  ChoiceFlag<IOMode> io{
      "io", llvm::cl::desc("Inputs and outputs of a package's kernels:"),
      llvm::cl::init(IOMode::Packed),
      llvm::cl::values(
          clEnumValN(IOMode::Packed, "packed", "one of each (default)"),
          clEnumValN(
              IOMode::Separate, "separate",
              "one for each tensor, with names that sort in their order"))};
  ChoiceFlag<WeightMode> weightMode{
      "weight-mode", llvm::cl::desc("Weights of a package's kernels:"),
      llvm::cl::init(WeightMode::Packed),
      llvm::cl::values(
          clEnumValN(WeightMode::Packed, "packed",
                     "weights are inputs that the host passes (default)"),
          clEnumValN(WeightMode::Baked, "baked",
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
                     "with an input `target` (docs/training.md)")};
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
  llvm::cl::opt<std::string> quantize{
      "quantize", llvm::cl::value_desc("FORM[:GRANULARITY]"),
      llvm::cl::desc(
          "Store the weights of products as int8, int4, lut4 or lut6, with a "
          "scale or a palette :per-tensor, :per-channel or :group=N (default: "
          "int8 and int4 per channel, lut4 and lut6 per tensor), or as int8 "
          "with int8 activations: w8a8, with --calibrate. exact: as the int4 "
          "or int8 that they were unpacked from, such as those of a GGUF file "
          "in Q4_0 or Q8_0")};
  llvm::cl::list<std::string> quantizeSkip{
      "quantize-skip", llvm::cl::value_desc("NAME,..."),
      llvm::cl::CommaSeparated,
      llvm::cl::desc("Weights that --quantize leaves, and with w8a8 the "
                     "activations of their products; * is any text")};
  ChoiceFlag<ActivationQuantization::Scales> activationScales{
      "activation-scales",
      llvm::cl::desc("Scales of the activations of --quantize=w8a8:"),
      llvm::cl::init(ActivationQuantization::Scales::Channel),
      llvm::cl::values(clEnumValN(ActivationQuantization::Scales::Channel,
                                  "per-channel",
                                  "one for each channel (default)"),
                       clEnumValN(ActivationQuantization::Scales::Tensor,
                                  "per-tensor", "one for each activation"))};
  NumberFlag activationMargin{
      "activation-margin", llvm::cl::value_desc("NUMBER"), llvm::cl::init(1.5),
      llvm::cl::desc("Magnitudes that --quantize=w8a8 does not clip, relative "
                     "to the largest ones of --calibrate (default: 1.5)")};
  llvm::cl::opt<std::string> quantizeReport{
      "quantize-report", llvm::cl::value_desc("FILE.json"),
      llvm::cl::ValueOptional,
      llvm::cl::desc("Print what --quantize changed of each weight, or write "
                     "it to FILE.json")};
  llvm::cl::list<std::string> calibrate{
      "calibrate", llvm::cl::value_desc("FILE|NAME=FILE.npy"),
      llvm::cl::desc(
          "Round with --quantize so that the outputs of products change less "
          "on this text or .bin file of token ids, of a language model, or on "
          "this array for an input, by which values in fp16 are chosen too; "
          "can be repeated")};
  llvm::cl::opt<std::string> calibrateTokenizer{
      "calibrate-tokenizer", llvm::cl::value_desc("FILE"),
      llvm::cl::desc("The tokenizer of the texts of --calibrate (default: "
                     "bytes are tokens)")};
  WholeFlag<uint64_t> calibrateTokens{
      "calibrate-tokens", llvm::cl::value_desc("N"), llvm::cl::init(65536),
      llvm::cl::desc("Tokens of --calibrate at most (default 65536; 0: all)")};

  llvm::cl::opt<std::string> deployment{
      "deployment", llvm::cl::value_desc("macosN|iosN"),
      llvm::cl::desc("The oldest systems that load a Core ML package, macos12 "
                     "to macos26 or ios15 to ios26 (default: those of the "
                     "program's opset)")};
  ChoiceFlag<DType> interface {
    "interface",
        llvm::cl::desc("Floats of the inputs and outputs of a Core ML package "
                       "(default: as in the program):"),
        llvm::cl::values(clEnumValN(DType::FP16, "fp16", "half precision"),
                         clEnumValN(DType::FP32, "fp32",
                                    "single precision, with casts"))
  };
  llvm::cl::opt<std::string> describe{
      "describe", llvm::cl::value_desc("FILE.json"),
      llvm::cl::desc("What a Core ML package says of itself, and which of its "
                     "inputs are images and outputs class labels "
                     "(docs/coreml.md)")};
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

  /// Filled by the build; for --quantize-report.
  mutable QuantizationReport quantization;
  /// Runs the program on what --calibrate names, if anything. Returns false,
  /// with the reason reported, on failure.
  [[nodiscard]] bool calibrateFor(BuildRequest &request,
                                  Diagnostics &diags) const;
  /// Prints or writes what --quantize-report asks for. Returns false, with the
  /// reason reported, on failure.
  [[nodiscard]] bool writeQuantizationReport(Diagnostics &diags) const;

private:
  bool wouldReplaceSource() const;
  std::string checkCache() const;
  std::string checkDecode() const;
  std::string checkQuantize() const;
  std::string checkActivations(const Quantization &form) const;
  std::string checkLoss() const;
  std::string checkCalibrate() const;
  bool isNarrowed() const;
  [[nodiscard]] bool readPasses(BuildRequest &request,
                                Diagnostics &diags) const;
};

} // namespace anec

#endif // ANEC_TOOLS_ANEC_COMPILEFLAGS_H
