//===- TokenWindows.cpp - windows of text as training data ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/TokenData.h"
#include "lib/Train/TextData.h"

using namespace anec;

namespace {
/// A run takes one window.
class TokenWindows : public TrainingData {
public:
  TokenWindows(TokenData data, const TokenInputs &inputs, UsedTokenizer used)
      : data(std::move(data)), inputs(inputs), used(std::move(used)) {}

  uint64_t count() const override { return data.windowCount(inputs.length); }
  uint64_t perRun() const override { return 1; }
  void
  read(llvm::ArrayRef<uint64_t> examples,
       llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> buffers) const override {
    data.readWindow(inputs.length, examples.front(),
                    idsIn(buffers[inputs.tokens]),
                    idsIn(buffers[inputs.targets]));
  }
  void reportTooFew(bool validates, Diagnostics &diags) const override {
    data.reportTooFew(inputs.length, validates, diags);
  }
  DataUnit unit() const override { return DataUnit::Tokens; }
  uint64_t size() const override { return data.size(); }
  uint64_t unitsPerRun() const override { return inputs.length; }
  std::string fingerprint() const override { return data.fingerprint(); }
  UsedTokenizer tokenizer() const override { return used; }
  std::string describe(const DataOrder &order) const override {
    uint64_t count = order.trainingCount();
    return std::to_string(count) + (count == 1 ? " window" : " windows") +
           " to train on, " + std::to_string(order.validationCount()) +
           " to validate";
  }

private:
  TokenData data;
  TokenInputs inputs;
  UsedTokenizer used;
};
} // namespace

std::unique_ptr<TrainingData> anec::openTokenWindows(const DataOptions &options,
                                                     const TokenInputs &inputs,
                                                     Diagnostics &diags) {
  std::optional<TextEncoder> encoder = openEncoder(options.tokenizer, diags);
  if (!encoder)
    return nullptr;
  TokenData::Encode encode = nullptr;
  if (encoder->encode)
    encode = encoder->encode;
  std::optional<TokenData> data = TokenData::open(
      options.paths, options.without, encode, inputs.vocabulary, diags);
  if (!data)
    return nullptr;
  UsedTokenizer used = std::move(encoder->used);
  // Bytes by default are not what made the ids of a larger vocabulary.
  if (!encoder->encode && data->hasIdsAlone() &&
      inputs.vocabulary > encoder->vocabulary)
    used.kind = "none";
  return std::make_unique<TokenWindows>(std::move(*data), inputs,
                                        std::move(used));
}
