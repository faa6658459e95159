//===- DigestQueue.h - digests of files while others are written *- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A writer adds each file when it is complete. A worker reads it back, from a
/// folder while it is still cached or from memory, and computes its digest.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_DIGESTQUEUE_H
#define ANEC_LIB_PACKAGE_DIGESTQUEUE_H

#include "anec/Package/ModelPackage.h"
#include "anec/Support/Executor.h"
#include "lib/Support/Digest.h"
#include <deque>

namespace anec {

class DigestQueue {
public:
  DigestQueue(Executor &executor, std::shared_ptr<const Folder> folder)
      : folder(std::move(folder)), queue(executor) {}
  /// Of files in memory, which are there when they are added.
  DigestQueue(Executor &executor, const NamedFiles &memory)
      : memory(&memory), queue(executor) {}
  /// Files that are not read yet are not read any more.
  ~DigestQueue() { isCancelled = true; }

  /// Adds the file `path` of the folder, which does not change any more.
  void add(llvm::StringRef path);
  /// Waits, and sets the sizes and digests of all added files, in the order in
  /// which they were added. Returns false, with the reason reported, when one
  /// could not be read.
  [[nodiscard]] bool finish(llvm::MutableArrayRef<PackagedFile> files,
                            Diagnostics &diags);

private:
  struct Entry {
    std::string path;
    MappedFile contents; ///< null for a file of the folder
    std::optional<FileDigest> digest;
    std::string error;
    TaskQueue::Task task;
  };

  std::shared_ptr<const Folder> folder;
  const NamedFiles *memory = nullptr; ///< null with a folder
  std::deque<Entry> entries;          ///< the addresses of which do not change
  std::atomic<bool> isCancelled{false};
  TaskQueue queue; ///< destroyed first: it waits for its tasks
};

} // namespace anec

#endif // ANEC_LIB_PACKAGE_DIGESTQUEUE_H
