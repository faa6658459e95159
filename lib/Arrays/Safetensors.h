//===- Safetensors.h - named arrays in one file ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Reads and writes .safetensors files: the length of a JSON header (64 bits),
/// the header, which has the element type, shape and byte range of every array,
/// and the bytes of the arrays.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ARRAYS_SAFETENSORS_H
#define ANEC_LIB_ARRAYS_SAFETENSORS_H

#include "anec/IR/Constant.h"
#include "anec/Support/MappedFile.h"
#include <functional>

namespace anec {

struct NamedArray {
  std::string name;
  ConstantRef array;
};

using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

struct Safetensors {
  std::vector<NamedArray> arrays; ///< in the order of their bytes
  SafetensorsMetadata metadata;   ///< sorted
};

/// The arrays of the file at `path`, as views of the mapped file; returns
/// nothing when any part of it is invalid, with the reason reported.
[[nodiscard]] std::optional<Safetensors> readSafetensors(llvm::StringRef path,
                                                         Diagnostics &diags);
/// The same for an already mapped file; `path` is for messages.
[[nodiscard]] std::optional<Safetensors> readSafetensors(const MappedFile &file,
                                                         llvm::StringRef path,
                                                         Diagnostics &diags);

/// Writes `contents`, with its arrays in the given order. Names must be
/// distinct. Returns false and writes nothing for sub-byte integers and
/// strings, which have no code.
bool writeSafetensors(llvm::raw_ostream &out, const Safetensors &contents);

/// An array that is created when it is written.
struct PlannedArray {
  std::string name;
  TensorType type;
  std::function<ConstantRef()> make; ///< of `type`; null ends the writing
};
/// The same, with only one array in memory at a time. Returns false, too, when
/// one is null.
bool writeSafetensors(llvm::raw_ostream &out,
                      llvm::ArrayRef<PlannedArray> arrays,
                      const SafetensorsMetadata &metadata);

} // namespace anec

#endif // ANEC_LIB_ARRAYS_SAFETENSORS_H
