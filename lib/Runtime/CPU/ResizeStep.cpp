//===- ResizeStep.cpp - resizing images by interpolation ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The reference says where each output reads: on an image whose elements are
/// their positions along an axis, it gives the points of that axis. Rows of the
/// input are resized once, and each row of the result lies between two of them.
/// Where all results are elements of the input, rows are copied.
///
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Rows/Resize.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>

using namespace anec;
using namespace anec::cpu;

namespace {

/// The two elements that an output lies between, and its place between them.
struct Tap {
  uint32_t below, above;
  float fraction;

  float between(float low, float high) const {
    // Where the fraction is 0, the element above may be infinite.
    return fraction == 0 ? low : low * (1 - fraction) + high * fraction;
  }
};

/// The last two axes of all images.
struct Resizing {
  size_t planes = 1, inRows, inColumns, outRows, outColumns;
  std::vector<Tap> rows, columns;
  bool takesElements = false; ///< every fraction is 0
  size_t repeats = 0; ///< how often a row has each element; 0 if it varies
  const float *x;
  float *out;
  Rounding rounding;

  /// Makes the choices that depend on the taps.
  void choose() {
    auto takes = [](const Tap &tap) { return tap.fraction == 0; };
    takesElements = llvm::all_of(rows, takes) && llvm::all_of(columns, takes);
    repeats = outColumns / inColumns;
    if (outColumns != repeats * inColumns)
      repeats = 0;
    for (size_t i = 0; repeats > 0 && i < outColumns; ++i)
      if (columns[i].below != i / repeats)
        repeats = 0;
  }

  /// The elements of a row of the result.
  void take(const float *row, float *to) const {
    if (repeats == 2)
      for (size_t i = 0; i < inColumns; ++i)
        to[2 * i] = to[2 * i + 1] = row[i];
    else if (repeats > 0)
      for (size_t i = 0; i < inColumns; ++i)
        std::fill_n(to + repeats * i, repeats, row[i]);
    else
      for (size_t i = 0; i < outColumns; ++i)
        to[i] = row[columns[i].below];
  }
  void takeRows(const float *from, size_t first, size_t last, float *to) const {
    for (size_t row = first; row < last; ++row, to += outColumns)
      if (row > first && rows[row].below == rows[row - 1].below)
        std::memcpy(to, to - outColumns, outColumns * sizeof(float));
      else
        take(from + rows[row].below * inColumns, to);
  }

  /// Resizes a row of the input.
  void stretch(const float *row, float *to) const {
    for (size_t i = 0; i < outColumns; ++i)
      to[i] = columns[i].between(row[columns[i].below], row[columns[i].above]);
  }

  /// Rows of a plane that are computed together.
  static constexpr size_t blockRows = 64;
  size_t blocks() const { return (outRows + blockRows - 1) / blockRows; }

  void run(size_t block, float *scratch) const {
    size_t plane = block / blocks(), first = block % blocks() * blockRows;
    size_t last = std::min(first + blockRows, outRows);
    const float *from = x + plane * inRows * inColumns;
    float *to = out + (plane * outRows + first) * outColumns;
    // Elements are in the precision of the result.
    if (takesElements)
      return takeRows(from, first, last, to);
    // The stretched rows below and above, and their numbers.
    float *low = scratch, *high = scratch + outColumns;
    size_t lowRow = inRows, highRow = inRows;
    auto load = [&](size_t row, float *buffer, size_t &held) {
      if (held != row)
        stretch(from + row * inColumns, buffer);
      held = row;
    };
    for (const Tap &tap : llvm::ArrayRef(rows).slice(first, last - first)) {
      if (tap.below == highRow) {
        std::swap(low, high);
        std::swap(lowRow, highRow);
      }
      load(tap.below, low, lowRow);
      load(tap.above, high, highRow);
      for (size_t i = 0; i < outColumns; ++i)
        to[i] = tap.between(low[i], high[i]);
      if (rounding == Rounding::FP16)
        roundToHalf(outColumns, to, to);
      to += outColumns;
    }
  }
};

} // namespace

/// The taps of an axis.
static std::vector<Tap> tapsOf(const Op &op, unsigned axis) {
  unsigned rank = op.result()->type.rank();
  Shape in(rank, 1), out(rank, 1);
  in[axis] = op.operand(0u)->type.shape[axis];
  out[axis] = op.result()->type.shape[axis];
  RefTensor positions{TensorType(DType::FP64, in), {}};
  for (int64_t i = 0; i < in[axis]; ++i)
    positions.data.push_back(double(i));
  std::vector<RefTensor> points{
      {TensorType(DType::FP64, out), std::vector<double>(size_t(out[axis]))}};
  const RefTensor *operand = &positions;
  EvalContext eval{op.def(), op.constants(), operand, points};
  op.def().eval(eval);
  std::vector<Tap> taps;
  for (double point : points.front().data) {
    double below = std::floor(point);
    double above = std::min(below + 1, double(in[axis] - 1));
    taps.push_back({uint32_t(below), uint32_t(above), float(point - below)});
  }
  return taps;
}

/// Whether each output is the input at its place. Some modes shift the points
/// of an axis that keeps its extent.
static bool isIdentity(llvm::ArrayRef<Tap> taps) {
  for (size_t i = 0; i < taps.size(); ++i)
    if (taps[i].below != i || taps[i].fraction != 0)
      return false;
  return true;
}

static StepFn makeResize(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(0u);
  const Shape &in = x->type.shape, &out = op.result()->type.shape;
  size_t rank = in.size();
  if (!isFloat(x->type.dtype) || rank < 2 || x->type.numElements() == 0)
    return {};
  auto resizing = std::make_shared<Resizing>();
  for (size_t axis = 0; axis + 2 < rank; ++axis) {
    if (in[axis] != out[axis] || !isIdentity(tapsOf(op, unsigned(axis))))
      return {};
    resizing->planes *= size_t(in[axis]);
  }
  resizing->inRows = size_t(in[rank - 2]);
  resizing->inColumns = size_t(in[rank - 1]);
  resizing->outRows = size_t(out[rank - 2]);
  resizing->outColumns = size_t(out[rank - 1]);
  resizing->rows = tapsOf(op, unsigned(rank) - 2);
  resizing->columns = tapsOf(op, unsigned(rank) - 1);
  resizing->choose();
  resizing->x = ctx.storage.floats(x);
  resizing->out = ctx.storage.floats(op.result());
  resizing->rounding = ctx.rounding(op.result());
  return [resizing, &pool = ctx.pool] {
    size_t elements =
        std::min(Resizing::blockRows, resizing->outRows) * resizing->outColumns;
    size_t grain = std::max<size_t>(1, 8192 / std::max<size_t>(elements, 1));
    pool.parallelRanges(resizing->planes * resizing->blocks(), grain,
                        [&](size_t begin, size_t end, unsigned worker) {
                          float *scratch =
                              pool.scratch(worker, 2 * resizing->outColumns);
                          for (size_t block = begin; block < end; ++block)
                            resizing->run(block, scratch);
                        });
  };
}

static constexpr StepRow resizeStepsTable[] = {
    {&ops::Resize, makeResize},
    {&ops::ResizeBilinear, makeResize},
    {&ops::ResizeNearestNeighbor, makeResize},
    {&ops::UpsampleBilinear, makeResize},
    {&ops::UpsampleNearestNeighbor, makeResize},
};

llvm::ArrayRef<StepRow> cpu::resizeSteps() { return resizeStepsTable; }
