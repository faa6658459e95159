//===- QuantizeFlags.h - the flags of quantizing ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_QUANTIZEFLAGS_H
#define ANEC_TOOLS_ANEC_QUANTIZEFLAGS_H

#include "../ChoiceFlag.h"
#include "../NumberFlag.h"
#include "lib/Driver/Build.h"

namespace anec {

/// What becomes of weights, and the data that decides it.
struct QuantizeFlags {
  /// Of the rest of the command line.
  struct Context {
    bool isNarrowed;                ///< fp32 becomes fp16
    bool isStream;                  ///< the output goes to standard output
    bool readsStream;               ///< the source is standard input
    std::vector<std::string> files; ///< that are read or written
  };
  /// The error in the flags; empty when they are valid.
  std::string check(const Context &context) const;
  /// Adds them to `options`, which refer to the flags.
  void read(QuantizationOptions &options) const;
  /// Runs the program on what --calibrate names, if anything. Returns false,
  /// with the reason reported, on failure.
  [[nodiscard]] bool calibrateFor(BuildRequest &request, bool isNarrowed,
                                  Diagnostics &diags) const;
  /// Prints or writes what --quantize-report asks for. Returns false, with the
  /// reason reported, on failure.
  [[nodiscard]] bool writeReport(Diagnostics &diags) const;
  bool quantizesActivations() const;

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

private:
  std::string checkCalibrate(const Context &context) const;
  std::string checkReport(const Context &context) const;

  mutable QuantizationReport report;
};

} // namespace anec

#endif // ANEC_TOOLS_ANEC_QUANTIZEFLAGS_H
