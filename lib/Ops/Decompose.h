//===- Decompose.h - what decompositions are written with -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Decompositions read like the equations in their comments: a call makes an op
/// and gives its value. Values are named after the op they replace, and the
/// last one takes its name.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_DECOMPOSE_H
#define ANEC_LIB_OPS_DECOMPOSE_H

#include "anec/IR/Builder.h"
#include "anec/Ops/Ops.h"

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
                Attr(param::val, Constant::fromDoubles(type, elements)), part);
  }
  Value *reshape(Value *x, llvm::ArrayRef<int64_t> shape,
                 llvm::StringRef part = "") {
    return make(ops::Reshape, {x}, Attr(param::shape, shape), part);
  }
  Value *transpose(Value *x, llvm::ArrayRef<int64_t> perm,
                   llvm::StringRef part = "") {
    return make(ops::Transpose, {x}, Attr(param::perm, perm), part);
  }
  /// An op called NAME_PART after the op's result, or just after it when there
  /// is no `part`: that is the value that takes the op's place.
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

private:
  Builder &builder;
  const Op &op;
};

} // namespace anec

#endif // ANEC_LIB_OPS_DECOMPOSE_H
