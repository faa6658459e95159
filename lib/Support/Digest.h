//===- Digest.h - digests of bytes and files --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_DIGEST_H
#define ANEC_LIB_SUPPORT_DIGEST_H

#include "anec/Support/Folder.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace anec {

/// SHA-256 of the concatenated `parts`, as 64 lower-case hexadecimal digits.
std::string sha256(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> parts);
inline std::string sha256(llvm::ArrayRef<uint8_t> bytes) {
  return sha256(llvm::ArrayRef<llvm::ArrayRef<uint8_t>>(bytes));
}

/// BLAKE3 of `bytes`, as 64 lower-case hexadecimal digits: many times as fast
/// as SHA-256 where LLVM has vector instructions for it.
std::string blake3(llvm::ArrayRef<uint8_t> bytes);

struct FileDigest {
  uint64_t bytes = 0; ///< the length of the file
  std::string blake3;
};
/// Reads the regular file `path` in `folder` or below it in blocks. On failure,
/// returns nothing and sets `error`.
std::optional<FileDigest>
digestOfFile(const Folder &folder, llvm::StringRef path, std::string &error);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_DIGEST_H
