//===- Reader.h - MIL text to IR -------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_MIL_READER_H
#define ANEC_MIL_READER_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"

namespace anec {

class OpTable;

struct MILReadOptions {
  /// What a weight file that cannot be opened is: an error; or, for those who
  /// only look at the program, a warning, with zeros for its values and
  /// `BlobOrigin::missing` set.
  enum class MissingWeights : uint8_t { Error, Warn };
  MissingWeights missingWeights = MissingWeights::Error;
};

/// Reads the MIL program in `buffer`, which `diags` owns and the ops' source
/// ranges point into. `modelDirectory` is what `@model_path` stands for: the
/// folder of the .mil file. Every function becomes a kernel; `const` ops that
/// feed constant parameters become constants of the ops they feed. Null after
/// errors; as many as can be found are reported in one go.
std::unique_ptr<Module> readMIL(llvm::StringRef buffer,
                                llvm::StringRef modelDirectory,
                                const OpTable &ops, Diagnostics &diags,
                                const MILReadOptions &options = {});

} // namespace anec

#endif // ANEC_MIL_READER_H
