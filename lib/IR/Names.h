//===- Names.h - unique names for printing ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Values have names for people, which can be empty or repeated. Printed names
/// must be unique, valid, and deterministic.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_NAMES_H
#define ANEC_LIB_IR_NAMES_H

#include "anec/IR/IR.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Allocator.h"

namespace anec {

/// `name` with every character except letters, digits and `_` (and dots with
/// `keepDots`) replaced by `_`, not starting with a digit; `fallback` when the
/// result is empty.
std::string sanitizeName(llvm::StringRef name, llvm::StringRef fallback,
                         bool keepDots = false);

/// Whether the names are the same as printing them as MIL leaves them: `a:0` is
/// `a_0` there, and the reserved word `state` is `state_`.
bool areSpelledAlike(llvm::StringRef left, llvm::StringRef right);
/// The place in `all`, whose elements have a `name`, of the one called `name`,
/// or else of the only one with another spelling of it.
template <typename Named>
std::optional<size_t> findByName(llvm::ArrayRef<Named> all,
                                 llvm::StringRef name) {
  std::optional<size_t> alike;
  bool areSeveral = false;
  for (size_t place = 0; place < all.size(); ++place) {
    if (all[place].name == name)
      return place;
    if (!areSpelledAlike(all[place].name, name))
      continue;
    areSeveral |= alike.has_value();
    alike = place;
  }
  return areSeveral ? std::nullopt : alike;
}

/// The value's name, or the name of its defining op when it has none.
llvm::StringRef displayName(const Value &value);

/// Creates unique names.
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
/// first and keep their names; a value that is returned once and is not a
/// parameter has the result's name. A `_` is appended to a reserved name. A
/// null `isReserved` means the IR's textual form, whose names can have dots.
class ValueNames {
public:
  using Reserved = bool (*)(llvm::StringRef name);
  explicit ValueNames(const Function &function, Reserved isReserved = nullptr);
  llvm::StringRef operator[](const Value *value) const {
    return names.lookup(value);
  }
  /// For names in addition to those of the values.
  NameSet &all() { return set; }
  /// Gives new names to what the ops of a block compute. Ops can share a block.
  void addBlock(const Function &block);
  /// Gives a parameter of a block a name of its own.
  void addParameter(const Value *param) {
    names.erase(param);
    add(param, param->name);
  }
  /// Adds a parameter of a block that stands for a value around it.
  void addParameter(const Value *param, const Value *stands) {
    names[param] = names.lookup(stands);
  }

private:
  void add(const Value *value, llvm::StringRef wanted);
  Reserved isReserved;
  NameSet set;
  llvm::DenseMap<const Value *, llvm::StringRef> names;
};

} // namespace anec

#endif // ANEC_LIB_IR_NAMES_H
