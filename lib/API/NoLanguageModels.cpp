//===- NoLanguageModels.cpp - a build without language models -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What the rest of the library calls of them: it takes the place of lib/Text,
/// lib/Generate, lib/Import and lib/Serve.
///
//===----------------------------------------------------------------------===//

#include "anec/Train/TokenizerKind.h"
#include "lib/API/Calibrate.h"
#include "lib/API/Diags.h"
#include "lib/Train/TextData.h"

using namespace anec;

std::optional<TextEncoder> anec::openEncoder(llvm::StringRef path,
                                             Diagnostics &diags) {
  if (path.empty() || path == spelling(TokenizerKind::Bytes))
    return TextEncoder();
  diags.reportFile(path, diag::NoLanguageModels, "a tokenizer");
  return std::nullopt;
}

std::unique_ptr<TrainingData>
anec::openChatData(const DataOptions &, llvm::ArrayRef<std::string> files,
                   const TokenInputs &, Diagnostics &diags) {
  diags.reportFile(files.front(), diag::NoLanguageModels,
                   "training on conversations");
  return nullptr;
}

bool anec::runOnTexts(Session &, const CalibrationData &data,
                      Diagnostics &diags) {
  diags.reportFile(data.texts.front(), diag::NoLanguageModels,
                   "calibration by texts");
  return false;
}
