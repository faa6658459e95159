//===- ChatData.cpp - conversations as training data ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ChatExamples.h"
#include "UsedTokenizer.h"
#include "lib/Support/Digest.h"
#include "lib/Text/Diags.h"
#include "lib/Train/Diags.h"
#include "lib/Train/TextData.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

namespace {
/// A run takes one conversation, from its beginning. What is not learned has a
/// target that is not a class: the text of others, and the positions after the
/// end.
class ChatData : public TrainingData {
public:
  ChatData(std::vector<ChatExample> chats, const TokenInputs &inputs,
           UsedTokenizer used)
      : chats(std::move(chats)), inputs(inputs), used(std::move(used)) {}

  uint64_t count() const override { return chats.size(); }
  uint64_t perRun() const override { return 1; }
  void
  read(llvm::ArrayRef<uint64_t> examples,
       llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> buffers) const override;
  void reportTooFew(bool validates, Diagnostics &diags) const override {
    diags.report({}, diag::TooFewExamples, int64_t(count()),
                 int64_t(validates ? 2 : 1), int64_t(1));
  }
  DataUnit unit() const override { return DataUnit::Tokens; }
  uint64_t size() const override;
  uint64_t unitsPerRun() const override { return inputs.length; }
  std::string fingerprint() const override;
  UsedTokenizer tokenizer() const override { return used; }
  std::string describe(const DataOrder &order) const override {
    uint64_t count = order.trainingCount();
    return std::to_string(count) +
           (count == 1 ? " conversation" : " conversations") +
           " to train on, " + std::to_string(order.validationCount()) +
           " to validate";
  }

private:
  std::vector<ChatExample> chats;
  TokenInputs inputs;
  UsedTokenizer used;
};
} // namespace

/// Not an id of any vocabulary: `cross_entropy` ignores it.
static constexpr int32_t ignored = -1;

void ChatData::read(
    llvm::ArrayRef<uint64_t> examples,
    llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> buffers) const {
  const ChatExample &chat = chats[examples.front()];
  llvm::MutableArrayRef<int32_t> tokens = idsIn(buffers[inputs.tokens]),
                                 targets = idsIn(buffers[inputs.targets]);
  for (size_t at = 0; at < inputs.length; ++at) {
    tokens[at] = at < chat.ids.size() ? chat.ids[at] : 0;
    bool isLearned = at + 1 < chat.ids.size() && chat.isAnswer[at + 1];
    targets[at] = isLearned ? chat.ids[at + 1] : ignored;
  }
}

uint64_t ChatData::size() const {
  uint64_t tokens = 0;
  for (const ChatExample &chat : chats)
    tokens += chat.ids.size();
  return tokens;
}

std::string ChatData::fingerprint() const {
  std::vector<int32_t> all;
  for (const ChatExample &chat : chats)
    for (auto [id, isAnswer] : llvm::zip(chat.ids, chat.isAnswer))
      all.push_back(isAnswer ? -id - 1 : id);
  return blake3({reinterpret_cast<const uint8_t *>(all.data()),
                 all.size() * sizeof(int32_t)});
}

/// Cuts what is longer than a run, and leaves out what has no answer in it.
static bool fit(std::vector<ChatExample> &chats, const TokenInputs &inputs,
                Diagnostics &diags) {
  size_t all = chats.size(), cut = 0;
  for (ChatExample &chat : chats) {
    if (chat.ids.size() <= inputs.length + 1)
      continue;
    chat.ids.resize(inputs.length + 1);
    chat.isAnswer.resize(inputs.length + 1);
    ++cut;
  }
  // The first id is predicted from nothing.
  llvm::erase_if(chats, [](const ChatExample &chat) {
    return !llvm::is_contained(
        llvm::make_range(chat.isAnswer.begin() + !chat.isAnswer.empty(),
                         chat.isAnswer.end()),
        true);
  });
  auto length = int64_t(inputs.length);
  if (chats.empty()) {
    diags.report({}, diag::NoAnswers, int64_t(all), length);
    return false;
  }
  if (cut || chats.size() < all)
    diags.report({}, diag::ChatsCut, int64_t(all), int64_t(cut), length,
                 int64_t(all - chats.size()));
  return true;
}

std::unique_ptr<TrainingData>
anec::openChatData(const DataOptions &options,
                   llvm::ArrayRef<std::string> files, const TokenInputs &inputs,
                   Diagnostics &diags) {
  std::unique_ptr<Tokenizer> tokenizer =
      openTokenizer(options.tokenizer, diags);
  std::optional<std::vector<ChatExample>> all;
  if (tokenizer)
    all = readChatFiles(files, *tokenizer, diags);
  if (!all)
    return nullptr;
  for (const ChatExample &example : *all)
    for (auto [index, id] : llvm::enumerate(example.ids))
      if (id < 0 || id >= inputs.vocabulary) {
        diags.reportFile(files.front(), diag::TokenOutOfVocabulary, int64_t(id),
                         int64_t(index), inputs.vocabulary);
        return nullptr;
      }
  if (!fit(*all, inputs, diags))
    return nullptr;
  return std::make_unique<ChatData>(std::move(*all), inputs,
                                    usedTokenizer(*tokenizer));
}
