//===- BlockFormat.h - floats that are packed in blocks --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The packed types of GGUF files: a block has some scales, of 16 bits or less,
/// and small integers that they apply to. Elements are computed in fp32, as
/// ggml's reference (`dequantize_row_*` in ggml-quants.c, and gguf-py's
/// quants.py) computes them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ARRAYS_BLOCKFORMAT_H
#define ANEC_LIB_ARRAYS_BLOCKFORMAT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace anec {

struct BlockFormat {
  uint32_t code;            ///< in a GGUF file
  llvm::StringLiteral name; ///< `Q4_K`
  unsigned elements;        ///< of a block
  unsigned bytes;           ///< of a block
  /// Computes the elements of the block at `in`.
  void (*unpack)(const uint8_t *in, float *out);
};

/// All formats, by their codes.
llvm::ArrayRef<BlockFormat> blockFormats();

} // namespace anec

#endif // ANEC_LIB_ARRAYS_BLOCKFORMAT_H
