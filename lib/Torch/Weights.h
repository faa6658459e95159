//===- Weights.h - the tensors of an archive --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_WEIGHTS_H
#define ANEC_LIB_TORCH_WEIGHTS_H

#include "Archive.h"
#include "Program.h"
#include "anec/IR/Constant.h"
#include "anec/Support/MappedFile.h"
#include <map>

namespace anec::torch {

/// The element type of constants; nothing for complex numbers and others that
/// the IR lacks.
std::optional<DType> storedType(ScalarType type);
bool isComplex(ScalarType type);

/// A tensor as a view of stored elements.
struct StoredTensor {
  TensorMeta meta;
  llvm::ArrayRef<uint8_t> storage;
  /// Of a tensor that Python's pickle wrote: why it cannot be read.
  std::string refusal;
  std::string entry; ///< that has the storage, read when it is needed
  Archive *archive = nullptr;
};

class Weights {
public:
  /// The bytes belong to `file`.
  explicit Weights(MappedFile file) : file(std::move(file)) {}

  /// Reads `..._weights_config.json`, whose entries lie in `folder`. Returns
  /// false, with `error` set, if it is malformed.
  bool addConfig(Archive &archive, llvm::StringRef config,
                 llvm::StringRef folder, std::string &error);
  void add(llvm::StringRef name, StoredTensor tensor) {
    tensors[name] = std::move(tensor);
  }

  /// Another tensor with elements of the same storage; empty if there is none.
  std::string sharedWith(llvm::StringRef name) const;
  /// The tensor as a constant, which refers to the file where its elements lie
  /// in order. A complex one has an axis more, of real and imaginary parts.
  /// Returns null, with `error` set, if it cannot be read.
  ConstantRef read(llvm::StringRef name, ScalarType &type, std::string &error);
  /// The same, where the elements of a large tensor may never be read: its
  /// checksum is left to `check`.
  ConstantRef locate(llvm::StringRef name, ScalarType &type,
                     std::string &error);
  /// Compares the checksum of what `locate` gave, if it was left. Returns the
  /// name of a tensor that is damaged, with `error` set, the first time; empty
  /// otherwise.
  std::string check(const Constant &constant, std::string &error);

private:
  enum class Checksum { Now, Later };
  ConstantRef read(llvm::StringRef name, ScalarType &type, Checksum checksum,
                   std::string &error);

  MappedFile file;
  /// A tensor whose checksum is left.
  struct Unchecked {
    const uint8_t *end;
    std::string name;
  };
  /// By the address of their elements.
  std::map<const uint8_t *, Unchecked> unchecked;
  std::vector<std::unique_ptr<JsonTree>> configs;
  llvm::StringMap<StoredTensor> tensors;
};

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_WEIGHTS_H
