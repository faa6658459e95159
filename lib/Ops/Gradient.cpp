//===- Gradient.cpp - builders for gradient rules -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Gradient.h"
#include "Infer.h"
#include "lib/IR/BuiltOrder.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Existing ops
//===----------------------------------------------------------------------===//

static const Value *firstOf(llvm::ArrayRef<Value *> operands) {
  return operands.empty() ? nullptr : operands[0];
}

/// Whether `op` has the constants `attrs`, and defaults for all others.
static bool hasConstants(const Op &op, llvm::ArrayRef<Attr> attrs) {
  unsigned slot = 0;
  for (const ParamDef &param : op.def().parameters()) {
    if (!param.isConstant())
      continue;
    const Attr *given = llvm::find_if(
        attrs, [&](const Attr &attr) { return attr.param == param.name; });
    ConstantRef wanted =
        given != attrs.end()
            ? given->value
            : defaultConstant(op.def(), param, op.operandValues());
    const Constant *has = op.constants()[slot++].get();
    if (!wanted || !has ? wanted.get() != has : !wanted->equals(*has))
      return false;
  }
  return true;
}

Op *MadeOps::find(const OpDef &def, llvm::ArrayRef<Value *> operands,
                  llvm::ArrayRef<Attr> attrs) const {
  auto it = ops.find({&def, firstOf(operands)});
  if (it == ops.end())
    return nullptr;
  while (!operands.empty() && !operands.back())
    operands = operands.drop_back();
  for (Op *op : it->second) {
    llvm::SmallVector<Value *, 4> others = op->operandValues();
    while (!others.empty() && !others.back())
      others.pop_back();
    if (llvm::ArrayRef(others) == operands && hasConstants(*op, attrs))
      return op;
  }
  return nullptr;
}

void MadeOps::add(Op *op) {
  ops[{&op->def(), firstOf(op->operandValues())}].push_back(op);
}

//===----------------------------------------------------------------------===//
// Values of the op
//===----------------------------------------------------------------------===//

void Gradient::give(unsigned slot, llvm::function_ref<Value *()> rule) {
  if (!wants(slot))
    return;
  current = wanted[slot];
  built.clear();
  Value *gradient = sumTo(rule(), shape(slot));
  assert(gradient->type == TensorType(*current, shape(slot)) &&
         "a gradient has the shape of its operand");
  gradients[slot] = gradients[slot] ? add(gradients[slot], gradient) : gradient;
  orderBuilt(built, gradients[slot]);
  current.reset();
}

bool Gradient::canBake(llvm::ArrayRef<int64_t> extents) {
  if (saturatingProduct(extents) <= maxBakedElements)
    return true;
  refuse("its rule would write an array of more than 2^26 elements into the "
         "program");
  return false;
}

Value *Gradient::as(Value *value) {
  assert(current && "outside of `give`");
  bool converts = isFloat(value->type.dtype) && value->type.dtype != *current;
  return converts ? cast(value, *current) : value;
}

Value *Gradient::dy(unsigned index) {
  return results[index] ? as(results[index])
                        : fill(op.result(index)->type.shape, 0);
}

//===----------------------------------------------------------------------===//
// New values
//===----------------------------------------------------------------------===//

Value *Gradient::make(const OpDef &def, llvm::ArrayRef<Value *> operands,
                      llvm::ArrayRef<Attr> attrs) {
  if (Op *before = made.find(def, operands, attrs))
    return before->result();
  Op *made = builder.create(def, operands, attrs);
  this->made.add(made);
  built.push_back(made);
  return made->result();
}

Value *Gradient::array(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<double> elements) {
  TensorType type(dtype(), shape);
  return make(ops::Const, {},
              Attr(param::val, derivedConstant(type, elements)));
}

Value *Gradient::indices(llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<int64_t> elements) {
  return make(ops::Const, {},
              Attr(param::val, Constant::int32s(elements)->reshaped(shape)));
}

Value *Gradient::fill(llvm::ArrayRef<int64_t> shape, double number) {
  if (shape.empty())
    return scalar(number);
  return make(ops::Fill, {},
              {{param::shape, shape},
               {param::fillValue, Constant::scalar(dtype(), number)}});
}

Value *Gradient::cast(Value *x, DType dtype) {
  return make(ops::Cast, {x}, Attr(param::dtype, dtype));
}

