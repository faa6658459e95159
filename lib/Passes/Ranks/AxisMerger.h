//===- AxisMerger.h - an op on merged axes ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A value of many axes has the same elements, in the same order, as one of few
/// in which adjacent axes are one. An op that treats adjacent axes alike can be
/// computed on the latter.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_AXISMERGER_H
#define ANEC_LIB_PASSES_AXISMERGER_H

#include "lib/IR/Builder.h"
#include "lib/IR/OpDef.h"

namespace anec::ranks {

/// The most axes that Core ML and the engine take.
inline constexpr unsigned mostAxes = 5;

/// The values that replace the results of an op; empty when it stays.
using Results = llvm::SmallVector<Value *, 2>;

/// Runs of adjacent axes that become one axis each.
struct AxisGroups {
  llvm::SmallVector<unsigned, 8> ofAxis; ///< the group of each axis
  unsigned count = 0;

  /// The key of axes that join either neighbor: those of one element.
  static constexpr int any = -1;
  /// Adjacent axes with equal keys are one group.
  static AxisGroups of(llvm::ArrayRef<int> keys);

  bool fit() const { return count <= mostAxes; }
  /// The extents of the groups of a value of `shape`.
  Shape merged(llvm::ArrayRef<int64_t> shape) const;
};

/// Builds the replacement of an op.
class AxisMerger {
public:
  AxisMerger(Function &function, Op &op) : op(op), builder(function) {
    builder.setInsertionPoint(&op);
  }

  Op &op;

  Value *x() const { return op.operand(0u); }
  const Shape &shape(unsigned slot = 0) const {
    return op.operand(slot)->type.shape;
  }
  /// The elements of `value` in `shape`. Constants and weights are reshaped
  /// without an op, and reshapes of reshapes are one.
  Value *view(Value *value, llvm::ArrayRef<int64_t> shape);
  /// `value`, whose shape broadcasts to `shape`, with that many elements, in
  /// values of few axes.
  Value *spread(Value *value, llvm::ArrayRef<int64_t> shape);
  Value *make(const OpDef &def, llvm::ArrayRef<Value *> operands,
              llvm::ArrayRef<Attr> attrs = {});
  /// The op with other operands, and with its constants except `changed`; its
  /// results in their old shapes.
  Results remake(llvm::ArrayRef<Value *> operands,
                 llvm::ArrayRef<Attr> changed = {});
  /// `value` in the shape of the op's only result.
  Results finish(Value *value) {
    return {view(value, op.result()->type.shape)};
  }

private:
  Builder builder;
};

/// The elements of `value` with axis `perm[i]` as axis i, in as many transposes
/// of few axes as it takes.
Value *transposed(AxisMerger &merger, Value *value,
                  llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> perm);
/// reshape(transpose(reshape(x))) that is one `pixel_shuffle`, `depth_to_space`
/// or `space_to_depth`, for the last of the three ops.
Results asBlocks(AxisMerger &merger);
/// What computes the op on values of at most five axes.
Results onMergedAxes(AxisMerger &merger);

} // namespace anec::ranks

#endif // ANEC_LIB_PASSES_AXISMERGER_H
