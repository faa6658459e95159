//===- BatchedModel.h - texts that are read side by side --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_BATCHEDMODEL_H
#define ANEC_LIB_TRAIN_BATCHEDMODEL_H

#include "DecodeEntry.h"
#include "anec/Generate/TextModel.h"

namespace anec {

/// A model whose programs hold several texts in their caches, and read a block
/// of each in one run, so that weights are read once for all of them. What one
/// text alone has many of, a prompt, programs for one text read.
class BatchedTextModel : public TextModel {
public:
  BatchedTextModel(Session &session, std::vector<DecodeEntry> entries)
      : session(session), entries(std::move(entries)),
        lengths(size_t(this->entries.front().texts)) {}

  size_t positions() const override { return size_t(longestContext(entries)); }
  size_t vocabulary() const override {
    return size_t(entries.front().vocabulary);
  }
  unsigned sequences() const override { return unsigned(lengths.size()); }
  uint64_t cacheBytes() const override;
  [[nodiscard]] bool feed(llvm::ArrayRef<TokenFeed> feeds,
                          Diagnostics &diags) override;

private:
  /// A feed, and how many of its tokens have been read.
  struct Reading {
    const TokenFeed *feed;
    size_t done = 0;

    size_t left() const { return feed->tokens.size() - done; }
    size_t firstWanted() const { return feed->tokens.size() - feed->wanted; }
    size_t unwanted() const { return std::max(firstWanted(), done) - done; }
  };
  /// A run: the texts that it reads, and how many tokens of each.
  struct Step {
    DecodeEntry *entry = nullptr;
    llvm::SmallVector<std::pair<Reading *, size_t>, 4> parts;
    size_t tokens = 0;
  };

  Step choose(llvm::MutableArrayRef<Reading> readings);
  DecodeEntry *onBestRung(const DecodeEntry &size, const Step &step);
  [[nodiscard]] bool enter(DecodeEntry &entry, Diagnostics &diags);
  [[nodiscard]] bool run(const Step &step, Diagnostics &diags);

  Session &session;
  std::vector<DecodeEntry> entries;
  std::vector<size_t> lengths; ///< of the texts
  /// An entry whose states have the texts; null before the first run.
  const DecodeEntry *rung = nullptr;
};

} // namespace anec

#endif // ANEC_LIB_TRAIN_BATCHEDMODEL_H
