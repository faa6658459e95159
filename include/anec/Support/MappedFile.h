//===- MappedFile.h - memory-mapped files -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Weight files are mapped, not read: arrays are views into the mapping, which
/// lives as long as any of them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_SUPPORT_MAPPEDFILE_H
#define ANEC_SUPPORT_MAPPEDFILE_H

#include "anec/Support/Diagnostics.h"
#include "anec/Support/Folder.h"
#include "llvm/Support/MemoryBuffer.h"

namespace anec {

using MappedFile = std::shared_ptr<const llvm::MemoryBuffer>;

/// Maps `path`; returns null when that fails, with the reason reported.
[[nodiscard]] MappedFile mapFile(llvm::StringRef path, Diagnostics &diags);
/// The same, but on failure sets `error` and reports nothing.
MappedFile mapFile(llvm::StringRef path, std::string &error);

/// The same for the file `name` in `folder` or below it, without links.
[[nodiscard]] MappedFile mapFile(const Folder &folder, llvm::StringRef name,
                                 Diagnostics &diags);

/// Drops the pages of `file` from memory. They are read again when they are
/// used.
void releasePages(const MappedFile &file);

inline llvm::ArrayRef<uint8_t> bytesOf(const llvm::MemoryBuffer &buffer) {
  return {reinterpret_cast<const uint8_t *>(buffer.getBufferStart()),
          buffer.getBufferSize()};
}

} // namespace anec

#endif // ANEC_SUPPORT_MAPPEDFILE_H
