//===- TokenFileHeader.cpp - how a file has token ids ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Train/TokenFileHeader.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Train/Diags.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/EndianStream.h"

using namespace anec;
using llvm::support::endian::read32le;

static constexpr size_t headerWords = 256;
/// The first words of a header, and the bytes of an id after it.
static constexpr struct HeaderKind {
  uint32_t magic, version;
  unsigned width;
} narrowIds = {20240520, 1, 2}, wideIds = {20240801, 7, 4};

std::optional<TokenFileLayout>
anec::readTokenFileLayout(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef path,
                          Diagnostics &diags) {
  constexpr size_t headerSize = headerWords * sizeof(uint32_t);
  for (const HeaderKind &kind : {narrowIds, wideIds}) {
    if (bytes.size() < headerSize || read32le(bytes.data()) != kind.magic ||
        read32le(bytes.data() + 4) != kind.version)
      continue;
    // The number of ids has 32 bits, and a file may have more.
    uint32_t said = read32le(bytes.data() + 8);
    size_t size = bytes.size() - headerSize;
    if (size % kind.width || uint32_t(size / kind.width) != said) {
      diags.reportFile(path, diag::BadTokenFile, said, kind.width * 8,
                       bytes.size());
      return std::nullopt;
    }
    return TokenFileLayout{headerSize, kind.width};
  }
  if (bytes.size() % 2) {
    diags.reportFile(path, diag::OddTokenFile, bytes.size());
    return std::nullopt;
  }
  return TokenFileLayout();
}

bool anec::writeTokenFile(llvm::ArrayRef<int32_t> ids, unsigned vocabulary,
                          llvm::StringRef path, Diagnostics &diags) {
  AtomicFiles files(diags);
  OutputFile *file = files.add(path);
  if (!file)
    return false;
  bool isWide = vocabulary > 65536;
  auto write = [&](auto number) {
    llvm::support::endian::write(*file, number, llvm::endianness::little);
  };
  if (isWide) {
    uint32_t header[headerWords] = {wideIds.magic, wideIds.version,
                                    uint32_t(ids.size())};
    for (uint32_t word : header)
      write(word);
  }
  for (int32_t id : ids) {
    if (isWide)
      write(uint32_t(id));
    else
      write(uint16_t(id));
  }
  return files.commit();
}
