//===- TextModel.h - the text part of a multimodal model --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Gemma3ForConditionalGeneration: a config.json of the type `gemma3` has that
/// of the text model as `text_config`, and the arrays of the text model stand
/// beside those of the part for images. For texts without images, the text
/// model alone computes the same.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_TEXTMODEL_H
#define ANEC_LIB_IMPORT_TEXTMODEL_H

#include "anec/Arrays/ArraySource.h"
#include "anec/Support/Diagnostics.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// Whether `config` is that of a multimodal model whose text part is imported.
bool hasTextModel(const llvm::json::Object &config);

/// The config.json of the text model alone, with what `text_config` leaves to
/// transformers' defaults, and without the keys in `ignored`. Nothing, with the
/// reason reported, when other members may change what texts give.
[[nodiscard]] std::optional<llvm::json::Object>
textConfigOf(const llvm::json::Object &config, llvm::StringRef path,
             llvm::ArrayRef<std::string> ignored, Diagnostics &diags);

/// The prefix of the text model's arrays: of published files, or of those that
/// newer versions of transformers write.
llvm::StringRef textPrefix(const ArraySource &arrays);

/// The arrays that are not of the text model.
std::vector<std::string> arraysForImages(const ArraySource &arrays);

/// The name that an array of the text model has in a folder of its own.
std::string nameInTextModel(llvm::StringRef array);

} // namespace anec

#endif // ANEC_LIB_IMPORT_TEXTMODEL_H
