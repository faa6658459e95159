//===- KeepBoxes.h - the boxes of objects that are kept ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_KEEPBOXES_H
#define ANEC_LIB_OPS_KEEPBOXES_H

#include <cstdint>
#include <limits>
#include <vector>

namespace anec {

/// The boxes of an image.
struct ScoredBoxes {
  int64_t count = 0, classes = 0;
  std::vector<double> places; ///< [count, 4]: center x and y, width, height
  std::vector<double> scores; ///< [count, classes]
};

struct BoxLimits {
  double overlap = 1; ///< the most intersection over union with a better box
  double score = -std::numeric_limits<double>::infinity();
  bool isPerClass = false; ///< boxes of other classes do not count
  int64_t most = std::numeric_limits<int64_t>::max();
};

/// The boxes that overlap no better box that is kept, the best first, and of
/// equal ones the first. The class of a box is the first with its largest
/// score, which counts. A score that is NaN is smaller than all others, and
/// below any limit.
std::vector<int64_t> keepBoxes(const ScoredBoxes &boxes,
                               const BoxLimits &limits);

} // namespace anec

#endif // ANEC_LIB_OPS_KEEPBOXES_H
