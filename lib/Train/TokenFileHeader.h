//===- TokenFileHeader.h - how a file has token ids -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A file of ids of 16 bits has nothing else. One of 32 bits begins with the
/// header of llm.c: 256 words, of which the first are a magic number, a version
/// and the number of ids. llm.c has a header for ids of 16 bits too, which is
/// read. All numbers are little-endian.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_TOKENFILEHEADER_H
#define ANEC_LIB_TRAIN_TOKENFILEHEADER_H

#include "anec/Support/Diagnostics.h"

namespace anec {

/// Where the ids of a file are.
struct TokenFileLayout {
  size_t begin = 0;   ///< the bytes before the first id
  unsigned width = 2; ///< bytes of an id
};

/// The layout of the file at `path` with `bytes`. Returns nothing, with the
/// reason reported, when its size is not that of whole ids.
[[nodiscard]] std::optional<TokenFileLayout>
readTokenFileLayout(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef path,
                    Diagnostics &diags);

/// Writes `ids`, which are below `vocabulary`, all or nothing: 16 bits each if
/// those of any text fit, else 32.
[[nodiscard]] bool writeTokenFile(llvm::ArrayRef<int32_t> ids,
                                  unsigned vocabulary, llvm::StringRef path,
                                  Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_TRAIN_TOKENFILEHEADER_H
