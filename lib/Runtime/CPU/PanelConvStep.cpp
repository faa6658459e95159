//===- PanelConvStep.cpp - convolutions in panels of outputs --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Convolutions as matrix products whose left operand, [positions, terms], is
/// never there: each of its elements is read where a ConvCopy has it, or the
/// image if that is the same. The vectors are of outputs, so that no element is
/// computed for nothing, however short the rows of an image are.
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

struct PanelConv {
  ConvCopy copy;                     ///< of a group
  std::vector<uint32_t> offsets, at; ///< of terms, and of positions
  size_t images, groups, outputs;    ///< outputs of a group
  size_t runs;                       ///< parts of the positions
  const float *x, *weights, *biases;
  float *out;
  Rounding rounding;
  /// The weights as [group, panel, term, output of the panel], the bias as
  /// [group, padded output], and the copy of an image; null for none, and when
  /// the image is read itself.
  AlignedArray packed, starts, copied;

  size_t terms() const { return offsets.size(); }
  size_t positions() const { return at.size(); }
  size_t panels() const { return llvm::divideCeil(outputs, panelOutputs()); }
  size_t padded(size_t count) const {
    return llvm::alignTo(count, vectorOutputs());
  }
  size_t groupVolume() const {
    return copy.channels * copy.phases() * copy.volume();
  }
  size_t tasks() const { return groups * panels() * runs; }

  /// Positions that are computed at a time; tiles of six and whole vectors.
  static constexpr size_t mostPositions = 192;

  void pack(Executor &pool) {
    pool.parallelFor(groups * panels(), [&](size_t number, unsigned) {
      size_t group = number / panels(),
             first = number % panels() * panelOutputs();
      size_t count = std::min(panelOutputs(), outputs - first);
      const float *from = weights + (group * outputs + first) * terms();
      float *to = packed.get() + (group * padded(outputs) + first) * terms();
      for (size_t term = 0; term < terms(); ++term)
        for (size_t o = 0; o < padded(count); ++o)
          *to++ = o < count ? from[o * terms() + term] : 0.0f;
    });
    for (size_t o = 0; biases && o < groups * outputs; ++o)
      starts[o / outputs * padded(outputs) + o % outputs] = biases[o];
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

  size_t scratchFloats() const { return mostPositions * panelOutputs(); }

  /// A panel of outputs at some positions.
  void run(size_t number, size_t image, const float *inputs,
           float *scratch) const {
    size_t group = number / runs / panels();
    size_t first = number / runs % panels() * panelOutputs();
    size_t count = std::min(panelOutputs(), outputs - first);
    size_t row = group * padded(outputs) + first;
    // Starts are multiples of what a tile and a vector have.
    constexpr size_t grain = 48;
    size_t grains = llvm::divideCeil(positions(), grain), run = number % runs;
    size_t begin = grains * run / runs * grain;
    size_t end = std::min(positions(), grains * (run + 1) / runs * grain);
    float *to =
        out + ((image * groups + group) * outputs + first) * positions();
    for (; begin < end; begin += mostPositions)
      panelSums({std::min(mostPositions, end - begin), at.data() + begin},
                {terms(), offsets.data(), inputs + group * groupVolume()},
                {count, packed.get() + row * terms(),
                 biases ? starts.get() + row : nullptr},
                scratch, {to + begin, positions()}, rounding);
  }
};

} // namespace

StepFn cpu::makePanelConv(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x), *weight = op.operand(param::weight),
              *bias = op.operand(param::bias);
  llvm::ArrayRef<int64_t> kernel = weight->type.shape;
  auto conv = std::make_shared<PanelConv>();
  conv->images = size_t(x->type.shape[0]);
  conv->groups = size_t(op.get(param::groups));
  conv->outputs = size_t(kernel[0]) / conv->groups;
  conv->copy = ConvCopy(op, size_t(kernel[1]));
  // With fewer outputs, vectors would be mostly empty; short sums do not make
  // up for their transposition. An image of many positions that is its own
  // unfolding is faster with vectors along it.
  constexpr size_t fewestTerms = 64, mostPointwisePositions = 128;
  constexpr size_t mostElements = size_t(1) << 28;
  if (conv->outputs < vectorOutputs() || op.result()->type.numElements() == 0 ||
      x->type.numElements() == 0 || conv->groupVolume() > mostElements)
    return {};
  conv->offsets = conv->copy.offsets();
  conv->at = conv->copy.positions();
  bool isPointwise =
      conv->terms() == conv->copy.channels && conv->copy.isImage();
  if (conv->terms() < fewestTerms ||
      (isPointwise && conv->positions() > mostPointwisePositions))
    return {};
  size_t wanted =
      llvm::divideCeil(2 * ctx.pool.size(), conv->groups * conv->panels());
  conv->runs = std::min(wanted, llvm::divideCeil(conv->positions(), 48));
  if (!conv->copy.isImage())
    conv->copied = makeAlignedArray(conv->groups * conv->groupVolume());
  size_t rows = conv->groups * conv->padded(conv->outputs);
  conv->packed = makeAlignedArray(rows * conv->terms());
  conv->x = ctx.storage.floats(x);
  conv->weights = ctx.storage.convWeight(op);
  conv->biases = ctx.storage.convBias(op);
  if (conv->biases) {
    conv->starts = makeAlignedArray(rows);
    std::fill_n(conv->starts.get(), rows, 0.0f);
  }
  conv->out = ctx.storage.floats(op.result());
  conv->rounding = ctx.rounding(op.result());
  bool isConstant = ctx.schedule.isConstant(weight) &&
                    (!bias || ctx.schedule.isConstant(bias));
  return runImages(conv, isConstant, ctx.pool);
}
