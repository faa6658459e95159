//===- Quantize.cpp - options for weights that are stored as integers -----===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Choices.h"
#include "Handles.h"
#include "lib/API/Calibrate.h"

using namespace anec;
using namespace anec::c;

static bool readActivations(const anec_compile_options &given,
                            Quantization &quantization, Diagnostics &diags) {
  if (!quantization.activations) {
    llvm::StringRef reason = "it is for `quantize` as `w8a8`";
    return (!given.activation_scales ||
            refuse("activation_scales", reason, diags)) &&
           (!given.activation_margin ||
            refuse("activation_margin", reason, diags));
  }
  ActivationQuantization &activations = *quantization.activations;
  if (!given.calibration_count && !given.calibration_text_count)
    return refuse("quantize",
                  "`w8a8` needs `calibration`, or texts for a language model: "
                  "the scales of activations come from their largest "
                  "magnitudes in data",
                  diags);
  llvm::StringRef scales = orEmpty(given.activation_scales);
  if (!scales.empty() && scales != "per-channel" && scales != "per-tensor")
    return refuse("activation_scales",
                  wrongChoice(scales, {"per-channel", "per-tensor"}), diags);
  if (scales == "per-tensor")
    activations.scales = ActivationQuantization::Scales::Tensor;
  if (given.activation_margin)
    activations.margin = *given.activation_margin;
  return (activations.margin >= 1.0 / 128 && activations.margin <= 128) ||
         refuse("activation_margin", "it is a number from 1/128 to 128", diags);
}

bool anec::c::readQuantization(const anec_compile_options &given,
                               CompileOptions &options, Diagnostics &diags) {
  if (given.quantize_skip_count && !given.quantize_skip)
    return refuse("quantize_skip", "it is null", diags);
  if (given.calibration_text_count && !given.calibration_texts)
    return refuse("calibration_texts", "it is null", diags);
  if (given.calibration_text_count && given.calibration_count)
    return refuse("calibration_texts",
                  "a language model takes texts, and other programs take "
                  "`calibration`",
                  diags);
  if (!given.quantize) {
    llvm::StringRef reason = "it is for `quantize`";
    return (!given.quantize_skip_count ||
            refuse("quantize_skip", reason, diags)) &&
           (!given.calibration_text_count ||
            refuse("calibration_texts", reason, diags)) &&
           (!given.activation_scales ||
            refuse("activation_scales", reason, diags)) &&
           (!given.activation_margin ||
            refuse("activation_margin", reason, diags));
  }
  if (!given.calibration_text_count &&
      (given.calibration_tokenizer || given.calibration_tokens))
    return refuse(given.calibration_tokenizer ? "calibration_tokenizer"
                                              : "calibration_tokens",
                  "it is for `calibration_texts`", diags);
  std::string why;
  options.quantization = Quantization::parse(given.quantize, why);
  if (!options.quantization)
    return refuse("quantize", why, diags);
  if (options.quantization->isExact && given.calibration_text_count)
    return refuse("calibration_texts", "`exact` changes no weight", diags);
  for (size_t i = 0; i < given.quantize_skip_count; ++i)
    options.quantization->skipped.push_back(
        orEmpty(given.quantize_skip[i]).str());
  return readActivations(given, *options.quantization, diags);
}

bool anec::c::calibrate(llvm::StringRef path, const anec_compile_options &given,
                        CompileOptions &options, Diagnostics &diags) {
  if (!options.quantization || options.quantization->isExact)
    return true;
  CalibrationData data;
  data.arrays = options.calibration;
  if (options.precision != DType::FP16)
    options.calibration.clear();
  for (size_t i = 0; i < given.calibration_text_count; ++i)
    data.texts.push_back(orEmpty(given.calibration_texts[i]).str());
  if (data.arrays.empty() && data.texts.empty())
    return true;
  data.tokenizer = orEmpty(given.calibration_tokenizer).str();
  if (given.calibration_tokens)
    data.tokens = *given.calibration_tokens;
  options.inputMoments = collectMoments(path, options, data, diags);
  return options.inputMoments != nullptr;
}
