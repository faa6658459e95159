//===- Convert.cpp - weights in another format ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Import/Convert.h"
#include "lib/Import/Import.h"
#include "lib/Import/LlamaHints.h"
#include "lib/Train/Checkpoint.h"
#include "llvm/Support/Path.h"

using namespace anec;

bool ConvertRequest::writesFolder() const {
  if (!mapping.empty())
    return like.empty();
  return to.value_or(formatToWrite(output)) == WeightFormat::HuggingFace &&
         llvm::sys::path::extension(output).empty();
}

/// Loads the checkpoint at `source`, if it is one or a run, and makes `source`
/// the file of its weights. Returns false, with the reason reported, on
/// failure.
static bool findWeights(std::string &source, std::optional<Checkpoint> &trained,
                        Diagnostics &diags) {
  if (!hasCheckpoint(source))
    return true;
  trained = loadCheckpointWeights(source, diags);
  if (trained)
    source = trained->weights();
  return trained.has_value();
}

/// With the files for text that belong to the weights, unless others are given.
static ModelFolderOptions
folderOptions(const ConvertRequest &request,
              const std::optional<Checkpoint> &trained) {
  ModelFolderOptions options = request.folder;
  std::string own = trained ? textFolderOf(*trained) : request.input;
  if (options.tokenizer.empty() && request.writesFolder() && hasTextFiles(own))
    options.tokenizer = own;
  return options;
}

static bool exportImported(const ConvertRequest &request,
                           const std::string &source,
                           const std::optional<Checkpoint> &trained,
                           Diagnostics &diags) {
  return request.like.empty() ? exportModel(source, request.mapping,
                                            folderOptions(request, trained),
                                            request.output, diags)
                              : exportGguf(source, request.mapping,
                                           request.like, request.output, diags);
}

bool anec::convertWeights(const ConvertRequest &request, Diagnostics &diags) {
  LlamaHints hints;
  if (!request.config.empty()) {
    std::optional<LlamaHints> read =
        readLlamaHints(request.config, request.read, request.model, diags);
    if (!read)
      return false;
    hints = std::move(*read);
  }
  std::string source = request.input;
  std::optional<Checkpoint> trained;
  if (!findWeights(source, trained, diags))
    return false;
  if (!request.mapping.empty())
    return exportImported(request, source, trained, diags);
  if (trained && request.config.empty())
    hints = hintsOf(trained->state);
  std::optional<LlamaWeights> weights = readLlamaWeights(
      source, request.from.value_or(guessWeightFormat(source)), hints, diags);
  return weights &&
         writeLlamaWeights(*weights, request.output,
                           request.to.value_or(formatToWrite(request.output)),
                           hints, folderOptions(request, trained), diags);
}
