//===- GgufTypes.h - types in GGUF files -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ARRAYS_GGUFTYPES_H
#define ANEC_LIB_ARRAYS_GGUFTYPES_H

#include "lib/Arrays/Gguf.h"

namespace anec {

/// The bytes of a value; 0 for strings, arrays and types that do not exist.
unsigned sizeOf(GgufType type);

/// A type of arrays whose elements are used in place.
struct GgufPlainType {
  uint32_t code;
  llvm::StringLiteral name;
  DType dtype;
};
llvm::ArrayRef<GgufPlainType> ggufPlainTypes();

/// The multiple of bytes at which arrays begin, where `general.alignment` does
/// not say another.
inline constexpr uint64_t ggufAlignment = 32;
/// The first bytes of a file.
inline constexpr llvm::StringLiteral ggufMagic = "GGUF";

} // namespace anec

#endif // ANEC_LIB_ARRAYS_GGUFTYPES_H
