//===- AtomicFolder.h - a folder that appears whole or not -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A folder of files is written under another name beside its place, and takes
/// it when it is complete. What stood there before stays until then.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_SUPPORT_ATOMICFOLDER_H
#define ANEC_SUPPORT_ATOMICFOLDER_H

#include "anec/Support/Diagnostics.h"

namespace anec {

class AtomicFolder {
public:
  /// Starts the folder that will stand at `path`. A folder there is replaced
  /// when it has a file called `mark`, or nothing at all; anything else is
  /// someone's, and reported. Nothing when that or the machine forbids it.
  /// What a process that was killed left on its way there is removed.
  [[nodiscard]] static std::unique_ptr<AtomicFolder>
  create(llvm::StringRef path, llvm::StringRef mark, Diagnostics &diags);
  /// Removes what was not committed.
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder &) = delete;
  AtomicFolder &operator=(const AtomicFolder &) = delete;

  /// Where to write the files until commit.
  llvm::StringRef path() const { return temporary; }
  /// Whether commit waits until the folder and its name are on the disk. Its
  /// files are whoever's who wrote them.
  enum class Durability { Cached, Synced };
  /// Puts the folder into its place; false, with the reason reported and
  /// nothing changed, when that fails.
  bool commit(Durability durability = Durability::Cached);

private:
  AtomicFolder(std::string target, std::string temporary, Diagnostics &diags)
      : target(std::move(target)), temporary(std::move(temporary)),
        diags(diags) {}

  std::string target, temporary;
  Diagnostics &diags;
};

} // namespace anec

#endif // ANEC_SUPPORT_ATOMICFOLDER_H
