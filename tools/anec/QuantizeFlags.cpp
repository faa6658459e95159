//===- QuantizeFlags.cpp - the flags of quantizing ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "QuantizeFlags.h"
#include "lib/API/Calibrate.h"
#include "lib/Report/QuantizationPrinter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;

/// Whether an argument of --calibrate names an array.
static bool isArrayArgument(llvm::StringRef argument) {
  return argument.contains('=') && argument.ends_with(".npy");
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::string QuantizeFlags::checkCalibrate(const Context &context) const {
  if (calibrate.empty())
    return "";
  size_t arrays = size_t(llvm::count_if(calibrate, isArrayArgument));
  if (!quantize.getNumOccurrences() && !context.isNarrowed)
    return "--calibrate is for --quantize and for programs in fp16";
  if (quantize == "exact" && !context.isNarrowed)
    return "--quantize=exact changes no weight, and takes no --calibrate";
  if (!quantize.getNumOccurrences() && arrays < calibrate.size())
    return "--calibrate takes NAME=FILE.npy for each input without --quantize";
  if (arrays && arrays < calibrate.size())
    return "--calibrate takes texts, or NAME=FILE.npy for each input";
  if (arrays && (calibrateTokenizer.getNumOccurrences() ||
                 calibrateTokens.getNumOccurrences()))
    return "--calibrate-tokenizer and --calibrate-tokens are for texts";
  if (context.isStream)
    return "--calibrate needs -o: weights are quantized when they are written";
  if (context.readsStream)
    return "--calibrate needs a file to compile: it is compiled twice";
  return "";
}

std::string QuantizeFlags::checkReport(const Context &context) const {
  if (!quantizeReport.getNumOccurrences())
    return "";
  if (context.isStream)
    return "--quantize-report needs -o: weights are quantized when they are "
           "written";
  if (quantizeReport.empty())
    return "";
  for (const std::string &used : context.files)
    if (!used.empty() && (used == quantizeReport ||
                          llvm::sys::fs::equivalent(used, quantizeReport)))
      return "--quantize-report would overwrite `" + used + "`";
  return "";
}

std::string QuantizeFlags::check(const Context &context) const {
  if (quantize.getNumOccurrences()) {
    std::string why;
    std::optional<Quantization> form = Quantization::parse(quantize, why);
    if (!form)
      return "--quantize: " + why;
    if (form->activations &&
        !(activationMargin >= 1.0 / 128 && activationMargin <= 128))
      return "--activation-margin takes a number from 1/128 to 128";
    if (form->activations && calibrate.empty())
      return "--quantize=w8a8 needs --calibrate: the scales of activations "
             "come from their largest magnitudes in data, which are texts for "
             "a language model, or NAME=FILE.npy for each input";
  }
  std::string wrong = checkReport(context);
  return wrong.empty() ? checkCalibrate(context) : wrong;
}

bool QuantizeFlags::quantizesActivations() const {
  std::string why;
  std::optional<Quantization> form = Quantization::parse(quantize, why);
  return form && form->activations;
}

//===----------------------------------------------------------------------===//
// The request
//===----------------------------------------------------------------------===//

void QuantizeFlags::read(QuantizationOptions &options) const {
  if (quantizeReport.getNumOccurrences())
    options.quantizationReport = &report;
  if (!quantize.getNumOccurrences())
    return;
  std::string why; // check has reported it
  options.quantization = Quantization::parse(quantize, why);
  options.quantization->skipped = {quantizeSkip.begin(), quantizeSkip.end()};
  if (options.quantization->activations)
    options.quantization->activations = {activationScales, activationMargin};
}

bool QuantizeFlags::calibrateFor(BuildRequest &request, bool isNarrowed,
                                 Diagnostics &diags) const {
  if (calibrate.empty())
    return true;
  CalibrationData data;
  for (const std::string &argument : calibrate)
    (isArrayArgument(argument) ? data.arrays : data.texts).push_back(argument);
  data.tokenizer = calibrateTokenizer;
  data.tokens = calibrateTokens;
  CompileOptions &options = request.options;
  if (isNarrowed && !data.arrays.empty()) {
    options.passes.examples =
        collectRanges(request.input, options, data, diags);
    if (!options.passes.examples)
      return false;
  }
  if (!options.quantization)
    return true;
  options.inputMoments = collectMoments(request.input, options, data, diags);
  return options.inputMoments != nullptr;
}

bool QuantizeFlags::writeReport(Diagnostics &diags) const {
  if (!quantizeReport.getNumOccurrences())
    return true;
  if (quantizeReport.empty()) {
    printQuantization(report, llvm::outs());
    return true;
  }
  OutputPlace file{quantizeReport, nullptr};
  return file.write(
      [&](llvm::raw_ostream &out) { printQuantizationJson(report, out); },
      diags);
}
