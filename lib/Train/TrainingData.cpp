//===- TrainingData.cpp - which kind of data a run has --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TrainingData.h"
#include "ChatExamples.h"
#include "DataFiles.h"
#include "anec/Support/MappedFile.h"
#include "lib/Train/Conversations.h"
#include "lib/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace anec;

TrainingData::~TrainingData() = default;

/// `images` (fp16[64, 8]), `labels` (int32[8])
static std::string listInputs(const TrainingStep &step) {
  std::string text;
  for (const StepInput &input : step.inputs())
    text += (text.empty() ? "`" : ", `") + input.name + "` (" +
            input.type.str() + ")";
  return text.empty() ? "(none)" : text;
}

/// The files, if all of them have conversations, and otherwise none. Returns
/// nothing, with the reason reported, when one cannot be read.
static std::optional<std::vector<std::string>>
conversationFiles(llvm::ArrayRef<DataFile> files, Diagnostics &diags) {
  std::vector<std::string> chats;
  for (const DataFile &file : files) {
    llvm::StringRef ending = llvm::sys::path::extension(file.path);
    if (!ending.equals_insensitive(".json") &&
        !ending.equals_insensitive(".jsonl"))
      return std::vector<std::string>();
    MappedFile mapped = mapFile(file.path, diags);
    if (!mapped)
      return std::nullopt;
    if (!hasConversations(file.path, mapped->getBuffer()))
      return std::vector<std::string>();
    chats.push_back(file.path);
  }
  return chats;
}

std::optional<uint64_t>
anec::longestConversation(const std::vector<std::string> &paths,
                          llvm::StringRef tokenizer, Diagnostics &diags) {
  std::optional<std::vector<DataFile>> files = listDataFiles(paths, "", diags);
  std::optional<std::vector<std::string>> chats;
  if (files)
    chats = conversationFiles(*files, diags);
  if (!chats || chats->empty())
    return chats ? std::optional<uint64_t>(0) : std::nullopt;
  std::unique_ptr<Tokenizer> words = openTokenizer(tokenizer, diags);
  std::optional<std::vector<ChatExample>> examples;
  if (words)
    examples = readChatFiles(*chats, *words, diags);
  if (!examples)
    return std::nullopt;
  uint64_t longest = 0;
  for (const ChatExample &example : *examples)
    longest = std::max<uint64_t>(longest, example.ids.size());
  return longest;
}

std::unique_ptr<TrainingData> anec::openTrainingData(const DataOptions &options,
                                                     const TrainingStep &step,
                                                     Diagnostics &diags) {
  std::optional<std::vector<DataFile>> files =
      listDataFiles(options.paths, options.without, diags);
  if (!files)
    return nullptr;
  auto hasArrays = [](const DataFile &file) { return file.hasArrays(); };
  // A language model's text may lie beside arrays, which are then refused.
  bool isArrays =
      !options.inputs.empty() ||
      (step.tokenInputs() ? !files->empty() && llvm::all_of(*files, hasArrays)
                          : llvm::any_of(*files, hasArrays));
  if (isArrays && !step.inputs().empty())
    return openArrayData(options, step, diags);
  if (step.tokenInputs()) {
    std::optional<std::vector<std::string>> chats =
        conversationFiles(*files, diags);
    if (!chats)
      return nullptr;
    if (!chats->empty())
      return openChatData(options, *chats, *step.tokenInputs(), diags);
  }
  if (step.tokenInputs())
    return openTokenWindows(options, *step.tokenInputs(), diags);
  diags.reportFile(options.package, diag::NoLanguageModel, step.entry(),
                   listInputs(step));
  return nullptr;
}
