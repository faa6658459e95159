//===- Legalize.h - rewrites that make a target's rules hold ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A rewrite replaces an op that breaks a rule by ops that do not. It is a
/// function from the op to the replacing value, or null when it does not apply
/// to the op. Rewrites.def lists the rewrites, and each rule names its own.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_LEGALIZE_H
#define ANEC_LIB_PASSES_LEGALIZE_H

#include "anec/Passes/Pass.h"
#include "anec/Target/Rule.h"
#include "lib/IR/Builder.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Weights.h"

namespace anec::legalize {

/// An op to rewrite, and functions that build its replacement. New ops are
/// inserted before the op, and named after it.
class Rewriter {
public:
  Rewriter(Function &function, Op &op, const Target &target)
      : op(op), target(target), builder(function) {
    builder.setInsertionPoint(&op);
  }

  Op &op;
  const Target &target;

  Value *x() const { return op.operand(0u); }
  Value *make(const OpDef &def, llvm::ArrayRef<Value *> operands,
              llvm::ArrayRef<Attr> attrs, llvm::StringRef part = "");
  Value *make(const OpDef &def, llvm::ArrayRef<Value *> operands,
              llvm::StringRef part = "") {
    return make(def, operands, {}, part);
  }
  /// A scalar of the element type of the op's result.
  Value *scalar(double number, llvm::StringRef part);
  /// `extent` elements of `value` along `axis`, from `begin` on. Constants and
  /// weights are sliced without an op.
  Value *slice(Value *value, unsigned axis, int64_t begin, int64_t extent,
               llvm::StringRef part);
  /// Constants and weights are reshaped without an op, too.
  Value *reshape(Value *value, llvm::ArrayRef<int64_t> shape,
                 llvm::StringRef part = "");
  Value *concat(llvm::ArrayRef<Value *> values, int64_t axis,
                llvm::StringRef part = "");
  /// `value` with zeros around its last axes: `margins` before and after each.
  /// Without margins, `value` itself.
  Value *pad(Value *value, llvm::ArrayRef<int64_t> margins,
             llvm::StringRef part);

private:
  std::string nameOf(llvm::StringRef part) const;
  /// A `weight` op that reads the stored array of `source` with the view
  /// `array`.
  Value *weight(const Op &source, const ArrayView &array, llvm::StringRef part);

  Builder builder;
};

/// `shape` with `axis` as two axes, the second of extent `inner`; an axis of
/// one position before them is dropped. Nothing for more than five axes.
std::optional<Shape> splitAxis(Shape shape, size_t axis, int64_t inner);

/// The least number of parts of at most `limit`.
inline int64_t partCount(int64_t extent, int64_t limit) {
  return (extent + limit - 1) / limit;
}
/// Calls `part(begin, extent)` for parts of at most `limit`, as equal as
/// possible; for more than 1024 parts, not at all.
void eachPart(int64_t extent, int64_t limit,
              llvm::function_ref<void(int64_t, int64_t)> part);

// The rewrites, each in the file of its family.
#define OP_REWRITE(NAME, FUNCTION, SPELLING)                                   \
  Value *FUNCTION(Rewriter &rewriter);
#include "anec/Target/Rewrites.def"

/// Of a `cond` without loops.
Value *branchesToSelects(Rewriter &rewriter);

/// sum [N, O, ...] + bias [O].
Value *addBias(Rewriter &rewriter, Value *sum, Value *bias);

/// Rewrites the function's inputs and outputs, which changes the interface for
/// callers. Returns whether anything changed.
bool legalizeInterface(Function &function, PassContext &ctx);

} // namespace anec::legalize

#endif // ANEC_LIB_PASSES_LEGALIZE_H
