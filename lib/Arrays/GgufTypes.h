//===- GgufTypes.h - types of values in GGUF files -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ARRAYS_GGUFTYPES_H
#define ANEC_LIB_ARRAYS_GGUFTYPES_H

#include "anec/Arrays/Gguf.h"

namespace anec {

/// The bytes of a value; 0 for strings, arrays and types that do not exist.
unsigned sizeOf(GgufType type);

} // namespace anec

#endif // ANEC_LIB_ARRAYS_GGUFTYPES_H
