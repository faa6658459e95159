//===- DerivedConstant.h - numbers that anec derives ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Lowering and differentiating an op make numbers that its program does not
/// have, such as 1 / n and sqrt(1/2). They have the type of the values that
/// they are used with, but what is computed in fp32 must not depend on how fp16
/// rounds them: a derived constant of a narrow type keeps its number beside the
/// rounded one. It is a constant that is stored as fp64.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_DERIVEDCONSTANT_H
#define ANEC_LIB_IR_DERIVEDCONSTANT_H

#include "anec/IR/Constant.h"

namespace anec {

/// A constant of `type` with `numbers`. One that has a single element keeps it
/// where `type` does not hold it; the elements of others, which are tables, are
/// rounded.
ConstantRef derivedConstant(TensorType type, llvm::ArrayRef<double> numbers);

/// The number that `constant` keeps beside its rounded one, if any.
std::optional<double> derivedNumber(const Constant &constant);

/// `constant` without the number that it keeps.
ConstantRef roundedConstant(const Constant &constant);

/// All elements, with the number that a derived constant keeps.
std::vector<double> exactElements(const Constant &constant);
void copyExactToFloats(const Constant &constant, float *out);

} // namespace anec

#endif // ANEC_LIB_IR_DERIVEDCONSTANT_H
