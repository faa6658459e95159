//===- ProbeWeights.h - weights of the programs of rules --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_PROBEWEIGHTS_H
#define ANEC_PROBE_PROBEWEIGHTS_H

#include "anec/IR/IR.h"
#include "anec/Runtime/Backend.h"
#include <map>

namespace anec {

/// Values for the weights of a rule's program, whose weight files do not exist,
/// and files with these values.
class ProbeWeights {
public:
  /// Draws the weights that `function` lacks.
  void draw(Function &function, double scale);
  /// Makes the files, with each record at the offset that the text states, or
  /// at the multiple of 64 before it. Returns false, with the reason in
  /// `error`, when the records do not fit there.
  bool makeFiles(std::vector<ProgramText::WeightFile> &files,
                 std::string &error) const;
  uint64_t bytes() const;

private:
  /// The weights by path and offset.
  std::map<std::string, std::map<uint64_t, ConstantRef>> arrays;
};

/// Elements drawn uniformly from `low` to `high`, or 0 and 1 for integers, as
/// bytes of `type`.
std::vector<uint8_t> drawArray(const TensorType &type, double low, double high,
                               uint64_t seed);

} // namespace anec

#endif // ANEC_PROBE_PROBEWEIGHTS_H
