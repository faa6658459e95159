//===- Reader.h - MIL text to IR -------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_MIL_READER_H
#define ANEC_MIL_READER_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/StringMap.h"

namespace anec {

class OpTable;

/// A shape for an input that a program declares with unknown extents.
struct InputShape {
  std::string name;
  Shape shape;
  /// It is what an array happens to have: where it does not fit the declared
  /// type, it counts as not given, and there need be no such input.
  bool isHint = false;
};

struct MILReadOptions {
  /// What a weight file that cannot be opened is: an error; or, for those who
  /// only look at the program, a warning or nothing, with zeros for its values
  /// and `BlobOrigin::missing` set.
  enum class MissingWeights : uint8_t { Error, Warn, Ignore };
  MissingWeights missingWeights = MissingWeights::Error;
  /// The first one of each name counts. An input with unknown extents that is
  /// not among them has the shape that the program gives as its default, with
  /// a warning.
  std::vector<InputShape> shapes;
  /// The files that weight files in the text stand for, by the path as written,
  /// when they lie elsewhere: instances of a program have the text in common.
  llvm::StringMap<std::string> weightFiles;
};

/// Reads the MIL program in `buffer`, which `diags` owns and the ops' source
/// ranges point into. `modelDirectory` is what `@model_path` stands for: the
/// folder of the .mil file. Every function becomes a kernel; `const` ops that
/// feed constant parameters become constants of the ops they feed, and so do
/// ops that compute them from constants and shapes. Null after
/// errors; as many as can be found are reported in one go.
std::unique_ptr<Module> readMIL(llvm::StringRef buffer,
                                llvm::StringRef modelDirectory,
                                const OpTable &ops, Diagnostics &diags,
                                const MILReadOptions &options = {});

} // namespace anec

#endif // ANEC_MIL_READER_H
