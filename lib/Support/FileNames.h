//===- FileNames.h - names of files beside each other -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Volumes that ignore case, as a Mac's do by default, take `Block.mil` and
/// `block.mil` for one file, and macOS takes both encodings of an accent for
/// one. Names of files of one folder are chosen here as if every volume did
/// so: the same program gives the same names everywhere.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_FILENAMES_H
#define ANEC_LIB_SUPPORT_FILENAMES_H

#include "llvm/ADT/StringMap.h"
#include <string>

namespace anec {

/// Names in a folder, of which no two are one file on any volume.
class FileNames {
public:
  /// The name that was added and may be the same file as `name`; null if there
  /// is none.
  const std::string *find(llvm::StringRef name) const;
  /// Adds `name`; returns false, and adds nothing, where find() has another.
  bool add(llvm::StringRef name);
  /// Adds the first of `STEM ENDING`, `STEM-2 ENDING`, `STEM-3 ENDING`, ...
  /// that is a file of its own, and returns its stem.
  std::string addStem(llvm::StringRef stem, llvm::StringRef ending);

private:
  llvm::StringMap<std::string> folded; ///< by their letters in one case
  /// By what all encodings of their accents share, and those of them that have
  /// characters with several encodings.
  llvm::StringMap<std::string> bare, composed;
};

} // namespace anec

#endif // ANEC_LIB_SUPPORT_FILENAMES_H
