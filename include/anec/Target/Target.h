//===- Target.h - limits and costs of each chip -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A target is data: the limits of a chip's neural engine, the MIL dialect to
/// write for it, and the anchors of the cost model. None of it is documented by
/// the vendor; every figure has its source and how far it can be trusted.
///
/// `generic` is the conservative choice for all chips: the smallest limits and
/// the slowest anchors. Programs that are legal for it should be legal for
/// every chip.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_TARGET_H
#define ANEC_TARGET_TARGET_H

#include "anec/IR/Type.h"
#include "anec/Support/Words.h"
#include "llvm/ADT/StringRef.h"

namespace anec {

/// How far a figure or a rule can be trusted.
/// - `High`: two independent sources, or visible in code that runs
/// - `Medium`: one careful measurement
/// - `Low`: one report
ANEC_ENUM(Confidence, (High, "high"), (Medium, "medium"), (Low, "low"))

/// A figure and its source.
template <typename T>
struct Quoted {
  T value;
  llvm::StringLiteral source;
  Confidence confidence;

  constexpr operator T() const { return value; }
};

/// The limits of a chip. A program beyond a limit is refused, unless the
/// comment says that it is only slow.
struct Limits {
  /// On-chip memory. A program's activations and the weights of one op should
  /// fit in it; otherwise the program is only slower.
  Quoted<uint64_t> sramBytes;
  /// Bytes of one input or output, with padded rows (see surfaceBytes).
  Quoted<uint64_t> surfaceBytes;
  /// Bytes of all weights of a program.
  Quoted<uint64_t> weightBytes;
  /// Weight files that one program can name, whatever their number of records.
  Quoted<unsigned> weightFiles;
  /// Ops in one program, except constants.
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
  /// Elements reduced to one element of the result. From `longReduction`
  /// elements on, a reduction is implemented with a transposition, which is
  /// only slow.
  Quoted<int64_t> reducedElements;
  Quoted<int64_t> longReduction;
  /// Extents that `concat` produces and that `transpose` accepts.
  Quoted<int64_t> concatExtent;
  Quoted<int64_t> transposeExtent;
  /// Width and height of the windows of `max_pool` and `avg_pool`.
  Quoted<int64_t> maxPoolWindow;
  Quoted<int64_t> avgPoolWindow;
  /// Compilations in one process, after which all others fail.
  Quoted<unsigned> compilesPerProcess;
  /// Programs that can be loaded at a time, machine-wide.
  Quoted<unsigned> loadedPrograms;
};

/// The layout of inputs and outputs in memory: each row (the last axis) starts
/// at a multiple of `rowAlignment` bytes, and a surface has at least
/// `minimumBytes`.
struct SurfaceRule {
  Quoted<uint64_t> rowAlignment;
  Quoted<uint64_t> minimumBytes;
};

/// The parameters of `t = floor + max(ops / peak, bytes / bandwidth) +
/// element bytes / element bandwidth`.
struct CostAnchors {
  /// The time of one evaluation of a loaded program that does almost nothing.
  Quoted<double> floorMicroseconds;
  /// 10^12 fp16 operations per second (a multiply-add counts as two): of 1x1
  /// convolutions, which are fast on the engine, and of `matmul`.
  Quoted<double> convTeraflops;
  Quoted<double> matmulTeraflops;
  /// 10^9 bytes per second at which weights, inputs, outputs and activations
  /// that do not fit on the chip are moved.
  Quoted<double> gigabytesPerSecond;
  /// 10^9 bytes per second that ops other than products read and write on the
  /// chip.
  Quoted<double> elementGigabytesPerSecond;
  /// Predictions are within this factor of the published times, in both
  /// directions.
  double errorFactor;
};

/// A chip, whose names `lib/Target/Chip.h` declares.
enum class Chip : uint8_t;

/// A set of chips; the target `generic` has all.
class ChipSet {
public:
  constexpr ChipSet() = default;
  constexpr ChipSet(std::initializer_list<Chip> chips) {
    for (Chip chip : chips)
      bits |= uint32_t(1) << uint8_t(chip);
  }
  static constexpr ChipSet all() {
    ChipSet chips;
    chips.bits = ~uint32_t(0);
    return chips;
  }
  constexpr bool intersects(ChipSet other) const { return bits & other.bits; }
  constexpr bool operator==(const ChipSet &) const = default;
  /// `m1, m2`, or `all`.
  std::string str() const;

private:
  uint32_t bits = 0; ///< bit n is the chip of number n
};

struct Target {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  ChipSet chips;
  Limits limits;
  SurfaceRule surface;
  /// The MIL version to write by default: `program(1.3)` with the matching
  /// opset.
  Quoted<llvm::StringLiteral> milVersion;
  llvm::StringLiteral opset;
  /// The emulation of this chip's arithmetic; `fp16` where none is published.
  Quoted<llvm::StringLiteral> numerics;
  CostAnchors cost;
};

/// All targets, `generic` first, then by age.
llvm::ArrayRef<Target> allTargets();
/// Another name of a target: that of its engine, or of a phone chip that has
/// the same engine.
struct HardwareName {
  llvm::StringLiteral name; ///< `h16`, `a17-pro`
  llvm::StringLiteral target;
};
/// All hardware names, in the order of the targets.
llvm::ArrayRef<HardwareName> hardwareNames();
/// The target called `name`, which is its own name or a hardware name; null
/// when there is none.
const Target *findTarget(llvm::StringRef name);
/// The target for the system's name of a chip, such as `Apple M4 Max` or `Apple
/// A17 Pro`; null when there is none.
const Target *findTargetOfChip(llvm::StringRef chip);
inline const Target &genericTarget() { return allTargets().front(); }

/// The bytes of an input or output of `type`: N * C * H rows, each padded, and
/// at least the minimum.
uint64_t surfaceBytes(const SurfaceRule &rule, const TensorType &type);

/// The work of one program, as input of the cost model.
struct Work {
  int64_t convFlops = 0;
  int64_t otherFlops = 0;
  uint64_t bytes = 0; ///< moved on and off the chip
  /// Read and written by ops that are not products, see elementBytes.
  uint64_t elementBytes = 0;
};

/// The predicted time of one evaluation: the floor, the longer of computing and
/// moving, and what ops other than products take. Accurate to a factor of
/// `errorFactor`.
double predictMicroseconds(const Target &target, const Work &work);

} // namespace anec

#endif // ANEC_TARGET_TARGET_H
