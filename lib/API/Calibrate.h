//===- Calibrate.h - what quantization knows of activations -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs a program on the CPU backend, as it is without quantization, to collect
/// the second moments of the inputs of its products:
///
///   anec::CalibrationData data;
///   data.texts = {"wiki.txt"};
///   options.inputMoments = anec::collectMoments("llama.tdsl", options, data,
///                                               diags);
///   if (!options.inputMoments ||
///       !anec::compileModelFile("llama.tdsl", options, "llama.anepkg", diags))
///     diags.print(llvm::errs());
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_API_CALIBRATE_H
#define ANEC_LIB_API_CALIBRATE_H

#include "anec/API/Compile.h"

namespace anec {

class Session;

/// What a program is run on: texts for a language model, or arrays.
struct CalibrationData {
  /// Files and folders of text and of token ids, as for training.
  std::vector<std::string> texts;
  /// As openTokenizer takes it.
  std::string tokenizer;
  /// Tokens at most, in whole windows of the model's positions; 0 for all.
  uint64_t tokens = 65536;
  /// `NAME=FILE.npy` for each input: an array of the input's shape, ignoring
  /// axes of one element, or with a first axis that counts runs. Targets of a
  /// model need none.
  std::vector<std::string> arrays;
};

/// Compiles the source at `path` without quantization, of a model the forward,
/// with the values of all weights, runs it on `data`, and returns the moments.
/// Null, with the reason reported, on failure.
[[nodiscard]] std::shared_ptr<const InputMoments>
collectMoments(llvm::StringRef path, const CompileOptions &options,
               const CalibrationData &data, Diagnostics &diags);

/// Runs the kernel of the source at `path` in fp32 on the arrays of `data`, and
/// returns how large its values are, for `options.passes.examples`. Null, with
/// the reason reported, on failure.
[[nodiscard]] std::shared_ptr<const ExampleRanges>
collectRanges(llvm::StringRef path, const CompileOptions &options,
              const CalibrationData &data, Diagnostics &diags);
/// The same for a source that is open.
[[nodiscard]] std::shared_ptr<const ExampleRanges>
collectRanges(const Source &source, const CompileOptions &options,
              const CalibrationData &data, Diagnostics &diags);

/// Runs the language model of `session` on the texts of `data`. Returns false,
/// with the reason reported, on failure. Of the component LanguageModels:
/// lib/Generate defines it, or NoLanguageModels.cpp.
[[nodiscard]] bool runOnTexts(Session &session, const CalibrationData &data,
                              Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_API_CALIBRATE_H
