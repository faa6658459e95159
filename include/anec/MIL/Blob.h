//===- Blob.h - MIL's weight files -----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The weights that MIL text refers to as BLOBFILE lie in weight files: a
/// header of 64 bytes, then records at multiples of 64, each a header of 64
/// bytes and the elements of one array. docs/mil.md has the bytes.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_MIL_BLOB_H
#define ANEC_MIL_BLOB_H

#include "anec/IR/Constant.h"
#include "anec/Support/Diagnostics.h"
#include "anec/Support/MappedFile.h"

namespace anec {

class Executor;
class OutputFile;

/// The number that stands for `dtype` in a record; nothing for the element
/// types that cannot be in a weight file (bool, string, fp64, 64-bit integers).
std::optional<uint32_t> blobCode(DType dtype);
std::optional<DType> dtypeOfBlobCode(uint32_t code);

/// Places records one after the other. Text can name offsets before a byte is
/// written.
class BlobLayout {
public:
  /// The offset of the next record, which holds `type`.
  uint64_t add(const TensorType &type);
  uint32_t count() const { return records; }

private:
  uint64_t end = 64;
  uint32_t records = 0;
};

/// Writes a weight file. What goes wrong with the file itself is kept in it,
/// for AtomicFiles to report.
class BlobWriter {
public:
  /// Converts elements with the workers of `executor`, or else in the calling
  /// thread.
  BlobWriter(OutputFile &file, Diagnostics &diags, Executor *executor = nullptr)
      : file(file), diags(diags), executor(executor) {}

  /// Writes a record and returns its offset, which is what BlobLayout gives for
  /// the same types in the same order. Elements are converted from the stored
  /// to the declared element type. A warning says when finite ones become
  /// infinite; `name` and `range` are for this message.
  uint64_t add(const Constant &array, llvm::StringRef name,
               SourceRange range = {});
  /// Writes the header, which makes it a weight file.
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
  /// Nothing, with the reason reported at `range`, when the file cannot be
  /// mapped or is no weight file. Without a range, reports are about the file.
  [[nodiscard]] static std::optional<BlobReader>
  open(llvm::StringRef path, SourceRange range, Diagnostics &diags);
  /// The same for a file that is mapped already; `path` is for messages.
  [[nodiscard]] static std::optional<BlobReader> open(MappedFile file,
                                                      llvm::StringRef path,
                                                      SourceRange range,
                                                      Diagnostics &diags);

  /// The record at `offset` as an array of `type`, a view of the mapping. Its
  /// origin is `offset` in `pathInText`. Null when there is no such record,
  /// with the reason reported.
  [[nodiscard]] ConstantRef read(uint64_t offset, const TensorType &type,
                                 llvm::StringRef pathInText, SourceRange range,
                                 Diagnostics &diags) const;
  /// The record's header, checked to lie within the file.
  [[nodiscard]] std::optional<BlobRecord>
  record(uint64_t offset, SourceRange range, Diagnostics &diags) const;
  /// How many records the file says it has. Random access does not need it,
  /// and some writers put 1 whatever it is.
  uint32_t declaredCount() const;
  /// All records from the first to the end of the file; those before the first
  /// wrong one, with that reported, otherwise.
  std::vector<BlobRecord> records(Diagnostics &diags) const;

private:
  BlobReader(MappedFile file, llvm::StringRef path)
      : file(std::move(file)), path(path.str()) {}

  MappedFile file;
  std::string path;
};

} // namespace anec

#endif // ANEC_MIL_BLOB_H
