//===- Digest.cpp - digests of bytes and files ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Digest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SHA256.h"

using namespace anec;
namespace fs = llvm::sys::fs;

template <typename Hash>
static std::string digitsOf(Hash &hash) {
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

std::string anec::sha256(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> parts) {
  llvm::SHA256 hash;
  for (llvm::ArrayRef<uint8_t> part : parts)
    hash.update(part);
  return digitsOf(hash);
}

std::string anec::blake3(llvm::ArrayRef<uint8_t> bytes) {
  llvm::BLAKE3 hash;
  hash.update(bytes);
  return digitsOf(hash);
}

std::optional<FileDigest> anec::digestOfFile(const Folder &folder,
                                             llvm::StringRef path,
                                             std::string &error) {
  int descriptor = folder.openFile(path, error);
  if (descriptor < 0)
    return std::nullopt;
  fs::file_t file = fs::convertFDToNativeFile(descriptor);
  // A block stays in the cache of a core between reading and hashing.
  std::vector<char> block(size_t(256) << 10);
  FileDigest result;
  llvm::BLAKE3 hash;
  size_t count = 1;
  while (count && error.empty()) {
    llvm::Expected<size_t> read = fs::readNativeFile(file, block);
    if (!read) {
      error = llvm::toString(read.takeError());
      break;
    }
    count = *read;
    result.bytes += count;
    hash.update(llvm::StringRef(block.data(), count));
  }
  (void)fs::closeFile(file);
  if (!error.empty())
    return std::nullopt;
  result.blake3 = digitsOf(hash);
  return result;
}
