//===- Llama2c.h - checkpoints of llama2.c ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Reads the weights that llama2.c's export.py writes: version 0 and 1 in fp32,
/// version 2 with matrices of 8-bit integers, and a scale for each group of
/// them. Writes version 0. The files have an order instead of names; arrays are
/// called as in llama2.c's model.py.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ARRAYS_LLAMA2C_H
#define ANEC_LIB_ARRAYS_LLAMA2C_H

#include "anec/Arrays/StoredArray.h"
#include "anec/Support/MappedFile.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

struct Llama2cFile {
  int version = 0; ///< 0 to 2
  int64_t dim = 0, hidden = 0, layers = 0, heads = 0, keyHeads = 0, vocab = 0;
  int64_t positions = 0;
  bool tied = false; ///< the embedding is the classifier
  /// In the order of the file: `layers.3.attention.wq.weight`.
  std::vector<std::pair<std::string, StoredArray>> arrays;

  /// Channels of keys.
  int64_t keyRows() const { return dim / heads * keyHeads; }
};

/// Whether `file` is one, as far as its first bytes tell, or the ending of
/// `path`: files of version 0 begin with nothing that tells.
bool isLlama2c(const MappedFile &file, llvm::StringRef path);
/// Reads `file`; `path` is for messages. Returns nothing, with the reason
/// reported, when its size is not what its header says.
[[nodiscard]] std::optional<Llama2cFile>
readLlama2c(const MappedFile &file, llvm::StringRef path, Diagnostics &diags);

/// Writes a file of version 0 with the sizes of `sizes`. `arrayOf` gives each
/// array, of floats, by its name when its turn comes.
void writeLlama2c(const Llama2cFile &sizes,
                  llvm::function_ref<ConstantRef(llvm::StringRef name)> arrayOf,
                  llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_ARRAYS_LLAMA2C_H
