//===- Digest.cpp - SHA-256 digests ---------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/Digest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace anec;

std::string anec::sha256(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> parts) {
  llvm::SHA256 hash;
  for (llvm::ArrayRef<uint8_t> part : parts)
    hash.update(part);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}
