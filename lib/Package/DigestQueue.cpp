//===- DigestQueue.cpp - digests of files while others are written --------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DigestQueue.h"
#include "lib/Support/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

void DigestQueue::add(llvm::StringRef path) {
  Entry &entry = entries.emplace_back();
  entry.path = path.str();
  if (memory)
    entry.contents = memory->lookup(path);
  entry.task = [this, &entry] {
    if (isCancelled)
      return;
    if (const MappedFile &file = entry.contents)
      entry.digest = {file->getBufferSize(), blake3(bytesOf(*file))};
    else
      entry.digest = digestOfFile(*folder, entry.path, entry.error);
  };
  queue.submit(entry.task);
}

bool DigestQueue::finish(llvm::MutableArrayRef<PackagedFile> files,
                         Diagnostics &diags) {
  queue.waitForAll();
  for (auto [file, entry] : llvm::zip_equal(files, entries)) {
    if (!entry.digest) {
      diags.reportFile(folder->pathOf(entry.path), diag::CannotOpen,
                       entry.error);
      return false;
    }
    file.bytes = entry.digest->bytes;
    file.digest = entry.digest->blake3;
  }
  return true;
}
