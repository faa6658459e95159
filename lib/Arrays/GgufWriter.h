//===- GgufWriter.h - writing GGUF files -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ARRAYS_GGUFWRITER_H
#define ANEC_LIB_ARRAYS_GGUFWRITER_H

#include "lib/Arrays/Gguf.h"
#include "lib/Arrays/Safetensors.h"

namespace anec {

/// Writes a file of version 3: the values of `metadata`, whose views must be
/// valid, and `arrays` in their order, one in memory at a time. Types are
/// those that GGUF has for elements in place, such as FP32, FP16 and BF16.
/// Extents are given in row-major order, and written in reverse.
void writeGguf(llvm::raw_ostream &out,
               const std::map<std::string, GgufValue, std::less<>> &metadata,
               llvm::ArrayRef<PlannedArray> arrays);

/// Writes the file `like` with `arrays` in the place of those of their names.
/// Matrices keep the element type that they are given with; vectors, and packed
/// arrays of `like`, are fp32, as llama.cpp computes with them.
void writeGgufLike(llvm::raw_ostream &out, GgufFile like,
                   llvm::ArrayRef<PlannedArray> arrays);

} // namespace anec

#endif // ANEC_LIB_ARRAYS_GGUFWRITER_H
