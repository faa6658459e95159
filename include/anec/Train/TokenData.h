//===- TokenData.h - the tokens to train on ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The concatenated token ids of files, and the windows that training takes
/// from them. Files are mapped; apart from one scan that checks every id
/// against the vocabulary, only the parts in use are read.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_TOKENDATA_H
#define ANEC_TRAIN_TOKENDATA_H

#include "anec/Support/Diagnostics.h"
#include "anec/Train/DataOrder.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <optional>
#include <vector>

namespace anec {

class Tokenizer;

class TokenData {
public:
  /// The ids of a text. Nothing, with the reason reported, when it has none.
  using Encode = llvm::function_ref<std::optional<std::vector<int32_t>>(
      llvm::StringRef text, Diagnostics &)>;

  /// Opens files and all files in folders, in the order of their names, except
  /// the folder `without`. A `.bin` file has token ids, of 16 bits or with
  /// a header that says how many; any other file is text, whose bytes are its
  /// tokens without `encode`. Returns nothing, with the reason reported, when a
  /// file cannot be read or has an id of `vocabulary` or more.
  [[nodiscard]] static std::optional<TokenData>
  open(llvm::ArrayRef<std::string> paths, llvm::StringRef without,
       Encode encode, int64_t vocabulary, Diagnostics &diags);
  /// The same with the ids of `tokenizer`. Of the component LanguageModels.
  [[nodiscard]] static std::optional<TokenData>
  open(llvm::ArrayRef<std::string> paths, llvm::StringRef without,
       const Tokenizer &tokenizer, int64_t vocabulary, Diagnostics &diags);

  uint64_t size() const { return total; }
  /// Whether all tokens come from files of ids: no tokenizer has made them.
  bool hasIdsAlone() const;
  /// Identifies the data: the number of tokens, and the first and last tokens
  /// of each file.
  std::string fingerprint() const;
  /// Copies the tokens from `begin` on.
  void copy(uint64_t begin, llvm::MutableArrayRef<int32_t> out) const;

  /// How many windows of `length` tokens there are, each with the token that
  /// follows it as its last target: window i starts at i * length.
  uint64_t windowCount(uint64_t length) const;
  void readWindow(uint64_t length, uint64_t window,
                  llvm::MutableArrayRef<int32_t> tokens,
                  llvm::MutableArrayRef<int32_t> targets) const;
  /// Reports that there are too few tokens for a window to train on and, with
  /// `validates`, another.
  void reportTooFew(uint64_t length, bool validates, Diagnostics &diags) const;

private:
  struct Piece {
    std::string path;
    std::shared_ptr<const void> owner;
    llvm::ArrayRef<uint8_t> bytes;
    unsigned width = 1; ///< bytes per token
    bool isIds = false; ///< of a file of token ids
    uint64_t begin = 0; ///< index of its first token
    uint64_t count() const { return bytes.size() / width; }
    int32_t at(uint64_t index) const;
  };
  [[nodiscard]] bool add(llvm::StringRef path, Encode encode,
                         Diagnostics &diags);
  [[nodiscard]] bool check(const Piece &piece, int64_t vocabulary,
                           Diagnostics &diags) const;

  std::vector<Piece> pieces;
  uint64_t total = 0;
};

/// The windows of a text, some for training and some for validation.
class Windows {
public:
  /// Returns nothing, with the reason reported, when there are too few tokens.
  [[nodiscard]] static std::optional<Windows>
  divide(const TokenData &data, uint64_t length, double validationShare,
         uint64_t seed, Diagnostics &diags);

  uint64_t trainingCount() const { return order.trainingCount(); }
  uint64_t validationCount() const { return order.validationCount(); }
  /// Returns the window at `position` and advances `position`.
  uint64_t next(DataPosition &position) { return order.next(position).front(); }
  /// The validation window number `index`.
  uint64_t validationWindow(uint64_t index) const {
    return order.validationRun(index).front();
  }
  /// Fills `tokens` and `targets` from a window.
  void read(const TokenData &data, uint64_t window,
            llvm::MutableArrayRef<int32_t> tokens,
            llvm::MutableArrayRef<int32_t> targets) const {
    data.readWindow(length, window, tokens, targets);
  }

private:
  Windows(uint64_t length, DataOrder order)
      : length(length), order(std::move(order)) {}
  uint64_t length;
  DataOrder order;
};

} // namespace anec

#endif // ANEC_TRAIN_TOKENDATA_H
