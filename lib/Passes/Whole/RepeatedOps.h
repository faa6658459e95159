//===- RepeatedOps.h - parts of a function that compute alike ---*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Finds the layers of a network in a straight line of ops: parts next to each
/// other whose ops are the same except for their weights. A part is a range of
/// the ops that depend on the inputs of the function; the weights, constants
/// and what is computed of them alone belong to the parts that use them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_WHOLE_REPEATEDOPS_H
#define ANEC_LIB_PASSES_WHOLE_REPEATEDOPS_H

#include "anec/IR/IR.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace anec {

/// The ops of a function in an order in which its layers are next to each
/// other.
class LayerOrder {
public:
  explicit LayerOrder(Function &function);

  /// The ops that depend on the function's inputs: first those that depend on
  /// no weight, such as masks, which the source may compute in its first layer,
  /// then the others in their order.
  llvm::ArrayRef<Op *> ops() const { return ordered; }
  /// A number for each of these ops, the same for those that compute alike.
  llvm::ArrayRef<size_t> colors() const { return colored; }
  /// Whether some of ops `begin` to `end` use weights.
  bool useWeights(size_t begin, size_t end) const {
    return users[begin] != users[end];
  }
  bool dependsOnInputs(const Op &op) const { return active.contains(&op); }
  bool dependsOnWeights(const Op &op) const { return weighted.contains(&op); }
  /// Ops `begin` to `end` and the weights, constants and ops on these that they
  /// use, each before its uses.
  std::vector<Op *> withParameters(size_t begin, size_t end) const;
  /// Adds the same for one op to `ops`, unless they are in `added`.
  void addWithParameters(Op &op, llvm::DenseSet<const Op *> &added,
                         std::vector<Op *> &ops) const;

private:
  std::vector<Op *> ordered;
  std::vector<size_t> colored;
  std::vector<size_t> users; ///< ops before each that use weights
  llvm::DenseSet<const Op *> active, weighted;
};

/// What takes the place of an op of a part in the layer.
enum class PartOp : uint8_t {
  Copied,   ///< itself
  Weight,   ///< a weight of each instance
  Constant, ///< an argument, since parts have other numbers there
  Shared,   ///< an argument: one op, which all parts use
};

/// Parts that repeat, and the layer that they are instances of.
struct RepeatedOps {
  size_t begin = 0, period = 0; ///< in LayerOrder::ops
  /// The ops of each part, with its weights and constants. Those with the same
  /// index correspond.
  std::vector<std::vector<Op *>> parts;
  std::vector<PartOp> kinds; ///< by the index of an op
  bool hasInstances = false; ///< some op is a PartOp::Weight
  /// The values from outside, by argument of the layer and by part. Two
  /// arguments can have the same value in some parts.
  std::vector<std::vector<Value *>> arguments;
  /// The argument that an operand is: by the op of the first part and the slot.
  llvm::DenseMap<std::pair<const Op *, unsigned>, unsigned> argumentOf;
  /// The values that are used outside, by result of the layer and by part.
  std::vector<std::vector<Value *>> results;

  size_t count() const { return parts.size(); }
  size_t end() const { return begin + period * count(); }
};

/// The repeated parts of ops `begin` to `end` that leave the fewest ops;
/// nothing when no part repeats that is worth a layer. `budget` is the time for
/// all searches in a function, in steps; what is used is taken off, and nothing
/// is found when it is used up.
std::optional<RepeatedOps> findRepeatedOps(const LayerOrder &order,
                                           size_t begin, size_t end,
                                           size_t &budget);
/// Less than a second.
constexpr size_t searchBudget = 300'000'000;

} // namespace anec

#endif // ANEC_LIB_PASSES_WHOLE_REPEATEDOPS_H
