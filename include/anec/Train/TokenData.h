//===- TokenData.h - the tokens to train on ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The token ids of files, one file behind the other, and the windows that
/// training takes from them. Files are mapped: what is not looked at is not
/// read, but for one scan that makes sure that the model knows every id.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_TOKENDATA_H
#define ANEC_TRAIN_TOKENDATA_H

#include "anec/Train/Tokenizer.h"
#include <memory>
#include <vector>

namespace anec {

/// Where a pass over the training windows stands.
struct DataPosition {
  uint64_t epoch = 0;
  uint64_t window = 0; ///< how many of the epoch's have been taken
  bool operator==(const DataPosition &) const = default;
};

class TokenData {
public:
  /// Opens files and all files below folders, by name: `.bin` has token ids of
  /// 16 bits, everything else is text, of which the tokenizer's bytes stay
  /// where they are. Nothing, with the reason reported, when one cannot be read
  /// or has an id that is not below `vocabulary`.
  static std::optional<TokenData> open(llvm::ArrayRef<std::string> paths,
                                       llvm::StringRef without,
                                       const Tokenizer &tokenizer,
                                       int64_t vocabulary, Diagnostics &diags);

  uint64_t size() const { return total; }
  /// What tells these tokens from others: their numbers, and the first and last
  /// of each file.
  std::string fingerprint() const;
  /// The tokens from `begin` on.
  void copy(uint64_t begin, llvm::MutableArrayRef<int32_t> out) const;

private:
  struct Piece {
    std::string path;
    std::shared_ptr<const void> owner;
    llvm::ArrayRef<uint8_t> bytes;
    unsigned width = 1; ///< bytes of a token
    uint64_t begin = 0; ///< of its first token
    uint64_t count() const { return bytes.size() / width; }
    int32_t at(uint64_t index) const;
  };
  bool add(llvm::StringRef path, const Tokenizer &tokenizer,
           Diagnostics &diags);
  bool check(const Piece &piece, int64_t vocabulary, Diagnostics &diags) const;

  std::vector<Piece> pieces;
  uint64_t total = 0;
};

/// Windows of `length` tokens and the ones that follow each: window i begins at
/// i * length. The last of them validate, the others train, in an order drawn
/// anew for every epoch.
class Windows {
public:
  /// Nothing, with the reason reported, when there are not enough tokens.
  static std::optional<Windows> divide(const TokenData &data, uint64_t length,
                                       double validationShare, uint64_t seed,
                                       Diagnostics &diags);

  uint64_t trainingCount() const { return training; }
  uint64_t validationCount() const { return validation; }
  /// The window at `position`, which then stands at the next one.
  uint64_t next(DataPosition &position);
  /// The window number `index` of those that validate.
  uint64_t validationWindow(uint64_t index) const { return training + index; }
  /// Fills `tokens` and `targets` from a window.
  void read(const TokenData &data, uint64_t window,
            llvm::MutableArrayRef<int32_t> tokens,
            llvm::MutableArrayRef<int32_t> targets) const;

private:
  void shuffle(uint64_t epoch);

  uint64_t length = 0, training = 0, validation = 0, seed = 0;
  std::vector<uint64_t> order; ///< of `shuffled`
  std::optional<uint64_t> shuffled;
};

} // namespace anec

#endif // ANEC_TRAIN_TOKENDATA_H
