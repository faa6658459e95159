//===- Gguf.h - GGUF files -------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Reads GGUF files, versions 2 and 3: typed metadata by key, then named
/// arrays. The format is described in ggml's docs/gguf.md. Values are views of
/// the file, which the caller keeps; arrays keep it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ARRAYS_GGUF_H
#define ANEC_LIB_ARRAYS_GGUF_H

#include "anec/Arrays/StoredArray.h"
#include "anec/Support/MappedFile.h"
#include <map>

namespace anec {

/// The types of metadata, with the codes that files have.
enum class GgufType : uint32_t {
  UInt8,
  Int8,
  UInt16,
  Int16,
  UInt32,
  Int32,
  Float32,
  Bool,
  String,
  Array,
  UInt64,
  Int64,
  Float64,
};

/// A value of the metadata. `get` functions return nothing for values of other
/// types.
struct GgufValue {
  GgufType type = GgufType::UInt32;
  GgufType elementType = GgufType::UInt32; ///< of an array
  uint64_t count = 0;                      ///< of the elements of an array
  llvm::StringRef bytes; ///< of a string, without its length; of the elements

  /// Of any integer type; nothing where 63 bits have no room.
  std::optional<int64_t> getInteger() const;
  /// Of any type of numbers. Floats of 32 bits have the value of their shortest
  /// decimal, which is mostly the one that they were written from.
  std::optional<double> getNumber() const;
  std::optional<bool> getBool() const;
  std::optional<llvm::StringRef> getString() const;
  /// The strings of an array of them.
  std::optional<std::vector<llvm::StringRef>> getStrings() const;
  /// The elements of an array, whose own elements are not arrays.
  std::optional<std::vector<GgufValue>> getElements() const;
  /// For messages: as JSON, cut to a length that fits into one line.
  std::string text() const;
};

/// The value of the shortest decimal that is `value` in fp32.
double decimalOf(float value);

struct GgufFile {
  uint32_t version = 3;
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<std::pair<std::string, StoredArray>> arrays; ///< in file order

  /// The value of `key`; null when there is none.
  const GgufValue *find(llvm::StringRef key) const;
};

/// Whether the file says that it is one.
bool isGguf(const MappedFile &file);
/// Reads `file`; `path` is for messages. Extents of arrays are in row-major
/// order, the reverse of the file's. Returns nothing when any part of it is
/// invalid, or an array is of a type that anec does not read, with the reason
/// reported.
[[nodiscard]] std::optional<GgufFile>
readGguf(const MappedFile &file, llvm::StringRef path, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_ARRAYS_GGUF_H
