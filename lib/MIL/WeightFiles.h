//===- WeightFiles.h - weight files that programs refer to -------*- C++
//-*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_WEIGHTFILES_H
#define ANEC_LIB_MIL_WEIGHTFILES_H

#include "anec/MIL/Reader.h"
#include "lib/MIL/Blob.h"
#include "llvm/ADT/StringMap.h"

namespace anec::mil {

/// Opens each weight file of a program once, when a value first needs it.
class WeightFiles {
public:
  WeightFiles(llvm::StringRef modelDirectory, const MILReadOptions &options,
              Diagnostics &diags)
      : modelDirectory(modelDirectory), options(options), diags(diags) {}

  /// The value of `type` at `offset` of the file named `path` in the text;
  /// returns null when there is none, with the reason reported at `range`.
  ConstantRef read(const TensorType &type, llvm::StringRef path,
                   SourceRange pathRange, uint64_t offset, SourceRange range);

private:
  struct File {
    std::optional<BlobReader> reader;
    bool missing = false; ///< and reported as a warning
  };
  File &open(llvm::StringRef path, SourceRange range);

  std::string modelDirectory;
  const MILReadOptions &options;
  Diagnostics &diags;
  llvm::StringMap<File> files;
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_WEIGHTFILES_H
