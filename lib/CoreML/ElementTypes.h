//===- ElementTypes.h - element types and where elements are ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_ELEMENTTYPES_H
#define ANEC_LIB_COREML_ELEMENTTYPES_H

#include "Messages.h"
#include "anec/IR/DType.h"
#include <optional>

namespace anec::coreml {

/// The element type in the IR; nothing for a number without a meaning.
std::optional<DType> elementType(proto::DataType type);
proto::DataType dataType(DType dtype);
/// That of the arrays of features.
std::optional<DType> elementType(proto::ArrayDataType type);

/// The field of `TensorValue` that has the elements of a tensor of `dtype`.
int fieldOf(DType dtype);
llvm::StringRef spellField(int field);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_ELEMENTTYPES_H
