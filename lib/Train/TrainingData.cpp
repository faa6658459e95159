//===- TrainingData.cpp - which kind of data a run has --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Train/TrainingData.h"
#include "lib/Train/ConversationFiles.h"
#include "lib/Train/Diags.h"
#include "lib/Train/TextData.h"
#include "llvm/ADT/STLExtras.h"

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
