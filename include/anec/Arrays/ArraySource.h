//===- ArraySource.h - named collections of arrays --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A named collection of arrays: a .safetensors or GGUF file, a checkpoint of
/// llama2.c, a folder with the .safetensors files of a model, or a folder of
/// .npy files named after their arrays.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_ARRAYS_ARRAYSOURCE_H
#define ANEC_ARRAYS_ARRAYSOURCE_H

#include "anec/Arrays/StoredArray.h"
#include "anec/Support/MappedFile.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace anec {

/// Whether PyTorch has written the file, which no function here reads.
bool isPyTorchFile(const MappedFile &file);

class ArraySource {
public:
  /// Maps all arrays at `path`; returns nothing when one of them cannot be
  /// read, with the reason reported. A file that ends in .bin is one of
  /// llama2.c, whose arrays have the names of Llama2cFile; other files say what
  /// they are. In a folder, they are those of
  /// `model.safetensors`, or those that `model.safetensors.index.json` lists,
  /// in the files that it names, or those of the `weights.safetensors` of a
  /// checkpoint, or .npy files.
  [[nodiscard]] static std::optional<ArraySource> open(llvm::StringRef path,
                                                       Diagnostics &diags);
  /// The same for `file`, which was read from `path`.
  [[nodiscard]] static std::optional<ArraySource>
  read(const MappedFile &file, llvm::StringRef path, Diagnostics &diags);

  /// The path that was opened.
  llvm::StringRef path() const { return source; }
  /// The array named `name`; null when there is none.
  const StoredArray *find(llvm::StringRef name) const;
  /// Its elements, which are computed anew by each call if they are packed;
  /// null when there is none.
  ConstantRef lookup(llvm::StringRef name) const;
  /// The array named `name`, for use as `type` at `range`. Its shape must
  /// match; arrays of another float type are converted when they are read or
  /// written, and packed ones now. Returns null otherwise, with the reason
  /// reported.
  [[nodiscard]] ConstantRef lookup(llvm::StringRef name, const TensorType &type,
                                   SourceRange range, Diagnostics &diags) const;
  /// The metadata of the .safetensors files, sorted. What several say is that
  /// of the first.
  const std::vector<std::pair<std::string, std::string>> &metadata() const {
    return about;
  }
  /// All names, sorted.
  std::vector<llvm::StringRef> names() const;
  /// Drops the arrays from memory, which are read again when they are used:
  /// for those who go through gigabytes of them once.
  void releasePages() const;

private:
  /// Adds the arrays of a .safetensors file that `belongs` accepts.
  [[nodiscard]] bool addFile(const MappedFile &file, llvm::StringRef path,
                             llvm::function_ref<bool(llvm::StringRef)> belongs,
                             Diagnostics &diags);
  [[nodiscard]] bool addGguf(const MappedFile &file, Diagnostics &diags);
  [[nodiscard]] bool addLlama2c(const MappedFile &file, Diagnostics &diags);
  [[nodiscard]] bool addShards(llvm::StringRef index, Diagnostics &diags);
  [[nodiscard]] bool addNpyFiles(Diagnostics &diags);

  std::string source;
  std::vector<MappedFile> files;
  llvm::StringMap<StoredArray> arrays;
  std::vector<std::pair<std::string, std::string>> about;
};

} // namespace anec

#endif // ANEC_ARRAYS_ARRAYSOURCE_H
