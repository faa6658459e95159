//===- ProbeWeights.h - weights that nobody has ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_PROBEWEIGHTS_H
#define ANEC_TOOLS_ANE_RUN_PROBEWEIGHTS_H

#include "anec/IR/IR.h"
#include "anec/Runtime/Backend.h"
#include <map>

namespace anec {

/// The rules' programs name weight files that are not there: values are drawn
/// in their place, and files made of them.
class ProbeWeights {
public:
  /// Puts values in place of those that `function` misses.
  void draw(Function &function, double scale);
  /// The files, with each record where the text has it; at the multiple of 64
  /// before, where none can be. False, with the reason in `error`, when they
  /// cannot be made so.
  bool makeFiles(std::vector<ProgramText::WeightFile> &files,
                 std::string &error) const;
  uint64_t bytes() const;

private:
  /// By path and offset.
  std::map<std::string, std::map<uint64_t, ConstantRef>> arrays;
};

/// Elements drawn evenly from `low` to `high`, or 0 and 1 for integers, as
/// bytes of `type`.
std::vector<uint8_t> drawArray(const TensorType &type, double low, double high,
                               uint64_t seed);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_PROBEWEIGHTS_H
