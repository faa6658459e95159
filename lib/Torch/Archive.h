//===- Archive.h - entries of zip archives ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Archives of PyTorch are zip files whose entries are stored, so that weights
/// can be mapped. This reads the central directory, with its 64-bit forms, and
/// refuses what different readers would read differently: names that occur
/// twice, entries that overlap, and headers that contradict the directory. The
/// packaged libraries take the first of such names or the last one.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_ARCHIVE_H
#define ANEC_LIB_TORCH_ARCHIVE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace anec::torch {

class Archive {
public:
  /// Reads the directory of `file`, whose bytes must outlive the archive.
  /// Returns false, with `error` set, if it is no archive or a damaged one.
  bool open(llvm::ArrayRef<uint8_t> file, std::string &error);

  bool has(llvm::StringRef name) const { return indices.contains(name); }
  /// All names, in the order of the directory.
  std::vector<llvm::StringRef> names() const;
  /// The contents of an entry, whose checksum is compared when they are read
  /// first. Returns nothing, with `error` set, if there is no such entry or it
  /// is damaged.
  std::optional<llvm::ArrayRef<uint8_t>> read(llvm::StringRef name,
                                              std::string &error);
  /// The same without the checksum: `read` must succeed before the elements
  /// are used.
  std::optional<llvm::ArrayRef<uint8_t>> locate(llvm::StringRef name,
                                                std::string &error);

private:
  struct Entry;
  Entry *find(llvm::StringRef name, std::string &error);

  struct Entry {
    std::string name;
    llvm::ArrayRef<uint8_t> bytes;
    uint32_t checksum = 0;
    bool wasRead = false;
  };

  std::vector<Entry> entries;
  llvm::StringMap<size_t> indices;
};

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_ARCHIVE_H
