//===- MappedFile.cpp - memory-mapped files -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/MappedFile.h"
#include "anec/Support/MappedRanges.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include <sys/mman.h>

using namespace anec;
using namespace llvm;

MappedFile anec::mapFile(StringRef path, std::string &error) {
  // Opening a folder succeeds, and reading it fails with a worse message;
  // reading a device may never end.
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && sys::fs::exists(status) &&
      !sys::fs::is_regular_file(status)) {
    error = sys::fs::is_directory(status)
                ? std::make_error_code(std::errc::is_a_directory).message()
                : "it is no regular file";
    return nullptr;
  }
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer) {
    error = buffer.getError().message();
    return nullptr;
  }
  if (!sys::fs::status(path, status) &&
      status.getSize() != (*buffer)->getBufferSize()) {
    error = "its size changed while it was opened";
    return nullptr;
  }
  return shareMapping(std::move(*buffer), path);
}

MappedFile anec::mapFile(StringRef path, Diagnostics &diags) {
  std::string error;
  MappedFile file = mapFile(path, error);
  if (!file)
    diags.reportFile(path, diag::CannotOpen, error);
  return file;
}

void anec::releasePages(const MappedFile &file) {
  if (file->getBufferKind() != MemoryBuffer::MemoryBuffer_MMap)
    return;
  uintptr_t page = sys::Process::getPageSizeEstimate();
  uintptr_t begin = uintptr_t(file->getBufferStart()) / page * page;
  // Pages that stay cost only memory.
  (void)::madvise(reinterpret_cast<void *>(begin),
                  uintptr_t(file->getBufferEnd()) - begin, MADV_DONTNEED);
}
