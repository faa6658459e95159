//===- ConvCopy.h - inputs of a convolution with their padding --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Channels of an image with their padding, and elements that are a stride
/// apart next to each other: [channel, phase, row, column]. Then each position
/// of the kernel is an offset into the copy, and a run of results is a weighted
/// sum of runs of it, over the ends of rows. What is computed there is left out
/// of the result.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_CONVCOPY_H
#define ANEC_LIB_RUNTIME_CPU_CONVCOPY_H

#include "lib/Ops/Convolution.h"
#include <array>
#include <utility>

namespace anec::cpu {

/// A spatial axis of the copy.
struct CopiedAxis {
  ConvAxis of{1, 1, 1, 1, 0, 0};
  size_t results = 1; ///< of the convolution
  size_t phases = 1;  ///< the stride
  size_t extent = 1;  ///< elements of each phase

  CopiedAxis() = default;
  explicit CopiedAxis(const ConvAxis &axis)
      : of(axis), results(size_t(axis.output())), phases(size_t(axis.stride)),
        extent(results + size_t((axis.kernel - 1) * axis.dilation) / phases) {}

  /// Where tap `k` of result 0 is.
  size_t phaseOf(size_t k) const { return k * size_t(of.dilation) % phases; }
  size_t firstOf(size_t k) const { return k * size_t(of.dilation) / phases; }
  /// The input at element `i` of `phase`; outside of it in the padding.
  int64_t inputAt(size_t phase, size_t i) const {
    return int64_t(i * phases + phase) - of.before;
  }
  bool isInside(int64_t at) const { return at >= 0 && at < of.input; }
  /// The elements [first, second) of `phase` that are inputs.
  std::pair<size_t, size_t> inside(size_t phase) const;
};

/// Channels as they are copied. There are always three spatial axes.
struct ConvCopy {
  ConvCopy() = default;
  /// The axes of `op`, a convolution of images of `channels`.
  ConvCopy(const Op &op, size_t channels);

  std::array<CopiedAxis, 3> axes;
  size_t channels = 0;

  size_t phases() const {
    return axes[0].phases * axes[1].phases * axes[2].phases;
  }
  /// Elements of one phase of one channel.
  size_t volume() const {
    return axes[0].extent * axes[1].extent * axes[2].extent;
  }
  size_t row() const { return axes[2].extent; }
  size_t size() const { return channels * phases() * volume(); }

  /// Elements of a channel before it is copied.
  size_t inputVolume() const {
    return size_t(axes[0].of.input * axes[1].of.input * axes[2].of.input);
  }
  /// Whether the copy would be the image itself.
  bool isImage() const;
  /// Where each tap of an output is: [channel, kernel positions].
  std::vector<uint32_t> offsets() const;
  /// Where the elements of each result's first tap are, in order of results.
  std::vector<uint32_t> positions() const;
  /// Copies the channel at `input` to `out`, which has place for all phases.
  void fillChannel(const float *input, float *out) const;

private:
  /// Copies the inputs at `from` to [begin, end) of a row, among zeros.
  void fillRow(size_t begin, size_t end, const float *from, float *out) const;
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_CONVCOPY_H
