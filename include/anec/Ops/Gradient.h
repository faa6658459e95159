//===- Gradient.h - what gradient rules are written with -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A row's `gradient` turns the gradients of an op's results into those of its
/// operands. It reads like the equations in its comment:
///
///   // y = x w:  dx = dy w, dw = dy x
///   static void gradientMul(Gradient &g) {
///     g.give(0, [&] { return g.mul(g.dy(), g.in(1)); });
///     g.give(1, [&] { return g.mul(g.dy(), g.in(0)); });
///   }
///
/// The function for an operand runs only when its gradient is wanted, and what
/// it names, operands, results and gradients of results, comes in the element
/// type that the gradient shall have: fp32 for a weight, else that of the
/// operand. What it gives is summed where the operand was broadcast. An op that
/// was built before from the same values is not built again.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_OPS_GRADIENT_H
#define ANEC_OPS_GRADIENT_H

#include "anec/IR/Builder.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/DenseMap.h"

namespace anec {

/// The ops that gradient rules made in a function, to be used again.
class MadeOps {
public:
  Op *find(const OpDef &def, llvm::ArrayRef<Value *> operands,
           llvm::ArrayRef<Attr> attrs) const;
  void add(Op *op);

private:
  llvm::DenseMap<std::pair<const OpDef *, const Value *>,
                 llvm::SmallVector<Op *, 1>>
      ops;
};

class Gradient {
public:
  /// Of `op`, whose results have the gradients `dy` (null: none). `wanted` has
  /// for each operand the element type its gradient shall have, or nothing.
  Gradient(Builder &builder, MadeOps &made, const Op &op,
           llvm::ArrayRef<Value *> dy,
           llvm::ArrayRef<std::optional<DType>> wanted)
      : op(op), builder(builder), made(made), results(dy), wanted(wanted),
        gradients(wanted.size()) {}

  const Op &op;

  /// Whether a gradient of operand `slot` is to be given.
  bool wants(unsigned slot) const {
    return slot < wanted.size() && wanted[slot];
  }
  /// Gives operand `slot` the gradient that `rule` builds, if it is wanted.
  /// Unless it has the operand's shape, it has one the operand broadcasts to,
  /// and is summed.
  void give(unsigned slot, llvm::function_ref<Value *()> rule);
  /// Says why the op, as it is, has no gradient.
  void refuse(llvm::StringRef why) { refusal = why.str(); }

  /// Whether an array of the product of `extents` is small enough to be part
  /// of a program; refuses when it is not.
  bool canBake(llvm::ArrayRef<int64_t> extents);

  // Within `give`:
  Value *in(unsigned slot) { return as(op.operand(slot)); }
  Value *out(unsigned index = 0) { return as(op.result(index)); }
  /// The gradient of a result; zeros where it has none.
  Value *dy(unsigned index = 0);
  /// The same in the result's own element type; null where it has none.
  Value *dyAsIs(unsigned index = 0) const { return results[index]; }
  DType dtype() const { return *current; }
  const Shape &shape(unsigned slot) const {
    return op.operand(slot)->type.shape;
  }
  unsigned rank(unsigned slot) const { return op.operand(slot)->type.rank(); }

  Value *make(const OpDef &def, llvm::ArrayRef<Value *> operands,
              llvm::ArrayRef<Attr> attrs = {});
  Value *scalar(double number) { return array(Shape(), number); }
  Value *array(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> elements);
  Value *indices(llvm::ArrayRef<int64_t> shape,
                 llvm::ArrayRef<int64_t> elements);
  Value *fill(llvm::ArrayRef<int64_t> shape, double number);
  Value *cast(Value *x, DType dtype);
  /// Of integers, for ops that take no narrower ones.
  Value *toInt32(Value *x) {
    return x->type.dtype == DType::Int32 ? x : cast(x, DType::Int32);
  }
  Value *add(Value *x, Value *y) { return make(ops::Add, {x, y}); }
  Value *sub(Value *x, Value *y) { return make(ops::Sub, {x, y}); }
  Value *mul(Value *x, Value *y) { return make(ops::Mul, {x, y}); }
  Value *div(Value *x, Value *y) { return make(ops::RealDiv, {x, y}); }
  Value *add(Value *x, double y) { return add(x, scalar(y)); }
  Value *mul(Value *x, double y) { return mul(x, scalar(y)); }
  /// `number` - x
  Value *from(double number, Value *x) { return sub(scalar(number), x); }
  Value *negate(Value *x) { return mul(x, -1); }
  /// x^exponent
  Value *pow(Value *x, double exponent) {
    return make(ops::Pow, {x, scalar(exponent)});
  }
  Value *select(Value *condition, Value *x, Value *y) {
    return make(ops::Select, {condition, x, y});
  }
  /// `x` where `condition` holds, 0 elsewhere.
  Value *where(Value *condition, Value *x) {
    return select(condition, x, scalar(0));
  }
  // Conditions:
  Value *above(Value *x, double y) {
    return make(ops::Greater, {x, scalar(y)});
  }
  Value *below(Value *x, double y) { return make(ops::Less, {x, scalar(y)}); }
  Value *both(Value *x, Value *y) { return make(ops::LogicalAnd, {x, y}); }
  Value *exp(Value *x) { return make(ops::Exp, {x}); }
  Value *sigmoid(Value *x) { return make(ops::Sigmoid, {x}); }
  Value *square(Value *x) { return mul(x, x); }
  Value *matmul(Value *x, Value *y, bool transposeX, bool transposeY);
  Value *reshape(Value *x, llvm::ArrayRef<int64_t> shape);
  Value *transpose(Value *x, llvm::ArrayRef<int64_t> perm);
  /// Sums over `axes`, which stay with an extent of 1.
  Value *sum(Value *x, llvm::ArrayRef<int64_t> axes);
  Value *mean(Value *x, llvm::ArrayRef<int64_t> axes);
  Value *slice(Value *x, llvm::ArrayRef<int64_t> begin,
               llvm::ArrayRef<int64_t> size);
  /// With zeros around, `before` and `after` along each axis; a negative amount
  /// cuts off.
  Value *pad(Value *x, llvm::ArrayRef<int64_t> before,
             llvm::ArrayRef<int64_t> after);
  Value *concat(llvm::ArrayRef<Value *> values, int64_t axis);
  /// A vector along `axis` of a tensor of `rank`.
  Value *along(Value *vector, unsigned rank, int64_t axis);
  /// Sums `x` to `shape`, which broadcasts to its.
  Value *sumTo(Value *x, llvm::ArrayRef<int64_t> shape);
  /// Sums over all axes but `axis`: a vector.
  Value *sumAlong(Value *x, int64_t axis);
  /// Repeats `x` where it broadcasts to `shape`.
  Value *spread(Value *x, llvm::ArrayRef<int64_t> shape);

  // For who applies the rule:
  Value *gradient(unsigned slot) const { return gradients[slot]; }
  /// Empty when the rule did not refuse.
  llvm::StringRef whyNot() const { return refusal; }

private:
  Value *as(Value *value);

  Builder &builder;
  MadeOps &made;
  llvm::ArrayRef<Value *> results;
  llvm::ArrayRef<std::optional<DType>> wanted;
  llvm::SmallVector<Value *, 4> gradients;
  std::optional<DType> current;
  std::string refusal;
};

} // namespace anec

#endif // ANEC_OPS_GRADIENT_H
