//===- EmptyOperands.h - operands without elements --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_EMPTYOPERANDS_H
#define ANEC_LIB_ONNX_EMPTYOPERANDS_H

#include "lib/IR/Builder.h"
#include "llvm/ADT/SmallVector.h"

namespace anec::onnx {

/// Whether one of the values has no elements. Only constants have none.
bool haveNoElements(llvm::ArrayRef<Value *> operands);

/// Whether what an operator of ONNX gives for each image, an element of axis 0
/// of its first input, does not depend on the others.
bool isOfImages(llvm::StringRef op);

/// The operand that an op with empty operands gives back as it is, such as the
/// target of a scatter without updates; null if it does something else.
Value *unchangedOperand(const OpDef &def, llvm::ArrayRef<Value *> operands);

/// The results of an op with empty operands: constants without elements, or of
/// a sum of nothing; none for ops whose results are not known.
llvm::SmallVector<ConstantRef, 1> emptyResults(const OpDef &def,
                                               llvm::ArrayRef<Value *> operands,
                                               llvm::ArrayRef<Attr> attrs);

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_EMPTYOPERANDS_H
