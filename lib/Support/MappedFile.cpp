//===- MappedFile.cpp - memory-mapped files -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/MappedFile.h"
#include "lib/Support/Diags.h"
#include "lib/Support/MappedRanges.h"
#include "lib/Support/ReadFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include <sys/mman.h>
#include <sys/stat.h>

using namespace anec;
using namespace llvm;

/// Maps the file with this descriptor, and closes it.
static MappedFile mapOpened(int descriptor, StringRef path,
                            std::string &error) {
  if (descriptor < 0)
    return nullptr;
  auto file = sys::fs::convertFDToNativeFile(descriptor);
  auto buffer = MemoryBuffer::getOpenFile(file, path, /*FileSize=*/-1,
                                          /*RequiresNullTerminator=*/false);
  struct stat status = {};
  bool changed = buffer && !::fstat(descriptor, &status) &&
                 uint64_t(status.st_size) != (*buffer)->getBufferSize();
  (void)sys::fs::closeFile(file);
  if (buffer && !changed)
    return shareMapping(std::move(*buffer), path);
  error = changed ? "its size changed while it was opened"
                  : buffer.getError().message();
  return nullptr;
}

MappedFile anec::mapFile(StringRef path, std::string &error) {
  return mapOpened(openRegularFile(path, error), path, error);
}

MappedFile anec::mapFile(StringRef path, Diagnostics &diags) {
  std::string error;
  MappedFile file = mapFile(path, error);
  if (!file)
    diags.reportFile(path, diag::CannotOpen, error);
  return file;
}

MappedFile anec::mapFile(const Folder &folder, StringRef name,
                         Diagnostics &diags) {
  std::string path = folder.pathOf(name), error;
  MappedFile file = mapOpened(folder.openFile(name, error), path, error);
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
