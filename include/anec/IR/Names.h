//===- Names.h - unique names for printing ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Values carry names for people, which may be empty or repeat. What is printed
/// has to be unique, valid, and the same every time.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_NAMES_H
#define ANEC_IR_NAMES_H

#include "anec/IR/IR.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Allocator.h"

namespace anec {

/// `name` with every character but letters, digits and `_` (and dots, when they
/// are kept) made `_`, and not starting with a digit; `fallback` when nothing
/// is left.
std::string sanitizeName(llvm::StringRef name, llvm::StringRef fallback,
                         bool keepDots = false);

/// The value's name, or without one that of the op that computes it.
llvm::StringRef displayName(const Value &value);

/// Hands out names that were not handed out before.
class NameSet {
public:
  /// `wanted`, or `wanted_1`, `wanted_2`, ... when that is taken.
  llvm::StringRef unique(llvm::StringRef wanted);
  bool contains(llvm::StringRef name) const { return taken.contains(name); }

private:
  llvm::StringSet<llvm::BumpPtrAllocator> taken;
  llvm::StringMap<unsigned> next;
};

/// The printed name of every value of a function. Parameters and results come
/// first and keep theirs; a value that is returned once, and is no parameter,
/// is called as the result is. A reserved name gets a `_` behind it; without
/// reserved names, it is the IR's textual form, whose names may have dots.
class ValueNames {
public:
  using Reserved = bool (*)(llvm::StringRef name);
  explicit ValueNames(const Function &function, Reserved isReserved = nullptr);
  llvm::StringRef operator[](const Value *value) const {
    return names.lookup(value);
  }
  /// For names beside the values' own.
  NameSet &all() { return set; }

private:
  void add(const Value *value, llvm::StringRef wanted);
  Reserved isReserved;
  NameSet set;
  llvm::DenseMap<const Value *, llvm::StringRef> names;
};

} // namespace anec

#endif // ANEC_IR_NAMES_H
