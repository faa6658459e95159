//===- Decompose.h - builders for decompositions ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Decompositions read like the equations in their comments: each call creates
/// an op and returns its result. New values are named after the op that they
/// replace; the last one keeps its name.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_DECOMPOSE_H
#define ANEC_LIB_OPS_DECOMPOSE_H

#include "lib/IR/Builder.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Shape.h"

namespace anec {

class Decomposition {
public:
  Decomposition(Builder &builder, const Op &op) : builder(builder), op(op) {}

  /// A scalar of the element type of the op's first operand.
  Value *scalar(double number, llvm::StringRef part) {
    return array(Shape(), number, part);
  }
  /// An array of that element type.
  Value *array(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> elements,
               llvm::StringRef part) {
    TensorType type(op.operand(0u)->type.dtype, shape);
    return make(ops::Const, {},
                Attr(param::val, derivedConstant(type, elements)), part);
  }
  Value *reshape(Value *x, llvm::ArrayRef<int64_t> shape,
                 llvm::StringRef part = "") {
    return make(ops::Reshape, {x}, Attr(param::shape, shape), part);
  }
  Value *transpose(Value *x, llvm::ArrayRef<int64_t> perm,
                   llvm::StringRef part = "") {
    return make(ops::Transpose, {x}, Attr(param::perm, perm), part);
  }
  /// `value` in the element type of the op's first operand.
  Value *cast(Value *value, llvm::StringRef part) {
    DType dtype = op.operand(0u)->type.dtype;
    if (value->type.dtype == dtype)
      return value;
    return make(ops::Cast, {value}, Attr(param::dtype, dtype), part);
  }
  /// The vector operand `param`, an element per channel, in the shape that
  /// broadcasts along axis 1 of the op's first operand, and in its type.
  Value *perChannel(const ValueParam &param) {
    Value *vector = cast(op.operand(param), llvm::StringRef(param));
    Shape shape(op.operand(0u)->type.rank(), 1);
    shape[1] = vector->type.numElements();
    return reshape(vector, shape, llvm::StringRef(param));
  }
  /// Creates an op named NAME_PART after the op's result NAME, or NAME without
  /// `part`, for the value that replaces the op.
  Value *make(const OpDef &def, llvm::ArrayRef<Value *> operands,
              llvm::ArrayRef<Attr> attrs, llvm::StringRef part = "") {
    std::string name = op.result()->name;
    if (!part.empty())
      name = name.empty() ? part.str() : name + "_" + part.str();
    return builder.build(def, operands, attrs, name);
  }
  Value *make(const OpDef &def, llvm::ArrayRef<Value *> operands,
              llvm::StringRef part = "") {
    return make(def, operands, {}, part);
  }

  /// A copy of `like` on other operands.
  Value *make(const Op &like, llvm::ArrayRef<Value *> operands,
              llvm::StringRef part) {
    std::string name = op.result()->name;
    name = name.empty() ? part.str() : name + "_" + part.str();
    return builder
        .createWithSlots(like.def(), operands, like.constants(), {name})
        ->result();
  }

private:
  Builder &builder;
  const Op &op;
};

} // namespace anec

#endif // ANEC_LIB_OPS_DECOMPOSE_H
