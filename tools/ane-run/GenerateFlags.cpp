//===- GenerateFlags.cpp - flags of generate ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "GenerateFlags.h"
#include "anec/Formats/Source.h"
#include "lib/Generate/GenerationConfig.h"
#include "lib/Generate/Prompts.h"
#include "lib/Import/ModelCache.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;

bool anec::isProgram(llvm::StringRef path) {
  return sourceFormat(path).stage == SourceStage::MIL;
}

std::string ModelFlags::check() const {
  if (package.empty())
    return "no model is given";
  if (canImport(package) &&
      !(checkpoint + weights + mapping + adapter + function).empty())
    return "a folder or a GGUF file has its weights: --checkpoint, --weights, "
           "--weight-map, --adapter and --function are for packages, "
           "MODEL.anepkg";
  if (isProgram(package) &&
      !(checkpoint + weights + mapping + adapter + function).empty())
    return "a program has its weights, and all its functions are used: "
           "--checkpoint, --weights, --weight-map, --adapter and --function "
           "are for packages, MODEL.anepkg";
  if (!checkpoint.empty() && !adapter.empty())
    return "--checkpoint takes no --adapter, because a checkpoint has what was "
           "trained";
  if (!mapping.empty() && weights.empty())
    return "--weight-map is for --weights";
  return "";
}

TrainedModelSource ModelFlags::source() const {
  TrainedModelSource source;
  source.package = package;
  source.checkpoint = checkpoint;
  source.weights = weights;
  source.mapping = mapping;
  source.adapter = adapter;
  source.tokenizer = tokenizer;
  return source;
}

std::string PromptFlags::check() const {
  int given = text.getNumOccurrences() + file.getNumOccurrences() +
              ids.getNumOccurrences() + several.getNumOccurrences();
  if (given > 1)
    return "give one of --prompt, --prompt-file, --prompt-ids and --prompts";
  if (ids.getNumOccurrences() && markBeginning)
    return "--prompt-ids takes no --bos; its ids are all there is";
  return "";
}

std::string SamplingFlags::check() const {
  for (const std::string &stop : stops) {
    if (stop.empty())
      return "--stop takes a text that is not empty";
    const auto *begin = reinterpret_cast<const llvm::UTF8 *>(stop.data());
    if (!llvm::isLegalUTF8String(&begin, begin + stop.size()))
      return "--stop takes a text in UTF-8";
  }
  SamplingOptions options;
  override(options);
  return checkSampling(options);
}

void SamplingFlags::override(SamplingOptions &options) const {
  auto set = [](const auto &flag, auto &option) {
    if (flag.getNumOccurrences())
      option = flag;
  };
  set(temperature, options.temperature);
  set(topK, options.topK);
  set(topP, options.topP);
  set(minP, options.minP);
  set(repeatPenalty, options.repeatPenalty);
  set(repeatWindow, options.repeatWindow);
  options.seed = seed;
}

bool SamplingFlags::apply(llvm::StringRef model, GenerateOptions &options,
                          Diagnostics &diags) const {
  options.tokens = tokens;
  options.stopTexts = {stops.begin(), stops.end()};
  bool isFolder = canImport(model) && llvm::sys::fs::is_directory(model);
  if (isFolder && !readGenerationConfig(model, options.sampling, diags))
    return false;
  override(options.sampling);
  return true;
}

bool SamplingFlags::addEnds(GenerateOptions &options,
                            Diagnostics &diags) const {
  if (!endIds.getNumOccurrences())
    return true;
  std::optional<std::vector<int32_t>> ids = parsePromptIds(endIds, diags);
  if (ids)
    options.endIds = std::move(*ids);
  return ids.has_value();
}

std::string DraftFlags::check() const {
  bool hasWeights = !checkpoint.empty() || !weights.empty();
  if (!isGiven())
    return hasWeights || tokens.getNumOccurrences()
               ? "--draft-tokens, --draft-checkpoint and --draft-weights are "
                 "for --draft"
               : "";
  if (draft.empty())
    return "--draft takes a package, or lookup";
  if (isProgram(draft) && hasWeights)
    return "--draft-checkpoint and --draft-weights are for packages";
  if (isLookup() && hasWeights)
    return "--draft=lookup has no weights";
  if (!checkpoint.empty() && !weights.empty())
    return "--draft-checkpoint takes no --draft-weights, because a checkpoint "
           "has weights";
  if (tokens == 0 || tokens > 1024)
    return "--draft-tokens takes a number from 1 to 1024";
  return "";
}

TrainedModelSource DraftFlags::source() const {
  TrainedModelSource source;
  source.package = draft;
  source.checkpoint = checkpoint;
  source.weights = weights;
  source.needsTokenizer = false;
  return source;
}

std::string ChatFlags::check(const PromptFlags &prompt) const {
  if (!isGiven()) {
    if (form.isGiven())
      return "--tools, --date and --template-arg are for --chat and --messages";
    return system.getNumOccurrences() ? "--system is for --chat and --messages"
                                      : "";
  }
  if (std::string wrong = form.check(); !wrong.empty())
    return wrong;
  if (chat && messages.getNumOccurrences())
    return "give one of --chat and --messages";
  if (prompt.text.getNumOccurrences() || prompt.file.getNumOccurrences() ||
      prompt.ids.getNumOccurrences() || prompt.several.getNumOccurrences())
    return "a conversation takes no prompt";
  if (prompt.markBeginning)
    return "a conversation takes no --bos; its form says where it begins";
  return "";
}
