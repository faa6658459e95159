//===- TextModel.h - logits of the texts that a model reads -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A language model as generation sees it: it holds one or more sequences of
/// tokens, takes tokens at the end of each, and gives the logits of what may
/// follow them. Whether it computes only the new positions, from caches, or
/// the whole sequence again is up to the implementation.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_GENERATE_TEXTMODEL_H
#define ANEC_GENERATE_TEXTMODEL_H

#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace anec {

/// Tokens for one sequence of a model.
struct TokenFeed {
  unsigned sequence = 0;
  /// The tokens of the sequence that stay, from its beginning: those after them
  /// are forgotten. Less than the sequence has to take tokens back.
  size_t keep = 0;
  llvm::ArrayRef<int32_t> tokens; ///< at least one, to follow those kept
  /// Logits are wanted for as many of the last tokens; at most `tokens.size()`.
  size_t wanted = 1;
  /// Gets `wanted` rows of `vocabulary()` logits, for the token after each.
  llvm::MutableArrayRef<float> logits;
};

class TextModel {
public:
  virtual ~TextModel();

  /// How many tokens a sequence can have.
  virtual size_t positions() const = 0;
  /// The number of logits of a token.
  virtual size_t vocabulary() const = 0;
  /// How many sequences the model holds at the same time.
  virtual unsigned sequences() const = 0;
  /// The memory that sequences take when they have all positions, in bytes; 0
  /// without caches.
  virtual uint64_t cacheBytes() const = 0;

  /// Reads the tokens of some sequences, each at most once. `keep` plus the
  /// tokens must not exceed positions(), and no id vocabulary(). Returns
  /// false, with the reason reported, on failure; the sequences are undefined
  /// then.
  [[nodiscard]] virtual bool feed(llvm::ArrayRef<TokenFeed> feeds,
                                  Diagnostics &diags) = 0;
};

} // namespace anec

#endif // ANEC_GENERATE_TEXTMODEL_H
