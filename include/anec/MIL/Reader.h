//===- Reader.h - MIL text to IR -------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_MIL_READER_H
#define ANEC_MIL_READER_H

#include "anec/IR/IR.h"
#include "anec/IR/SourceWeights.h"
#include "anec/Support/Diagnostics.h"
#include "anec/Support/MappedFile.h"
#include "llvm/ADT/StringMap.h"

namespace anec {

class OpTable;
struct ModelDescription;

/// A shape for an input that a program declares with unknown extents.
struct InputShape {
  std::string name;
  Shape shape;
  /// The shape is that of an available array: it is ignored where it does not
  /// fit the declared type, and no such input needs to exist.
  bool isHint = false;
};

/// The elements of an input, for formats where shapes can depend on them.
struct InputValue {
  std::string name;
  ConstantRef value;
  /// The program has these numbers instead of the input.
  bool isFixed = false;
};

/// The file behind a path in the text.
struct ActualFile {
  std::string path;
  MappedFile contents; ///< null when the file is to be opened
};

struct MILReadOptions {
  /// How to treat a weight file that cannot be opened: as an error; or, for
  /// callers that only inspect the program, as a warning or silently, with
  /// zeros for its values and `BlobOrigin::missing` set.
  enum class MissingWeights : uint8_t { Error, Warn, Ignore };
  MissingWeights missingWeights = MissingWeights::Error;
  /// The first one of each name is used. An input with unknown extents that is
  /// not listed gets the program's default shape, with a warning.
  std::vector<InputShape> shapes;
  std::vector<InputValue> values;
  /// Maps paths of weight files in the text to the actual files, when they are
  /// elsewhere: instances of a program share the text.
  llvm::StringMap<ActualFile> weightFiles;
  /// Only this function; empty for all.
  std::string function;
  /// Of a program that says which function is its default one, only that, if
  /// `function` is empty.
  bool onlyDefaultFunction = false;
  /// How a pipeline of models is read: the one function `main` that all parts
  /// are, or a function for each part that is a program: `part0`, `part1`.
  enum class Parts : uint8_t { Joined, Separate };
  Parts parts = Parts::Joined;
  /// Of a pipeline, only this part; from 0.
  std::optional<uint64_t> part;
  /// Whether the caller reads no elements of weights. Of an archive of PyTorch,
  /// the checksums of weights are then compared only where the program depends
  /// on their elements.
  bool defersChecksums = false;
  /// Whether the caller does what FunctionDescription::suppression says.
  bool suppresses = false;
  /// What becomes of weights, of ONNX models and PyTorch's archives; null for
  /// constants.
  std::shared_ptr<SourceWeights> sourceWeights = nullptr;
  /// Receives what the program says beyond its functions. May be null.
  ModelDescription *description = nullptr;
};

/// Reads the MIL program in `buffer`, which `diags` owns and the ops' source
/// ranges point into. `modelDirectory` is the value of `@model_path`: the
/// folder of the .mil file. Every function becomes a kernel; `const` ops that
/// feed constant parameters become constants of the ops they feed, and so do
/// ops that compute them from constants and shapes. Returns null after errors;
/// all errors that can be found are reported in one run.
[[nodiscard]] std::unique_ptr<Module>
readMIL(llvm::StringRef buffer, llvm::StringRef modelDirectory,
        const OpTable &ops, Diagnostics &diags,
        const MILReadOptions &options = {});

} // namespace anec

#endif // ANEC_MIL_READER_H
