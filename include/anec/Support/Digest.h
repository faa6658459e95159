//===- Digest.h - SHA-256 digests -------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_SUPPORT_DIGEST_H
#define ANEC_SUPPORT_DIGEST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace anec {

/// SHA-256 of the concatenated `parts`, as 64 lower-case hexadecimal digits.
std::string sha256(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> parts);
inline std::string sha256(llvm::ArrayRef<uint8_t> bytes) {
  return sha256(llvm::ArrayRef<llvm::ArrayRef<uint8_t>>(bytes));
}

} // namespace anec

#endif // ANEC_SUPPORT_DIGEST_H
