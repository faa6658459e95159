//===- TiledConvStep.cpp - convolutions in tiles of outputs ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Convolutions with many outputs, without unfolding the image: sums of a tile
/// of outputs and a few vectors of positions stay in registers, while the
/// inputs are read from a ConvCopy, or from the image if that is the same. The
/// inputs are taken in parts that fit the first cache together with their
/// weights; the order of sums does not depend on the number of threads.
///
//===----------------------------------------------------------------------===//

#include "ConvCopy.h"
#include "ConvImages.h"
#include "ConvSteps.h"
#include "anec/Support/AlignedArray.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace anec;
using namespace anec::cpu;

namespace {

struct TiledConv {
  ConvCopy copy; ///< of a group
  std::vector<uint32_t> offsets;
  size_t images, groups, outputs; ///< outputs of a group
  const float *x, *weights, *biases;
  float *out;
  Rounding rounding;
  /// The weights as [group, tile, term, output of the tile], and the copy of an
  /// image; null when the image is read itself.
  AlignedArray packed, copied;

  /// Taps that are added in one go: their weights and inputs fit the first
  /// cache.
  static constexpr size_t partTerms = 256;
  /// Results of a row of the copy that are computed at a time, and outputs.
  static constexpr size_t runElements = 512, mostOutputs = 48;

  size_t terms() const { return offsets.size(); }
  size_t tiles() const { return llvm::divideCeil(outputs, tileOutputs); }
  size_t groupVolume() const {
    return copy.channels * copy.phases() * copy.volume();
  }
  size_t rowsPerRun() const {
    return std::min(copy.axes[1].results,
                    std::max<size_t>(1, runElements / copy.row()));
  }
  size_t runs() const {
    return copy.axes[0].results *
           llvm::divideCeil(copy.axes[1].results, rowsPerRun());
  }
  /// Outputs that a task computes: whole tiles, about equally many.
  size_t chunks() const { return llvm::divideCeil(outputs, mostOutputs); }
  size_t chunkTiles() const { return llvm::divideCeil(tiles(), chunks()); }
  size_t tasks() const { return groups * runs() * chunks(); }

  void pack(Executor &pool) {
    pool.parallelFor(groups * tiles(), [&](size_t number, unsigned) {
      size_t first = number % tiles() * tileOutputs;
      const float *from =
          weights + (number / tiles() * outputs + first) * terms();
      float *to = packed.get() + number * terms() * tileOutputs;
      size_t count = std::min(tileOutputs, outputs - first);
      for (size_t term = 0; term < terms(); ++term)
        for (size_t o = 0; o < tileOutputs; ++o)
          *to++ = o < count ? from[o * terms() + term] : 0.0f;
    });
  }

  /// Where the inputs of the first group of an image are.
  const float *prepare(size_t image, Executor &pool) {
    const float *channels =
        x + image * groups * copy.channels * copy.inputVolume();
    if (!copied)
      return channels;
    pool.parallelFor(groups * copy.channels, [&](size_t channel, unsigned) {
      copy.fillChannel(channels + channel * copy.inputVolume(),
                       copied.get() + channel * copy.phases() * copy.volume());
    });
    return copied.get();
  }

  size_t scratchFloats() const {
    return chunkTiles() * tileOutputs * rowsPerRun() * copy.row();
  }

  void run(size_t number, size_t image, const float *inputs,
           float *scratch) const {
    const auto &[depth, height, width] = copy.axes;
    size_t group = number / chunks() / runs();
    size_t run = number / chunks() % runs(), perPlane = runs() / depth.results;
    size_t plane = run / perPlane, row = run % perPlane * rowsPerRun();
    size_t rows = std::min(rowsPerRun(), height.results - row);
    size_t count = (rows - 1) * copy.row() + width.results;
    size_t chunk = number % chunks();
    size_t firstTile = chunk * tiles() / chunks();
    size_t lastTile = (chunk + 1) * tiles() / chunks();
    const float *from = inputs + group * groupVolume() +
                        (plane * height.extent + row) * copy.row();
    size_t results = depth.results * height.results * width.results;
    float *to = out + ((image * groups + group) * outputs) * results +
                (plane * height.results + row) * width.results;
    // Rows without gaps need no scratch.
    bool isDense = copy.row() == width.results;
    for (size_t term = 0; term < terms(); term += partTerms) {
      size_t part = std::min(partTerms, terms() - term);
      bool isLast = term + part == terms();
      for (size_t tile = firstTile; tile < lastTile; ++tile) {
        size_t first = tile * tileOutputs;
        float starts[tileOutputs] = {};
        size_t here = std::min(tileOutputs, outputs - first);
        if (biases)
          std::copy_n(biases + group * outputs + first, here, starts);
        size_t weights = (group * tiles() + tile) * terms() + term;
        size_t copied = (tile - firstTile) * tileOutputs * rows * copy.row();
        tiledSums(count, {part, offsets.data() + term, from},
                  {here, packed.get() + weights * tileOutputs,
                   term == 0 ? starts : nullptr},
                  isDense ? SumPlaces{to + first * results, results}
                          : SumPlaces{scratch + copied, rows * copy.row()},
                  isLast ? rounding : Rounding::None);
      }
    }
    if (isDense)
      return;
    for (size_t o = firstTile * tileOutputs;
         o < std::min(outputs, lastTile * tileOutputs); ++o)
      for (size_t each = 0; each < rows; ++each)
        std::copy_n(scratch + ((o - firstTile * tileOutputs) * rows + each) *
                                  copy.row(),
                    width.results, to + o * results + each * width.results);
  }
};

} // namespace

StepFn cpu::makeTiledConv(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x), *weight = op.operand(param::weight);
  llvm::ArrayRef<int64_t> kernel = weight->type.shape;
  auto conv = std::make_shared<TiledConv>();
  conv->images = size_t(x->type.shape[0]);
  conv->groups = size_t(op.get(param::groups));
  conv->outputs = size_t(kernel[0]) / conv->groups;
  conv->copy = ConvCopy(op, size_t(kernel[1]));
  const auto &[depth, height, width] = conv->copy.axes;
  size_t results = depth.results * height.results * width.results;
  // Where there are few positions, vectors would be mostly empty; where the
  // image is its own unfolding, long products are faster.
  constexpr size_t leastResults = 64, mostPointwiseTerms = 64;
  constexpr size_t mostElements = size_t(1) << 28;
  bool isImage = conv->copy.isImage();
  size_t positions =
      size_t(depth.of.kernel * height.of.kernel * width.of.kernel);
  if (results < leastResults || conv->outputs < 2 ||
      x->type.numElements() == 0 || conv->groupVolume() > mostElements ||
      (isImage && positions == 1 && conv->copy.channels > mostPointwiseTerms))
    return {};
  conv->offsets = conv->copy.offsets();
  if (!isImage)
    conv->copied = makeAlignedArray(conv->groups * conv->groupVolume());
  conv->packed = makeAlignedArray(conv->groups * conv->tiles() * conv->terms() *
                                  tileOutputs);
  conv->x = ctx.storage.floats(x);
  conv->weights = ctx.storage.convWeight(op);
  conv->biases = ctx.storage.convBias(op);
  conv->out = ctx.storage.floats(op.result());
  conv->rounding = ctx.rounding(op.result());
  bool isConstant = ctx.schedule.isConstant(weight);
  return runImages(conv, isConstant, ctx.pool);
}
