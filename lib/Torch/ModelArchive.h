//===- ModelArchive.h - archives of torch.export.save -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Where an archive has its models and their tensors: PyTorch 2.9 and newer
/// write tensors as they are, 2.8 and 2.6 in archives inside of the archive,
/// with a list that Python's pickle wrote.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_MODELARCHIVE_H
#define ANEC_LIB_TORCH_MODELARCHIVE_H

#include "Weights.h"

namespace anec::torch {

class ModelArchive {
public:
  explicit ModelArchive(StringRef path) : file(path.str()) {}

  /// Returns false after an error.
  [[nodiscard]] bool open(Diagnostics &diags);
  /// The names of models, in order.
  std::vector<StringRef> models() const;
  /// With `defersChecksums`, tensors in an archive inside of this one have only
  /// its checksums.
  [[nodiscard]] bool readProgram(StringRef model, Program &program,
                                 bool defersChecksums, Diagnostics &diags);
  Weights &weightsOf(StringRef model);

  StringRef path() const { return file; }
  size_t fileSize() const { return contents->getBufferSize(); }
  std::string torchVersion() const { return version; }

private:
  [[nodiscard]] bool findModels(Diagnostics &diags);
  [[nodiscard]] bool addWeights(StringRef model, StringRef folder,
                                bool defersChecksums, Diagnostics &diags);

  std::string file;
  MappedFile contents;
  Archive archive;
  std::string root, version;
  bool isOfTorch26 = false;
  /// The entries with the programs, by model.
  std::vector<std::pair<std::string, std::string>> programs;
  llvm::StringMap<std::unique_ptr<Weights>> weights;
  std::vector<std::unique_ptr<Archive>> nested;
};

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_MODELARCHIVE_H
