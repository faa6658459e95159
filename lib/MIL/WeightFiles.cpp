//===- WeightFiles.cpp - weight files that MIL text refers to -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/MIL/WeightFiles.h"
#include "lib/IR/Diags.h"
#include "lib/MIL/Diags.h"
#include "lib/Support/ReadFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Memory.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

WeightFiles::File &WeightFiles::open(StringRef path, SourceRange range) {
  auto [it, inserted] = files.try_emplace(path);
  File &file = it->second;
  if (!inserted)
    return file;
  SmallString<256> location;
  StringRef relative = path;
  auto elsewhere = options.weightFiles.find(path);
  if (elsewhere != options.weightFiles.end()) {
    location = elsewhere->second.path;
    if (const MappedFile &contents = elsewhere->second.contents) {
      file.reader = BlobReader::open(contents, location, range, diags);
      return file;
    }
  } else if (relative.consume_front("@model_path/") ||
             !sys::path::is_absolute(path)) {
    location = modelDirectory;
    sys::path::append(location, relative);
  } else {
    location = path;
  }
  if (options.missingWeights != MILReadOptions::MissingWeights::Error &&
      (!sys::fs::exists(location) || isLfsPointer(location))) {
    if (options.missingWeights == MILReadOptions::MissingWeights::Warn)
      diags.report(range, diag::MissingWeights, location.str());
    file.missing = true;
    return file;
  }
  file.reader = BlobReader::open(location, range, diags);
  return file;
}

/// Zeros that use no memory, since nothing writes to them.
static ConstantRef zeros(const TensorType &type, const BlobOrigin &origin) {
  uint64_t size = type.numBytes();
  if (size == 0)
    return Constant::view(type, type.dtype, {}, nullptr, origin);
  std::error_code code;
  sys::MemoryBlock block = sys::Memory::allocateMappedMemory(
      size, nullptr, sys::Memory::MF_READ | sys::Memory::MF_WRITE, code);
  if (code)
    return nullptr;
  auto owner = std::make_shared<sys::OwningMemoryBlock>(block);
  ArrayRef<uint8_t> bytes(static_cast<const uint8_t *>(block.base()), size);
  return Constant::view(type, type.dtype, bytes, std::move(owner), origin);
}

ConstantRef WeightFiles::read(const TensorType &type, StringRef path,
                              SourceRange pathRange, uint64_t offset,
                              SourceRange range) {
  if (!blobCode(type.dtype)) {
    diags.report(range, diag::NoBlobType, spelling(type.dtype));
    return nullptr;
  }
  File &file = open(path, pathRange);
  if (file.reader)
    return file.reader->read(offset, type, path, range, diags);
  if (!file.missing) // reported at the first use of the file
    return nullptr;
  ConstantRef value = zeros(type, {path.str(), offset, /*missing=*/true});
  if (!value)
    diags.report(range, diag::TypeTooLarge, type.str());
  return value;
}
