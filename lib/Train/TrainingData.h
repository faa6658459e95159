//===- TrainingData.h - what a training step is given -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The data of a run as examples, of which each run of the model takes a few:
/// windows of a text, or rows of arrays. Which ones, DataOrder says.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_TRAININGDATA_H
#define ANEC_LIB_TRAIN_TRAININGDATA_H

#include "TrainingStep.h"
#include "anec/Train/TrainLog.h"
#include "lib/Train/Checkpoint.h"

namespace anec {

class TrainingData {
public:
  virtual ~TrainingData();

  /// How many examples there are, and how many a run takes.
  virtual uint64_t count() const = 0;
  virtual uint64_t perRun() const = 0;
  /// Fills the buffers of a step with `examples`, as many as a run takes.
  virtual void
  read(llvm::ArrayRef<uint64_t> examples,
       llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> buffers) const = 0;
  /// Reports that there are too few examples for a run and, with `validates`,
  /// another of validation.
  virtual void reportTooFew(bool validates, Diagnostics &diags) const = 0;

  virtual DataUnit unit() const = 0;
  /// The size of the data, and that of a run, in units.
  virtual uint64_t size() const = 0;
  virtual uint64_t unitsPerRun() const = 0;
  /// Identifies the data.
  virtual std::string fingerprint() const = 0;
  virtual UsedTokenizer tokenizer() const = 0;
  /// `58 windows to train on, 3 to validate`.
  virtual std::string describe(const DataOrder &order) const = 0;
};

/// The ids in the buffer of an input.
inline llvm::MutableArrayRef<int32_t>
idsIn(llvm::MutableArrayRef<uint8_t> buffer) {
  return {reinterpret_cast<int32_t *>(buffer.data()),
          buffer.size() / sizeof(int32_t)};
}

struct DataOptions {
  llvm::ArrayRef<std::string> paths;  ///< files and folders
  llvm::ArrayRef<std::string> inputs; ///< `NAME=FILE` for arrays
  std::string tokenizer;              ///< as openTokenizer takes it
  llvm::StringRef without;            ///< a folder to leave out of others
  llvm::StringRef package;            ///< the folder of the step's package
};

/// Opens data for `step`: arrays when `inputs` are named or files of arrays are
/// all there is to read, and text otherwise. Returns null, with the reason
/// reported, when they do not fit the step.
[[nodiscard]] std::unique_ptr<TrainingData>
openTrainingData(const DataOptions &options, const TrainingStep &step,
                 Diagnostics &diags);

/// The kinds of data: windows of text, for a step that takes tokens, and arrays
/// by the names of inputs; the conversations of TextData.h are another.
[[nodiscard]] std::unique_ptr<TrainingData>
openTokenWindows(const DataOptions &options, const TokenInputs &inputs,
                 Diagnostics &diags);
[[nodiscard]] std::unique_ptr<TrainingData>
openArrayData(const DataOptions &options, const TrainingStep &step,
              Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_TRAIN_TRAININGDATA_H