Value *Gradient::add(Value *x, Value *y) { return make(ops::Add, {x, y}); }
Value *Gradient::sub(Value *x, Value *y) { return make(ops::Sub, {x, y}); }
Value *Gradient::mul(Value *x, Value *y) { return make(ops::Mul, {x, y}); }
Value *Gradient::div(Value *x, Value *y) { return make(ops::RealDiv, {x, y}); }
Value *Gradient::pow(Value *x, double exponent) {
  return make(ops::Pow, {x, scalar(exponent)});
}
Value *Gradient::select(Value *condition, Value *x, Value *y) {
  return make(ops::Select, {condition, x, y});
}
Value *Gradient::above(Value *x, double y) {
  return make(ops::Greater, {x, scalar(y)});
}
Value *Gradient::below(Value *x, double y) {
  return make(ops::Less, {x, scalar(y)});
}
Value *Gradient::both(Value *x, Value *y) {
  return make(ops::LogicalAnd, {x, y});
}
Value *Gradient::exp(Value *x) { return make(ops::Exp, {x}); }
Value *Gradient::sigmoid(Value *x) { return make(ops::Sigmoid, {x}); }

Value *Gradient::matmul(Value *x, Value *y, bool transposeX, bool transposeY) {
  return make(
      ops::Matmul, {x, y},
      {{param::transposeX, transposeX}, {param::transposeY, transposeY}});
}

Value *Gradient::reshape(Value *x, llvm::ArrayRef<int64_t> shape) {
  return Shape(shape) == x->type.shape
             ? x
             : make(ops::Reshape, {x}, Attr(param::shape, shape));
}

Value *Gradient::transpose(Value *x, llvm::ArrayRef<int64_t> perm) {
  return llvm::is_sorted(perm)
             ? x
             : make(ops::Transpose, {x}, Attr(param::perm, perm));
}

Value *Gradient::sum(Value *x, llvm::ArrayRef<int64_t> axes) {
  return axes.empty() ? x
                      : make(ops::ReduceSum, {x},
                             {{param::axes, axes}, {param::keepDims, true}});
}

Value *Gradient::mean(Value *x, llvm::ArrayRef<int64_t> axes) {
  return axes.empty() ? x
                      : make(ops::ReduceMean, {x},
                             {{param::axes, axes}, {param::keepDims, true}});
}

Value *Gradient::slice(Value *x, llvm::ArrayRef<int64_t> begin,
                       llvm::ArrayRef<int64_t> size) {
  return Shape(size) == x->type.shape
             ? x
             : make(ops::SliceBySize, {x},
                    {{param::begin, begin}, {param::size, size}});
}

Value *Gradient::pad(Value *x, llvm::ArrayRef<int64_t> before,
                     llvm::ArrayRef<int64_t> after) {
  Shape begin, size, amounts;
  for (auto [axis, extent] : llvm::enumerate(x->type.shape)) {
    int64_t cutBefore = std::max<int64_t>(0, -before[axis]);
    int64_t cutAfter = std::max<int64_t>(0, -after[axis]);
    begin.push_back(cutBefore);
    size.push_back(extent - cutBefore - cutAfter);
    amounts.append({before[axis] + cutBefore, after[axis] + cutAfter});
  }
  x = slice(x, begin, size);
  bool nothing = llvm::all_of(amounts, [](int64_t n) { return n == 0; });
  return nothing
             ? x
             : make(ops::Pad, {x}, Attr(param::pad, llvm::ArrayRef(amounts)));
}

Value *Gradient::concat(llvm::ArrayRef<Value *> values, int64_t axis) {
  return values.size() == 1
             ? values[0]
             : make(ops::Concat, values, Attr(param::axis, axis));
}

Value *Gradient::along(Value *vector, unsigned rank, int64_t axis) {
  Shape shape(rank, 1);
  shape[axis] = vector->type.shape[0];
  return reshape(vector, shape);
}

Value *Gradient::sumAlong(Value *x, int64_t axis) {
  Shape others;
  for (int64_t other = 0; other < x->type.rank(); ++other)
    if (other != axis)
      others.push_back(other);
  return reshape(sum(x, others), x->type.shape[axis]);
}

Value *Gradient::sumTo(Value *x, llvm::ArrayRef<int64_t> shape) {
  const Shape &from = x->type.shape;
  assert(from.size() >= shape.size());
  size_t leading = from.size() - shape.size();
  Shape axes;
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (from[axis] != 1 && (axis < leading || shape[axis - leading] == 1))
      axes.push_back(int64_t(axis));
  return reshape(sum(x, axes), shape);
}

Value *Gradient::spread(Value *x, llvm::ArrayRef<int64_t> shape) {
  size_t leading = shape.size() - x->type.rank();
  Shape whole(leading, 1), reps;
  whole.append(x->type.shape);
  for (auto [axis, extent] : llvm::enumerate(shape))
    reps.push_back(extent / whole[axis]);
  x = reshape(x, whole);
  bool once = llvm::all_of(reps, [](int64_t n) { return n == 1; });
  return once ? x
              : make(ops::Tile, {x}, Attr(param::reps, llvm::ArrayRef(reps)));
}
