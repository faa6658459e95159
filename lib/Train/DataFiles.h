//===- DataFiles.h - the files that data consists of ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_DATAFILES_H
#define ANEC_LIB_TRAIN_DATAFILES_H

#include "anec/Support/Diagnostics.h"

namespace anec {

/// A file of the data.
struct DataFile {
  std::string path;
  bool isNamed; ///< by the user, not found in a folder
  /// Whether it ends as a file of arrays: .npy or .safetensors.
  bool hasArrays() const;
};

/// The files in `paths`, and all files in its folders and below in the order of
/// their names, without hidden files and the folder `without`, the run's own.
/// Nothing, with the reason reported, when a folder cannot be read.
[[nodiscard]] std::optional<std::vector<DataFile>>
listDataFiles(llvm::ArrayRef<std::string> paths, llvm::StringRef without,
              Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_TRAIN_DATAFILES_H
