//===- KnownArrays.h - constants that passes compute with -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Float constants as arrays of doubles, and arithmetic on them by the rows of
/// the op table.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_NARROW_KNOWNARRAYS_H
#define ANEC_LIB_PASSES_NARROW_KNOWNARRAYS_H

#include "lib/IR/Builder.h"

namespace anec {

/// The elements of a float constant; nothing for another value, or none.
std::optional<RefTensor> knownArray(const Value *value);
/// The only element of a float constant; nothing for another value.
std::optional<double> knownNumber(const Value *value);

/// The op that computes `value`, when it is of `def`; otherwise null.
Op *definedBy(const Value *value, const OpDef &def);

/// The result of an elementwise op of two operands, in double.
RefTensor computed(const OpDef &def, const RefTensor &lhs,
                   const RefTensor &rhs);
RefTensor scalarArray(double value);

/// Whether fp32 holds every element: it is finite, and none becomes 0 or
/// subnormal.
bool isHeldByFloat(const RefTensor &array);

/// Builds the fp32 constant of `array`.
Value *buildArray(Builder &builder, const RefTensor &array,
                  llvm::StringRef name);

/// The elements of `array` along `axis` of `type`, which it is broadcast to, as
/// an array of that extent; nothing when they differ along another axis.
std::optional<std::vector<double>>
alongAxis(const RefTensor &array, const TensorType &type, unsigned axis);

} // namespace anec

#endif // ANEC_LIB_PASSES_NARROW_KNOWNARRAYS_H
