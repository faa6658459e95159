//===- SlidingWindow.cpp - the part of a text that a model has ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/SlidingWindow.h"
#include <algorithm>
#include <cassert>

using namespace anec;

void SlidingWindow::beginText() {
  if (dropped)
    held.resize(kept);
  dropped = 0;
  isNew = true;
}

void SlidingWindow::reset() {
  held.clear();
  dropped = 0;
  isNew = true;
}

size_t SlidingWindow::align(llvm::ArrayRef<int32_t> text, size_t first,
                            size_t wanted) {
  assert(wanted > 0 && wanted <= text.size());
  first = std::min(first, positions < 2 ? 0 : positions - 2);
  auto common = size_t(
      std::mismatch(held.begin(), held.end(), text.begin(), text.end()).first -
      held.begin());
  common = std::min(common, text.size() - wanted);
  if (dropped && (first != kept || common < kept + dropped)) {
    common = std::min({common, kept, first});
    held.resize(common);
    dropped = 0;
  }
  kept = first;
  return common;
}

size_t SlidingWindow::room(llvm::ArrayRef<int32_t> text, size_t first) {
  (void)align(text, first, 1);
  return positions - std::min(positions, text.size() - dropped);
}

SlidingWindow::Step SlidingWindow::advance(llvm::ArrayRef<int32_t> text,
                                           size_t first, size_t wanted) {
  size_t common = align(text, first, wanted);
  Step step;
  if (text.size() - dropped <= positions) {
    step.keep = common - dropped;
    step.tokens.assign(text.begin() + common, text.end());
  } else {
    size_t fits = positions - kept, half = (fits + 1) / 2;
    size_t rest =
        isNew ? fits : std::min(fits, std::max(half, text.size() - common));
    step.keep = std::min(common, kept);
    step.tokens.assign(text.begin() + step.keep, text.begin() + kept);
    step.tokens.insert(step.tokens.end(), text.end() - rest, text.end());
    dropped = text.size() - rest - kept;
  }
  isNew = false;
  held.resize(std::min(common, held.size()));
  held.insert(held.end(), text.begin() + held.size(), text.end());
  return step;
}
