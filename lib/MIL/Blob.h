//===- Blob.h - MIL's weight files -----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Weights that MIL text refers to as BLOBFILE are stored in weight files: a
/// 64-byte header, then records at multiples of 64, each a 64-byte header and
/// the elements of one array. docs/formats/mil.md specifies the format.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_BLOB_H
#define ANEC_LIB_MIL_BLOB_H

#include "anec/IR/Constant.h"
#include "anec/Support/Diagnostics.h"
#include "anec/Support/MappedFile.h"

namespace anec {

class Executor;
class OutputFile;

/// The code of `dtype` in a record; nothing for the element types that a weight
/// file cannot store (bool, string, fp64, 64-bit integers).
std::optional<uint32_t> blobCode(DType dtype);
std::optional<DType> dtypeOfBlobCode(uint32_t code);

/// Assigns offsets to consecutive records, so that text can name them before
/// anything is written.
class BlobLayout {
public:
  /// Adds a record that holds `type` and returns its offset.
  uint64_t add(const TensorType &type);
  uint32_t count() const { return records; }
  /// Of the file with these records.
  uint64_t size() const { return end; }

private:
  uint64_t end = 64;
  uint32_t records = 0;
};

/// Writes a weight file. I/O errors are kept in the file, and AtomicFiles
/// reports them.
class BlobWriter {
public:
  /// Converts elements with the workers of `executor`, or in the calling thread
  /// when it is null.
  BlobWriter(OutputFile &file, Diagnostics &diags, Executor *executor = nullptr)
      : file(file), diags(diags), executor(executor) {}

  /// Writes a record and returns its offset, which equals that of BlobLayout
  /// for the same types in the same order. Elements are converted from the
  /// stored to the declared element type. Reports a warning when finite ones
  /// become infinite; `name` and `range` are for this message.
  uint64_t add(const Constant &array, llvm::StringRef name,
               SourceRange range = {});
  /// Writes the file header, which completes the weight file.
  void finish();

private:
  OutputFile &file;
  Diagnostics &diags;
  Executor *executor;
  BlobLayout layout;
};

/// A record's header.
struct BlobRecord {
  uint64_t offset; ///< of the header
  DType dtype;
  uint64_t dataOffset;
  uint64_t size;        ///< of the data, in bytes
  uint64_t paddingBits; ///< at the end of the data, for sub-byte types
};

/// A mapped weight file.
class BlobReader {
public:
  /// Returns nothing, with the reason reported at `range`, when the file cannot
  /// be mapped or is not a weight file. Without a range, reports are about the
  /// file.
  [[nodiscard]] static std::optional<BlobReader>
  open(llvm::StringRef path, SourceRange range, Diagnostics &diags);
  /// The same for an already mapped file; `path` is for messages.
  [[nodiscard]] static std::optional<BlobReader> open(MappedFile file,
                                                      llvm::StringRef path,
                                                      SourceRange range,
                                                      Diagnostics &diags);

  /// The record at `offset` as an array of `type`, a view of the mapping. Its
  /// origin is `offset` in `pathInText`. Returns null when there is no such
  /// record, with the reason reported.
  [[nodiscard]] ConstantRef read(uint64_t offset, const TensorType &type,
                                 llvm::StringRef pathInText, SourceRange range,
                                 Diagnostics &diags) const;
  /// The record's header; the record is checked to be within the file.
  [[nodiscard]] std::optional<BlobRecord>
  record(uint64_t offset, SourceRange range, Diagnostics &diags) const;
  /// The record count in the file header. Random access does not need it, and
  /// some writers always write 1.
  uint32_t declaredCount() const;
  /// All records of the file. After an invalid record, which is reported, only
  /// those before it.
  [[nodiscard]] std::vector<BlobRecord> records(Diagnostics &diags) const;

private:
  BlobReader(MappedFile file, llvm::StringRef path)
      : file(std::move(file)), path(path.str()) {}

  MappedFile file;
  std::string path;
};

} // namespace anec

#endif // ANEC_LIB_MIL_BLOB_H
