//===- OpChains.h - paths through a function --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Whether there is a path from one op to another takes a search through all
/// that is between them. For most ops of a deep network, which are far from
/// each other, long paths answer it at once: each op is on one of them, and
/// leads to those that come later on the same one.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_OPCHAINS_H
#define ANEC_LIB_PASSES_OPCHAINS_H

#include "anec/IR/IR.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

/// Paths through a function, in linear time. They hold while the operands of
/// its ops stay the same.
class OpChains {
public:
  explicit OpChains(const Function &function);

  /// Whether a path along a chain leaves `ops` and comes back to them. If not,
  /// there can still be another path.
  bool returns(llvm::ArrayRef<Op *> ops,
               llvm::function_ref<bool(const Op *)> isInside) const;

private:
  struct Place {
    unsigned chain, index;
  };
  llvm::DenseMap<const Op *, Place> places;
};

} // namespace anec

#endif // ANEC_LIB_PASSES_OPCHAINS_H
