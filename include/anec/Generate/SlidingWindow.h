//===- SlidingWindow.h - the part of a text that a model has ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A sequence of a model has a fixed number of positions. A text that grows
/// beyond it loses tokens after the first ones, which are kept:
///
///   kept, dropped, rest   ->   the model has kept and rest
///
/// When the window is full, the older half of the rest is dropped, and the
/// other half read again behind the kept tokens: each token is read at most
/// about twice, however long the text is.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_GENERATE_SLIDINGWINDOW_H
#define ANEC_GENERATE_SLIDINGWINDOW_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace anec {

class SlidingWindow {
public:
  /// Of a model with that many `positions`, at least one.
  explicit SlidingWindow(size_t positions) : positions(positions) {}

  /// What has to be read so that the model has `text`.
  struct Step {
    size_t keep = 0; ///< as in TokenFeed
    std::vector<int32_t> tokens;
  };
  /// The next step, at whose end the model has `text`, not empty, as far as it
  /// fits. The model then reads at least the last `wanted` tokens, one more
  /// than `room` tells at most. `first`: how many of the first tokens are kept;
  /// it is at most positions - 2 and otherwise reduced to that.
  Step advance(llvm::ArrayRef<int32_t> text, size_t first, size_t wanted = 1);
  /// How many more tokens the step for `text` can have before any are dropped.
  size_t room(llvm::ArrayRef<int32_t> text, size_t first);

  /// The next text does not go on from this one: what the model gets of it does
  /// not depend on earlier texts. Of one that is too long, it gets as many
  /// tokens of the end as fit.
  void beginText();
  /// The model no longer has any text.
  void reset();

private:
  /// The number of tokens at the beginning of `text` that the model has, or had
  /// before they were dropped. If it is another text where some were, none are
  /// dropped any more.
  size_t align(llvm::ArrayRef<int32_t> text, size_t first, size_t wanted);

  size_t positions;
  std::vector<int32_t> held; ///< the text, with what was dropped
  size_t kept = 0;
  size_t dropped = 0; ///< after the kept tokens
  bool isNew = true;  ///< nothing of the text has been read
};

} // namespace anec

#endif // ANEC_GENERATE_SLIDINGWINDOW_H
