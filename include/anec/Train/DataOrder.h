//===- DataOrder.h - which examples a run is given when ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_DATAORDER_H
#define ANEC_TRAIN_DATAORDER_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace anec {

/// A position in the sequence of training examples.
struct DataPosition {
  uint64_t epoch = 0;
  uint64_t window = 0; ///< number of examples of this epoch already used
  bool operator==(const DataPosition &) const = default;
};

/// Divides examples, whatever they are, among training and validation. The last
/// ones are for validation; the others are shuffled for every epoch, and each
/// run of the model takes the next few. An order depends only on the seed and
/// the number of the epoch, so that a position is two numbers.
class DataOrder {
public:
  /// Divides `count` examples, of which a run takes `perRun`; nothing when
  /// there are too few for one run of each kind. An epoch's last examples that
  /// fill no run are left out.
  static std::optional<DataOrder> divide(uint64_t count, uint64_t perRun,
                                         double validationShare, uint64_t seed);

  /// Whether `share` is one of the data.
  static bool isShare(double share) { return share >= 0 && share < 1; }
  /// Whether `position` is one of this data.
  bool has(const DataPosition &position) const {
    return position.window <= training;
  }

  /// In examples.
  uint64_t trainingCount() const { return training; }
  uint64_t validationCount() const { return validation; }
  uint64_t validationRuns() const { return validation / perRun; }

  /// Returns the examples of the run at `position`, one of this data, which are
  /// valid until the next call, and advances `position`.
  llvm::ArrayRef<uint64_t> next(DataPosition &position);
  /// The examples of the validation run number `index`.
  std::vector<uint64_t> validationRun(uint64_t index) const;

private:
  void shuffle(uint64_t epoch);

  uint64_t perRun = 1, training = 0, validation = 0, seed = 0;
  std::vector<uint64_t> order; ///< the permutation of epoch `shuffled`
  std::optional<uint64_t> shuffled;
};

} // namespace anec

#endif // ANEC_TRAIN_DATAORDER_H
