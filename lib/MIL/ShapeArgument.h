//===- ShapeArgument.h - shapes of inputs in words --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_SHAPEARGUMENT_H
#define ANEC_LIB_MIL_SHAPEARGUMENT_H

#include "anec/MIL/Reader.h"

namespace anec {

/// The shape in `NAME=1x3x64`, whose name may have `=`; nothing when `argument`
/// does not have that form.
std::optional<InputShape> parseInputShape(llvm::StringRef argument);
/// Parses `NAME=NUMBER` or `NAME=NUMBER,NUMBER`: the input has these numbers,
/// one for each element, or one for all. Returns nothing when it is malformed.
std::optional<InputValue> parseFixedInput(llvm::StringRef argument);

} // namespace anec

#endif // ANEC_LIB_MIL_SHAPEARGUMENT_H
