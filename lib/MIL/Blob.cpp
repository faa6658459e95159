//===- Blob.cpp - MIL's weight files --------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/MIL/Blob.h"
#include "anec/Support/Executor.h"
#include "lib/Arrays/StoredAs.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/Spelling.h"
#include "lib/Support/AtomicFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <atomic>

using namespace anec;
using namespace llvm;
using namespace llvm::support::endian;

static constexpr uint64_t alignment = 64;
static constexpr uint64_t headerSize = 64; ///< of the file and of a record
static constexpr uint32_t version = 2;
static constexpr uint32_t sentinel = 0xDEADBEEF;

std::optional<uint32_t> anec::blobCode(DType dtype) {
  uint32_t code = facts(dtype).blobCode;
  return code ? std::optional(code) : std::nullopt;
}

std::optional<DType> anec::dtypeOfBlobCode(uint32_t code) {
  return findDType(&DTypeFacts::blobCode, code);
}

/// The unused bits of the last byte.
static uint64_t paddingBits(const TensorType &type) {
  return type.numBytes() * 8 -
         uint64_t(type.numElements()) * bitWidth(type.dtype);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

uint64_t BlobLayout::add(const TensorType &type) {
  uint64_t offset = alignTo(end, alignment);
  end = offset + headerSize + type.numBytes();
  ++records;
  return offset;
}

/// Calls `body(begin, count)` for the blocks of [0, total), on the workers of
/// `executor` if it is not null.
template <typename Fn>
static void forEachBlock(Executor *executor, int64_t total, int64_t block,
                         Fn body) {
  std::atomic<int64_t> next{0};
  auto work = [&](size_t, unsigned) {
    for (int64_t begin; (begin = next.fetch_add(block)) < total;)
      body(begin, std::min(block, total - begin));
  };
  // More threads would only wait for memory.
  constexpr uint64_t mostThreads = 8;
  uint64_t blocks = divideCeil(uint64_t(total), uint64_t(block));
  if (executor)
    executor->parallelFor(std::min(blocks, mostThreads), work);
  else
    work(0, 0);
}

uint64_t BlobWriter::add(const Constant &array, StringRef name,
                         SourceRange range) {
  const TensorType &type = array.type();
  assert(blobCode(type.dtype) && "not an element type of weight files");
  uint64_t offset = layout.add(type);
  uint8_t header[headerSize] = {};
  write32le(header, sentinel);
  write32le(header + 4, *blobCode(type.dtype));
  write64le(header + 8, type.numBytes());
  write64le(header + 16, offset + headerSize);
  write64le(header + 24, paddingBits(type));
  file.writeAt(offset, header, headerSize);

  // Without a conversion, several threads would only wait for the file's lock.
  if (array.storedDType() == type.dtype) {
    file.writeAt(offset + headerSize, array.bytes().data(),
                 array.bytes().size());
    return offset;
  }
  constexpr int64_t block = 1 << 20;
  std::atomic<uint64_t> overflows{0};
  auto write = [&](int64_t begin, int64_t count) {
    SmallVector<uint8_t, 0> buffer;
    uint64_t found = 0;
    ArrayRef<uint8_t> bytes =
        elementsAsDeclared(array, begin, count, buffer, found);
    overflows += found;
    file.writeAt(offset + headerSize + byteSize(type.dtype, begin),
                 bytes.data(), bytes.size());
  };
  forEachBlock(executor, type.numElements(), block, write);
  if (overflows)
    diags.report(range, diag::HalfOverflow, name, overflows.load(),
                 type.numElements(), spelling(type.dtype));
  return offset;
}

void BlobWriter::finish() {
  uint8_t header[headerSize] = {};
  write32le(header, layout.count());
  write32le(header + 4, version);
  file.writeAt(0, header, headerSize);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reports at the range of the text that names the file, or about the file.
template <typename... Params, typename... Args>
static void report(Diagnostics &diags, SourceRange range, StringRef path,
                   diag::Kind<Params...> kind, const Args &...args) {
  if (range.isValid())
    diags.report(range, kind, path, args...);
  else
    diags.reportFile(path, kind, path, args...);
}

std::optional<BlobReader> BlobReader::open(StringRef path, SourceRange range,
                                           Diagnostics &diags) {
  std::string error;
  MappedFile file = mapFile(path, error);
  if (!file) {
    report(diags, range, path, diag::BlobCannotOpen, error);
    return std::nullopt;
  }
  return open(std::move(file), path, range, diags);
}

std::optional<BlobReader> BlobReader::open(MappedFile file, StringRef path,
                                           SourceRange range,
                                           Diagnostics &diags) {
  ArrayRef<uint8_t> bytes = bytesOf(*file);
  if (bytes.size() < headerSize || read32le(&bytes[4]) != version) {
    report(diags, range, path, diag::BlobVersion);
    return std::nullopt;
  }
  return BlobReader(std::move(file), path);
}

uint32_t BlobReader::declaredCount() const {
  return read32le(bytesOf(*file).data());
}

std::optional<BlobRecord> BlobReader::record(uint64_t offset, SourceRange range,
                                             Diagnostics &diags) const {
  ArrayRef<uint8_t> bytes = bytesOf(*file);
  if (offset < headerSize || offset % alignment != 0 ||
      bytes.size() < headerSize || offset > bytes.size() - headerSize ||
      read32le(&bytes[offset]) != sentinel) {
    report(diags, range, path, diag::BlobNoRecord, offset);
    return std::nullopt;
  }
  const uint8_t *header = &bytes[offset];
  uint32_t code = read32le(header + 4);
  std::optional<DType> dtype = dtypeOfBlobCode(code);
  if (!dtype) {
    report(diags, range, path, diag::BlobUnknownCode, offset, code);
    return std::nullopt;
  }
  BlobRecord record{offset, *dtype, read64le(header + 16), read64le(header + 8),
                    read64le(header + 24)};
  if (record.dataOffset > bytes.size() ||
      record.size > bytes.size() - record.dataOffset) {
    report(diags, range, path, diag::BlobTruncated, offset);
    return std::nullopt;
  }
  // At any other place, it would be parts of headers or of other records.
  if (record.dataOffset != offset + headerSize) {
    report(diags, range, path, diag::BlobData, offset, record.dataOffset,
           offset + headerSize);
    return std::nullopt;
  }
  return record;
}

ConstantRef BlobReader::read(uint64_t offset, const TensorType &type,
                             StringRef pathInText, SourceRange range,
                             Diagnostics &diags) const {
  std::optional<BlobRecord> found = record(offset, range, diags);
  if (!found)
    return nullptr;
  if (found->dtype != type.dtype) {
    report(diags, range, path, diag::BlobDType, offset, spelling(found->dtype),
           spelling(type.dtype));
    return nullptr;
  }
  bool subByte = bitWidth(type.dtype) < 8;
  if (found->size != type.numBytes() ||
      (subByte && found->paddingBits != paddingBits(type))) {
    report(diags, range, path, diag::BlobSize, offset, found->size,
           mil::spellType(type), type.numBytes());
    return nullptr;
  }
  ArrayRef<uint8_t> data = bytesOf(*file).slice(found->dataOffset, found->size);
  return Constant::view(type, type.dtype, data, file,
                        BlobOrigin{pathInText.str(), offset});
}

std::vector<BlobRecord> BlobReader::records(Diagnostics &diags) const {
  std::vector<BlobRecord> all;
  uint64_t size = bytesOf(*file).size();
  for (uint64_t offset = headerSize; offset < size;) {
    std::optional<BlobRecord> found = record(offset, {}, diags);
    if (!found)
      break;
    all.push_back(*found);
    offset = alignTo(found->dataOffset + found->size, alignment);
  }
  return all;
}
