//===- Dimensions.h - user-defined names of extents -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Types hold numbers; messages should show `[dim, seq]`. This side table
/// records how each extent of a value was written, and guesses it for the
/// results of ops. A guess is only shown next to the numbers.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_DIMENSIONS_H
#define ANEC_LIB_FRONTEND_DIMENSIONS_H

#include "anec/IR/IR.h"
#include "llvm/ADT/DenseMap.h"

namespace anec::frontend {

/// How an extent was written; empty when it was a number.
using Spellings = llvm::SmallVector<llvm::StringRef, 4>;

/// An integer with a user-defined name.
struct NamedInteger {
  llvm::StringRef spelling;
  int64_t value;
};

class Dimensions {
public:
  /// Records a config entry: its name can be shown for its value.
  void addConfig(llvm::StringRef name, int64_t value) {
    config.push_back({name, value});
  }
  void set(const Value *value, Spellings spellings) {
    table[value] = std::move(spellings);
  }
  /// Guesses the spellings of `op`'s results from its operands, then from
  /// `hints`, the integers among its arguments, then from the config.
  void derive(const Op &op, llvm::ArrayRef<NamedInteger> hints = {});

  const Spellings *find(const Value *value) const;
  /// A type as shown in messages between backticks: "fp16[dim, seq]` = `[768,
  /// 256]", or just the type when no extent has a name.
  static std::string describe(const TensorType &type,
                              llvm::ArrayRef<llvm::StringRef> spellings);
  std::string describe(const Value &value) const;

private:
  llvm::DenseMap<const Value *, Spellings> table;
  std::vector<NamedInteger> config;

  llvm::StringRef at(const Value *value, int64_t axis, int64_t extent) const;
  llvm::StringRef guess(const Op &op, unsigned axis, int64_t extent,
                        unsigned rank,
                        llvm::ArrayRef<NamedInteger> hints) const;
};

} // namespace anec::frontend

#endif // ANEC_LIB_FRONTEND_DIMENSIONS_H
