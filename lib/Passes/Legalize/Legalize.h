//===- Legalize.h - rewrites that make a target's rules hold ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A rewrite writes an op that breaks a rule as ops that do not: a function
/// from the op to the value that takes its place, or null when it has nothing
/// for an op of this kind. Rewrites.def has them, and rules name theirs.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_LEGALIZE_H
#define ANEC_LIB_PASSES_LEGALIZE_H

#include "anec/IR/Builder.h"
#include "anec/Ops/Ops.h"
#include "anec/Ops/Weights.h"
#include "anec/Passes/Pass.h"
#include "anec/Target/Rule.h"

namespace anec::legalize {

/// An op to be rewritten, and what new ops are made with: they stand before it,
/// and are called after it.
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
  /// `extent` elements of `value` along `axis`. Of a constant or a weight, at
  /// once.
  Value *slice(Value *value, unsigned axis, int64_t begin, int64_t extent,
               llvm::StringRef part);
  /// Of a constant or a weight, at once too.
  Value *reshape(Value *value, llvm::ArrayRef<int64_t> shape,
                 llvm::StringRef part = "");
  Value *concat(llvm::ArrayRef<Value *> values, int64_t axis,
                llvm::StringRef part = "");

private:
  std::string nameOf(llvm::StringRef part) const;
  /// The weight that `source` reads, seen through `array`.
  Value *weight(const Op &source, ArrayView array, llvm::StringRef part);

  Builder builder;
};

/// The most equal parts that hold at most `limit`: how many there are.
inline int64_t partCount(int64_t extent, int64_t limit) {
  return (extent + limit - 1) / limit;
}
/// Calls `part(begin, extent)` for parts of at most `limit`; not at all when
/// there would be thousands of them.
void eachPart(int64_t extent, int64_t limit,
              llvm::function_ref<void(int64_t, int64_t)> part);

// The rewrites, each in the file of its family.
#define OP_REWRITE(NAME, FUNCTION, SPELLING)                                   \
  Value *FUNCTION(Rewriter &rewriter);
#include "anec/Target/Rewrites.def"

/// `bias` of [O] as it is added to [N, O, H, W].
Value *addBias(Rewriter &rewriter, Value *sum, Value *bias);

/// What callers of the function will notice: rewrites its inputs and outputs.
bool legalizeInterface(Function &function, PassContext &ctx);

} // namespace anec::legalize

#endif // ANEC_LIB_PASSES_LEGALIZE_H
