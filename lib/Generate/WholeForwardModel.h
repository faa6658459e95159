//===- WholeForwardModel.h - a forward for every step -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_GENERATE_WHOLEFORWARDMODEL_H
#define ANEC_LIB_TRAIN_GENERATE_WHOLEFORWARDMODEL_H

#include "anec/Generate/TextModel.h"
#include "anec/Runtime/Session.h"

namespace anec {

/// A model whose package computes all positions at once and keeps nothing: each
/// feed takes one run. Sequences are lists of tokens.
class WholeForwardModel : public TextModel {
public:
  /// Whether `entry` takes tokens, and nothing else that its logits depend on,
  /// and has a column of logits for each.
  static bool canUse(const PackagedEntry &entry);
  /// Null, with the reason reported, when `entry` cannot be prepared.
  [[nodiscard]] static std::unique_ptr<WholeForwardModel>
  open(Session &session, const PackagedEntry &entry, Diagnostics &diags);

  size_t positions() const override { return length; }
  size_t vocabulary() const override { return classes; }
  unsigned sequences() const override { return unsigned(texts.size()); }
  uint64_t cacheBytes() const override { return 0; }
  [[nodiscard]] bool feed(llvm::ArrayRef<TokenFeed> feeds,
                          Diagnostics &diags) override;

private:
  explicit WholeForwardModel(Session &session) : session(&session) {}
  [[nodiscard]] bool run(const TokenFeed &feed, Diagnostics &diags);

  Session *session;
  std::string entry;
  size_t tokensInput = 0, logitsOutput = 0;
  size_t length = 0, classes = 0;
  std::vector<std::vector<int32_t>> texts; ///< of the sequences
  std::vector<std::vector<uint8_t>> inputs, outputs;
};

} // namespace anec

#endif // ANEC_LIB_TRAIN_GENERATE_WHOLEFORWARDMODEL_H
