//===- StoredAs.h - an array in its declared element type ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A constant can be stored wider than it is declared (fp32 weights of an fp16
/// model). File formats write the declared element type; the conversion runs
/// block by block while writing.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ARRAYS_STOREDAS_H
#define ANEC_LIB_ARRAYS_STOREDAS_H

#include "anec/IR/Constant.h"

namespace llvm {
class raw_ostream;
}

namespace anec {

/// The size in bytes of an array of `type`; nothing when it does not fit into
/// 63 bits, which can happen with a type from a file header.
std::optional<uint64_t> storedSize(const TensorType &type);

/// `count` elements from `begin` on, in the declared element type: either the
/// constant's own bytes, or converted into `buffer`. `begin` must be a multiple
/// of 8. Adds to `overflows` the number of finite elements that became
/// infinite.
llvm::ArrayRef<uint8_t>
elementsAsDeclared(const Constant &array, int64_t begin, int64_t count,
                   llvm::SmallVectorImpl<uint8_t> &buffer, uint64_t &overflows);

/// Writes all elements in the declared element type.
void writeElements(llvm::raw_ostream &out, const Constant &array);

/// `array` declared as another element type: a view of the same bytes, which
/// are converted when read. Both must be floats.
ConstantRef declaredAs(const ConstantRef &array, DType dtype);

} // namespace anec

#endif // ANEC_LIB_ARRAYS_STOREDAS_H
