//===- Gradient.h - builders for gradient rules -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A row's `gradient` builds the gradients of an op's operands from those of
/// its results. It reads like the equations in its comment:
///
///   // y = x w:  dx = dy w, dw = dy x
///   static void gradientMul(Gradient &g) {
///     g.give(0, [&] { return g.mul(g.dy(), g.in(1)); });
///     g.give(1, [&] { return g.mul(g.dy(), g.in(0)); });
///   }
///
/// The function passed to `give` runs only when the gradient of that operand is
/// wanted. Inside it, operands, results and gradients of results have the
/// element type that the gradient will have: fp32 for a weight, otherwise that
/// of the operand. The returned value is summed over the axes along which the
/// operand was broadcast. Ops built before from the same values and constants
/// are reused. The order in which the function builds ops does not matter, so
/// arguments of a call may build some, too: `give` puts them in order.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_GRADIENT_H
#define ANEC_LIB_OPS_GRADIENT_H

#include "lib/IR/Builder.h"
#include "llvm/ADT/DenseMap.h"

namespace anec {

/// The ops that gradient rules built in a function, for reuse.
class MadeOps {
public:
  /// The op with this row, these operands and constants (defaults for all
  /// others); null when there is none.
  Op *find(const OpDef &def, llvm::ArrayRef<Value *> operands,
           llvm::ArrayRef<Attr> attrs) const;
  void add(Op *op);

private:
  llvm::DenseMap<std::pair<const OpDef *, const Value *>,
                 llvm::SmallVector<Op *, 1>>
      ops;
};

/// Builds the gradients of one op; the argument of a row's `gradient`.
class Gradient {
public:
  /// The gradients of `op`. `dy` has the gradient of each result, or null.
  /// `wanted` has the element type of each operand's gradient, or nothing when
  /// it is not wanted.
  Gradient(Builder &builder, MadeOps &made, const Op &op,
           llvm::ArrayRef<Value *> dy,
           llvm::ArrayRef<std::optional<DType>> wanted)
      : op(op), builder(builder), made(made), results(dy), wanted(wanted),
        gradients(wanted.size()) {}

  const Op &op;

  /// Whether the gradient of operand `slot` is wanted.
  bool wants(unsigned slot) const {
    return slot < wanted.size() && wanted[slot];
  }
  /// Calls `rule` for the gradient of operand `slot`, if it is wanted. The
  /// operand must broadcast to the shape of the returned value, which is summed
  /// to the operand's shape. Several gradients of one operand are added.
  void give(unsigned slot, llvm::function_ref<Value *()> rule);
  /// Declares that this op has no gradient, for the reason `why`.
  void refuse(llvm::StringRef why) { refusal = why.str(); }

  /// Whether an array of shape `extents` is small enough to be a constant of
  /// the program; calls `refuse` when it is not.
  bool canBake(llvm::ArrayRef<int64_t> extents);

  // Only inside `give`:
  /// Operand `slot`; floats are converted to `dtype()`.
  Value *in(unsigned slot) { return as(op.operand(slot)); }
  /// Result `index`; floats are converted to `dtype()`.
  Value *out(unsigned index = 0) { return as(op.result(index)); }
  /// The gradient of a result; zeros when it has none.
  Value *dy(unsigned index = 0);
  /// The same, without conversion to `dtype()`; null when the result has no
  /// gradient.
  Value *dyAsIs(unsigned index = 0) const { return results[index]; }
  /// The element type of the gradient that is being built.
  DType dtype() const { return *current; }
  const Shape &shape(unsigned slot) const {
    return op.operand(slot)->type.shape;
  }
  unsigned rank(unsigned slot) const { return op.operand(slot)->type.rank(); }

