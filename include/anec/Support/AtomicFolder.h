//===- AtomicFolder.h - a folder committed atomically -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A folder of files is written under a temporary name next to its destination,
/// and renamed when it is complete. An existing folder is kept until then.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_SUPPORT_ATOMICFOLDER_H
#define ANEC_SUPPORT_ATOMICFOLDER_H

#include "anec/Support/Diagnostics.h"
#include "anec/Support/Unfinished.h"

namespace anec {

class AtomicFolder {
public:
  /// Starts the folder that commit renames to `path`. An existing folder is
  /// replaced when it has a file called `mark` or is empty; anything else is an
  /// error. Returns null on an error, with the reason reported. Leftovers of
  /// killed processes are removed.
  [[nodiscard]] static std::unique_ptr<AtomicFolder>
  create(llvm::StringRef path, llvm::StringRef mark, Diagnostics &diags);
  /// Removes the folder when it was not committed.
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder &) = delete;
  AtomicFolder &operator=(const AtomicFolder &) = delete;

  /// The folder to write the files to until commit.
  llvm::StringRef path() const { return temporary; }
  /// Whether commit waits until the folder and its name are on the disk. Its
  /// files are the responsibility of their writers.
  enum class Durability { Cached, Synced };
  /// Renames the folder to its final path; returns false, with the reason
  /// reported and nothing changed, when that fails.
  bool commit(Durability durability = Durability::Cached);

private:
  AtomicFolder(std::string target, std::string temporary, Unfinished unfinished,
               Diagnostics &diags)
      : target(std::move(target)), temporary(std::move(temporary)),
        unfinished(std::move(unfinished)), diags(diags) {}

  std::string target, temporary;
  Unfinished unfinished; ///< the temporary folder
  Diagnostics &diags;
};

} // namespace anec

#endif // ANEC_SUPPORT_ATOMICFOLDER_H
