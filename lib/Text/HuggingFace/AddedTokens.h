//===- AddedTokens.h - tokens that texts are searched for -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Tokens that are found before a text is normalized, or after, wherever they
/// stand: the first, and of those that begin there the longest.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_HUGGINGFACE_ADDEDTOKENS_H
#define ANEC_LIB_TRAIN_HUGGINGFACE_ADDEDTOKENS_H

#include "Models.h"
#include "Normalizers.h"
#include "llvm/ADT/DenseMap.h"
#include <array>

namespace anec::hf {

struct AddedToken {
  int32_t id;
  std::string text;
  bool isWord;           ///< found only between characters of no word
  bool takesSpaceBefore; ///< with all spaces before it
  bool takesSpaceAfter;
  bool isNormalized;  ///< found in normalized texts, by its normalized text
  bool isSpecial;     ///< decodes to nothing
  std::string normal; ///< its normalized text, to which it decodes
};

/// A part of a text: an added token, or text between them.
struct Span {
  size_t begin, end;
  std::optional<int32_t> id;
};

/// The tokens that are found in one of both kinds of texts.
class TokenSearch {
public:
  void add(llvm::StringRef text, const AddedToken &token);
  /// The parts of `text`, in order; empty ones are left out.
  std::vector<Span> split(llvm::StringRef text) const;

private:
  /// The token that `text` begins with, the longest, and its size.
  const AddedToken *startOf(llvm::StringRef text, size_t &size) const;

  std::vector<AddedToken> tokens;
  /// A trie: the node behind a byte, and the tokens that end in nodes.
  llvm::DenseMap<uint64_t, uint32_t> edges;
  std::vector<int32_t> tokensOfNodes = {-1};
  std::array<bool, 256> begins = {};
};

class AddedTokens {
public:
  /// Reads `added_tokens`. `words` are those of the model; tokens that are in
  /// it have the same id there.
  void read(Fields &fields, const Vocabulary &words,
            const Normalizer *normalizer);

  const TokenSearch &inText() const { return before; }
  const TokenSearch &inNormalizedText() const { return after; }
  /// Null for the ids of other tokens.
  const AddedToken *find(int32_t id) const;
  std::optional<int32_t> idOf(llvm::StringRef text) const;
  /// One more than the highest id.
  unsigned size() const { return highest; }

private:
  bool check(const AddedToken &token, const Vocabulary &words,
             ReadError &error) const;

  llvm::DenseMap<int32_t, AddedToken> tokens;
  llvm::StringMap<int32_t> ids;
  TokenSearch before, after;
  unsigned highest = 0;
};

} // namespace anec::hf

#endif // ANEC_LIB_TRAIN_HUGGINGFACE_ADDEDTOKENS_H