  /// The first result of an op with these operands and constants: an existing
  /// op, or a new one.
  Value *make(const OpDef &def, llvm::ArrayRef<Value *> operands,
              llvm::ArrayRef<Attr> attrs = {});
  // Constants of the element type `dtype()`; those of `indices` are int32.
  Value *scalar(double number) { return array(Shape(), number); }
  Value *array(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> elements);
  Value *indices(llvm::ArrayRef<int64_t> shape,
                 llvm::ArrayRef<int64_t> elements);
  Value *fill(llvm::ArrayRef<int64_t> shape, double number);
  Value *cast(Value *x, DType dtype);
  /// An integer value as int32, for ops that do not accept narrower types.
  Value *toInt32(Value *x) {
    return x->type.dtype == DType::Int32 ? x : cast(x, DType::Int32);
  }
  Value *add(Value *x, Value *y);
  Value *sub(Value *x, Value *y);
  Value *mul(Value *x, Value *y);
  Value *div(Value *x, Value *y);
  Value *add(Value *x, double y) { return add(x, scalar(y)); }
  Value *mul(Value *x, double y) { return mul(x, scalar(y)); }
  /// `number` - x
  Value *from(double number, Value *x) { return sub(scalar(number), x); }
  Value *negate(Value *x) { return mul(x, -1); }
  /// x^exponent
  Value *pow(Value *x, double exponent);
  Value *select(Value *condition, Value *x, Value *y);
  /// `x` where `condition` is true, 0 elsewhere.
  Value *where(Value *condition, Value *x) {
    return select(condition, x, scalar(0));
  }
  /// 1 where `condition` holds, 0 elsewhere: a `cast`, since Core ML gives a
  /// `select` of two scalars the type of a scalar.
  Value *indicator(Value *condition) { return cast(condition, dtype()); }
  // Conditions:
  Value *above(Value *x, double y);
  Value *below(Value *x, double y);
  Value *both(Value *x, Value *y);
  Value *exp(Value *x);
  Value *sigmoid(Value *x);
  Value *square(Value *x) { return mul(x, x); }
  Value *matmul(Value *x, Value *y, bool transposeX, bool transposeY);
  Value *reshape(Value *x, llvm::ArrayRef<int64_t> shape);
  Value *transpose(Value *x, llvm::ArrayRef<int64_t> perm);
  /// Sums over `axes`, which are kept with extent 1.
  Value *sum(Value *x, llvm::ArrayRef<int64_t> axes);
  Value *mean(Value *x, llvm::ArrayRef<int64_t> axes);
  Value *slice(Value *x, llvm::ArrayRef<int64_t> begin,
               llvm::ArrayRef<int64_t> size);
  /// Pads `x` with zeros, `before` and `after` each axis; negative amounts
  /// crop.
  Value *pad(Value *x, llvm::ArrayRef<int64_t> before,
             llvm::ArrayRef<int64_t> after);
  Value *concat(llvm::ArrayRef<Value *> values, int64_t axis);
  /// Reshapes a vector to a tensor of `rank` whose other axes have extent 1.
  Value *along(Value *vector, unsigned rank, int64_t axis);
  /// Sums `x` to `shape`, which must broadcast to the shape of `x`.
  Value *sumTo(Value *x, llvm::ArrayRef<int64_t> shape);
  /// Sums over all axes except `axis`. Returns a vector.
  Value *sumAlong(Value *x, int64_t axis);
  /// Tiles `x` to `shape`, to which it must broadcast.
  Value *spread(Value *x, llvm::ArrayRef<int64_t> shape);

  // For the caller of the rule:
  Value *gradient(unsigned slot) const { return gradients[slot]; }
  /// The reason passed to `refuse`; empty when it was not called.
  llvm::StringRef whyNot() const { return refusal; }

private:
  Value *as(Value *value);

  Builder &builder;
  MadeOps &made;
  llvm::ArrayRef<Value *> results;
  llvm::ArrayRef<std::optional<DType>> wanted;
  llvm::SmallVector<Value *, 4> gradients;
  llvm::SmallVector<Op *, 16> built; ///< by the rule of one operand
  std::optional<DType> current;
  std::string refusal;
};

} // namespace anec

#endif // ANEC_LIB_OPS_GRADIENT_H
