//===- Padding.h - the padding of images -----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_PADDING_H
#define ANEC_LIB_OPS_PADDING_H

#include "lib/Ops/Params/Convolution.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>

namespace anec {

/// The elements before and after an axis.
struct Padding {
  int64_t before = 0, after = 0;

  /// `pad` is the pair of the axis, and `wanted` the number of elements that
  /// the windows need beyond those of the axis, which can be negative.
  Padding(PadType type, llvm::ArrayRef<int64_t> pad, int64_t wanted) {
    int64_t total = std::max<int64_t>(0, wanted);
    switch (type) {
    case PadType::Valid:
      break;
    case PadType::Custom:
      before = pad[0];
      after = pad[1];
      break;
    case PadType::Same:
      before = total / 2;
      after = total - before;
      break;
    case PadType::SameLower:
      after = total / 2;
      before = total - after;
      break;
    }
  }
};

} // namespace anec

#endif // ANEC_LIB_OPS_PADDING_H
