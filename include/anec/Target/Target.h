//===- Target.h - what is known of each chip -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A target is data: the limits of a chip's neural engine, the MIL dialect to
/// write for it, and the anchors of the cost model. None of it is documented by
/// the vendor; every figure stands with the publication it was taken from and
/// how far that can be trusted.
///
/// `generic` is the safe side of all chips: the smallest limits and the slowest
/// anchors. What is legal for it should be legal for each.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_TARGET_H
#define ANEC_TARGET_TARGET_H

#include "anec/IR/Type.h"
#include "llvm/ADT/StringRef.h"

namespace anec {

/// How far a figure or a rule can be trusted.
enum class Confidence : uint8_t {
  High,   ///< two independent sources, or to be read in code that runs
  Medium, ///< one careful measurement
  Low,    ///< one report
};
/// `high`, `medium`, `low`.
llvm::StringRef spelling(Confidence confidence);

/// A figure and where it is from.
template <typename T>
struct Quoted {
  T value;
  llvm::StringLiteral source;
  Confidence confidence;

  constexpr operator T() const { return value; }
};

/// Where a chip stops. What is beyond a limit is refused, unless the comment
/// says that it is only slow.
struct Limits {
  /// On-chip memory: what a program's activations and the weights of one op
  /// should fit in. Beyond, programs run slower; none is refused.
  Quoted<uint64_t> sramBytes;
  /// Bytes of one input or output, rows padded (see surfaceBytes).
  Quoted<uint64_t> surfaceBytes;
  /// Bytes of all weights of a program.
  Quoted<uint64_t> weightBytes;
  /// Weight files that one program may name; records within are not counted.
  Quoted<unsigned> weightFiles;
  /// Ops in one program, constants not counted.
  Quoted<unsigned> opsPerProgram;
  /// Rank of any value.
  Quoted<unsigned> rank;
  /// Extent of axis 1 of a rank-4 value.
  Quoted<int64_t> channels;
  /// Extent of each of the last two axes.
  Quoted<int64_t> spatial;
  /// Input channels (contracted) and output channels of one convolution.
  Quoted<int64_t> convInputChannels;
  Quoted<int64_t> convOutputChannels;
  /// Extent of a convolution's kernel along the width and the height.
  Quoted<int64_t> convKernelWidth;
  Quoted<int64_t> convKernelHeight;
  /// The contracted extent of `matmul`, and its largest result extent.
  Quoted<int64_t> matmulContraction;
  Quoted<int64_t> matmulExtent;
  /// Elements that go into one of a reduction's result, and from how many on it
  /// goes by way of a transposition, which is only slow.
  Quoted<int64_t> reducedElements;
  Quoted<int64_t> longReduction;
  /// Extents that `concat` makes and that `transpose` takes.
  Quoted<int64_t> concatExtent;
  Quoted<int64_t> transposeExtent;
  /// Width and height of the windows of `max_pool` and `avg_pool`.
  Quoted<int64_t> maxPoolWindow;
  Quoted<int64_t> avgPoolWindow;
  /// Compilations that one process gets before all others fail.
  Quoted<unsigned> compilesPerProcess;
  /// Programs that may be loaded at a time, machine-wide.
  Quoted<unsigned> loadedPrograms;
};

/// How inputs and outputs lie in memory: each row (the last axis) starts at a
/// multiple of `rowAlignment`, and a surface has at least `minimumBytes`.
struct SurfaceRule {
  Quoted<uint64_t> rowAlignment;
  Quoted<uint64_t> minimumBytes;
};

/// What `t = floor + max(ops / peak, bytes / bandwidth)` takes.
struct CostAnchors {
  /// One evaluation of a loaded program that does next to nothing.
  Quoted<double> floorMicroseconds;
  /// fp16 operations (a multiply-add counts twice) in 10^12 a second: of 1x1
  /// convolutions, which the engine is fast at, and of `matmul`.
  Quoted<double> convTeraflops;
  Quoted<double> matmulTeraflops;
  /// Bytes that weights, inputs, outputs and what does not fit on the chip move
  /// at, in 10^9 a second.
  Quoted<double> gigabytesPerSecond;
  /// Predictions were within this factor of what was published, both ways.
  double errorFactor;
};

/// One bit each, for sets.
enum class Chip : uint8_t {
  M1 = 1 << 0,
  M2 = 1 << 1,
  M3 = 1 << 2,
  M3Ultra = 1 << 3,
  M4 = 1 << 4,
  M5 = 1 << 5,
};

/// A set of chips; that of `generic` has all.
class ChipSet {
public:
  constexpr ChipSet() = default;
  constexpr ChipSet(std::initializer_list<Chip> chips) {
    for (Chip chip : chips)
      bits |= uint8_t(chip);
  }
  static constexpr ChipSet all() {
    return {Chip::M1, Chip::M2, Chip::M3, Chip::M3Ultra, Chip::M4, Chip::M5};
  }
  constexpr bool intersects(ChipSet other) const { return bits & other.bits; }
  constexpr bool operator==(const ChipSet &) const = default;
  /// `m1, m2`, or `all`.
  std::string str() const;

private:
  uint8_t bits = 0;
};

struct Target {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  ChipSet chips;
  Limits limits;
  SurfaceRule surface;
  /// What to write when nothing else is asked for: `program(1.3)` with the
  /// opset that goes with it.
  Quoted<llvm::StringLiteral> milVersion;
  llvm::StringLiteral opset;
  /// The emulation of this chip's arithmetic; `fp16` where none is published.
  Quoted<llvm::StringLiteral> numerics;
  CostAnchors cost;
};

/// All targets, `generic` first, then by age.
llvm::ArrayRef<Target> allTargets();
/// Null when there is no such target.
const Target *findTarget(llvm::StringRef name);
/// The target with the name that the system has for the chip, `Apple M4 Max`;
/// null when there is none.
const Target *findTargetOfChip(llvm::StringRef chip);
inline const Target &genericTarget() { return allTargets().front(); }

/// Bytes that an input or output of `type` takes: N * C * H rows, each padded,
/// and at least the minimum.
uint64_t surfaceBytes(const SurfaceRule &rule, const TensorType &type);

/// What one program does, for the cost model.
struct Work {
  int64_t convFlops = 0;
  int64_t otherFlops = 0;
  uint64_t bytes = 0; ///< moved on and off the chip
};

/// The time of one evaluation: the floor, and the longer of computing and
/// moving. A prediction, good to `errorFactor`.
double predictMicroseconds(const Target &target, const Work &work);

} // namespace anec

#endif // ANEC_TARGET_TARGET_H
