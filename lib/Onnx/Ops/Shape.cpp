//===- Shape.cpp - movement of elements -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Shape.h"
#include "../Choice.h"
#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Pad.h"
#include "lib/Ops/Rows/Reverse.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

static void reshape(Node &node) {
  Val x = node.raw(0);
  Shape shape = node.opset() < 5 ? node.attrInts("shape") : node.ints(1);
  if (node.failed())
    return;
  bool zeros = node.attr("allowzero", 0) != 0;
  Shape others;
  int64_t unknown = -1;
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    if (extent == 0 && !zeros)
      extent = x.dim(int64_t(axis));
    if (extent == -1)
      unknown = int64_t(axis);
    else
      others.push_back(extent);
  }
  int64_t product = checkedNumElements(others).value_or(0);
  if (unknown >= 0 && product > 0)
    shape[size_t(unknown)] = x.size() / product;
  std::optional<int64_t> size = checkedNumElements(shape);
  if (!size || *size != x.size())
    return node.fail("a tensor of shape " + shapeToString(x.shape()) +
                     " cannot have the shape " + shapeToString(shape));
  node.out(node.e.reshape(x, shape));
}

static void flatten(Node &node) {
  Val x = node.in(0);
  int64_t axis = node.attr("axis", 1), rows = 1;
  if (axis < 0)
    axis += x.rank();
  if (axis < 0 || axis > x.rank())
    return node.fail("there is no such axis");
  for (int64_t i = 0; i != axis; ++i)
    rows *= x.dim(i);
  node.out(node.e.reshape(x, {rows, rows == 0 ? 0 : x.size() / rows}));
}

static void squeeze(Node &node) {
  Val x = node.raw(0);
  Shape axes = node.axes(1, 13, x.rank(), /*emptyMeansAll=*/false), shape;
  bool all = axes.empty();
  for (int64_t axis = 0; axis != x.rank(); ++axis) {
    bool listed = llvm::is_contained(axes, axis);
    if (listed && x.dim(axis) != 1)
      return node.fail("axis " + llvm::Twine(axis) + " has " +
                       llvm::Twine(x.dim(axis)) + " elements");
    if (!(listed || (all && x.dim(axis) == 1)))
      shape.push_back(x.dim(axis));
  }
  node.out(node.e.reshape(x, shape));
}

static void unsqueeze(Node &node) {
  Val x = node.raw(0);
  Shape given = node.opset() < 13 ? node.attrInts("axes") : node.ints(1);
  if (node.failed())
    return;
  int64_t rank = x.rank() + int64_t(given.size());
  Shape shape(size_t(rank), 0);
  for (int64_t axis : given)
    shape[size_t(node.normalized(axis, rank))] = 1;
  int64_t next = 0;
  for (int64_t &extent : shape)
    if (extent == 0)
      extent = x.dim(next++);
  if (!node.failed() && next != x.rank())
    return node.fail("an axis is listed twice");
  if (!node.failed())
    node.out(node.e.reshape(x, shape));
}

static void transpose(Node &node) {
  Val x = node.in(0);
  Shape perm = node.attrInts("perm"), sorted = perm;
  if (perm.empty())
    for (int64_t axis = x.rank(); axis-- > 0;)
      perm.push_back(axis);
  sorted = perm;
  llvm::sort(sorted);
  for (auto [axis, entry] : llvm::enumerate(sorted))
    if (entry != int64_t(axis) || int64_t(sorted.size()) != x.rank())
      return node.fail("`perm` is not a permutation of the axes");
  node.out(node.e.transpose(x, perm));
}

static void concat(Node &node) {
  Vals parts;
  for (size_t i = 0; i != node.numInputs(); ++i)
    parts.push_back(node.in(i));
  if (parts.empty())
    return node.fail("there are no inputs");
  // An empty part has no elements to add.
  int64_t axis = node.axis(0, parts.front().rank());
  if (!node.failed())
    node.out(node.e.concat(parts, axis));
}

static void split(Node &node) {
  Val x = node.in(0);
  int64_t axis = node.axis(0, x.rank()), count = int64_t(node.numOutputs());
  Shape sizes;
  if (node.opset() < 13)
    sizes = node.attrInts("split");
  else if (node.has(1))
    sizes = node.ints(1);
  if (node.opset() >= 18 && node.attr("num_outputs", count) != count)
    return node.fail("`num_outputs` is not the number of outputs");
  if (node.failed())
    return;
  if (count == 0)
    return node.fail("`Split` has no outputs");
  int64_t total = x.dim(axis), each = (total + count - 1) / count;
  if (sizes.empty())
    for (int64_t left = total; int64_t(sizes.size()) != count; left -= each)
      sizes.push_back(std::clamp<int64_t>(left, 0, each));
  if (int64_t(sizes.size()) != count)
    return node.fail("`split` must have a size for each output");
  int64_t begin = 0;
  for (size_t i = 0; i != sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > total - begin)
      return node.fail("the sizes of the parts exceed the axis");
    if (node.wants(i))
      node.out(i, node.e.slice(x, axis, begin, begin + sizes[i]));
    begin += sizes[i];
  }
}

static void slice(Node &node) {
  Val x = node.raw(0);
  bool attributes = node.opset() < 10;
  // Numbers beyond the end stand for the end.
  Shape begins = attributes ? node.wideAttrInts("starts") : node.wideInts(1);
  Shape ends = attributes ? node.wideAttrInts("ends") : node.wideInts(2);
  Shape axes, steps;
  if (attributes)
    axes = node.attrInts("axes");
  else if (node.has(3))
    axes = node.ints(3);
  if (!attributes && node.has(4))
    steps = node.ints(4);
  if (node.failed())
    return;
  if (axes.empty())
    for (size_t i = 0; i != begins.size(); ++i)
      axes.push_back(int64_t(i));
  if (steps.empty())
    steps.assign(begins.size(), 1);
  if (ends.size() != begins.size() || axes.size() != begins.size() ||
      steps.size() != begins.size())
    return node.fail("`starts`, `ends`, `axes` and `steps` differ in size");
  for (size_t i = 0; i != begins.size(); ++i) {
    int64_t axis = node.normalized(axes[i], x.rank()), step = steps[i];
    if (node.failed())
      return;
    if (step == 0)
      return node.fail("a step is 0");
    int64_t extent = x.dim(axis);
    if (extent == 0)
      continue;
    auto position = [&](int64_t at, int64_t least, int64_t most) {
      return std::clamp(at < 0 ? at + extent : at, least, most);
    };
    int64_t begin = step > 0 ? position(begins[i], 0, extent)
                             : position(begins[i], 0, extent - 1);
    int64_t end = step > 0 ? position(ends[i], 0, extent)
                           : position(ends[i], -1, extent - 1);
    bool isEmpty = step > 0 ? begin >= end : begin <= end;
    if (isEmpty || x.size() == 0) {
      Shape shape = x.shape();
      int64_t span = step > 0 ? end - begin : begin - end;
      shape[size_t(axis)] =
          isEmpty ? 0 : llvm::divideCeil(uint64_t(span), std::abs(step));
      x = node.e.empty(x.dtype(), shape);
    } else {
      x = node.e.slice(x, axis, begin, end, step);
    }
  }
  node.out(x);
}

static void expand(Node &node) {
  Val x = node.in(0);
  Shape shape = node.ints(1);
  if (node.failed())
    return;
  std::optional<Shape> result = broadcastShapes(x.shape(), shape);
  if (!result)
    return node.fail("a tensor of shape " + shapeToString(x.shape()) +
                     " does not expand to " + shapeToString(shape));
  node.out(node.e.broadcast(x, *result));
}

static void tile(Node &node) {
  Val x = node.in(0);
  Shape repeats = node.ints(1);
  if (node.failed())
    return;
  if (int64_t(repeats.size()) != x.rank())
    return node.fail("`repeats` must have a number for each axis");
  DType wide = x.dtype() == DType::Bool ? DType::Bool : Emitter::wideOf(x);
  node.out(node.e.cast(
      node.e.make(ops::Tile, {node.e.cast(x, wide)}, {{param::reps, repeats}}),
      x.dtype()));
}

namespace {
/// What is outside of an array.
ANEC_ENUM(Outside, (Constant, "constant"), (Reflect, "reflect"), (Edge, "edge"),
          (Wrap, "wrap"))
} // namespace

/// The element of the input for each of an axis with padding: by reflection,
/// repetition of the last element, or from the other end.
static Shape paddedIndices(int64_t extent, int64_t before, int64_t after,
                           Outside mode) {
  Shape indices;
  for (int64_t i = -before; i != extent + after; ++i) {
    int64_t at = i;
    int64_t period = std::max<int64_t>(1, 2 * (extent - 1));
    switch (mode) {
    case Outside::Constant:
      break;
    case Outside::Reflect:
      at = ((i % period) + period) % period;
      at = std::min(at, period - at);
      break;
    case Outside::Edge:
      at = std::clamp<int64_t>(i, 0, extent - 1);
      break;
    case Outside::Wrap:
      at = ((i % extent) + extent) % extent;
      break;
    }
    indices.push_back(at);
  }
  return indices;
}

/// Adds the elements `indices` of an axis of `x`, in runs of neighbors in
/// either direction and of equal ones. Neither Core ML's `pad` has all modes
/// and axes, nor the engine of M1 and M2 a right `gather` along the last axis.
static void addRuns(Emitter &e, Val x, int64_t axis,
                    llvm::ArrayRef<int64_t> indices,
                    llvm::SmallVectorImpl<Val> &parts) {
  for (size_t begin = 0, end; begin != indices.size(); begin = end) {
    end = begin + 1;
    int64_t first = indices[begin];
    int64_t step = end == indices.size() ? 1 : indices[end] - first;
    while (end != indices.size() && std::abs(step) <= 1 &&
           indices[end] - indices[end - 1] == step)
      ++end;
    int64_t last = indices[end - 1], count = int64_t(end - begin);
    Val run =
        e.slice(x, axis, std::min(first, last), std::max(first, last) + 1);
    if (first > last) {
      run = e.make(ops::Reverse, {run}, {{param::axes, {axis}}});
    } else if (first == last && count > 1) {
      DType wide = x.dtype() == DType::Bool ? DType::Bool : Emitter::wideOf(x);
      Shape reps(size_t(x.rank()), 1);
      reps[size_t(axis)] = count;
      run =
          e.cast(e.make(ops::Tile, {e.cast(run, wide)}, {{param::reps, reps}}),
                 x.dtype());
    }
    parts.push_back(run);
  }
}

/// `x` between elements of an axis of it. On M1 and M2, slices of the last axis
/// have to begin at 0: those of the axis before it need not, after a
/// transposition.
static Val between(Emitter &e, Val x, int64_t axis,
                   llvm::ArrayRef<int64_t> before,
                   llvm::ArrayRef<int64_t> after) {
  auto isMoved = [](int64_t index) { return index != 0; };
  bool isTurned = axis == x.rank() - 1 && (llvm::any_of(before, isMoved) ||
                                           llvm::any_of(after, isMoved));
  bool isList = x.rank() == 1;
  Shape perm;
  for (int64_t i = 0; i != x.rank(); ++i)
    perm.push_back(i);
  if (isTurned && !isList)
    std::swap(perm[size_t(axis)], perm[size_t(axis - 1)]);
  auto turn = [&](Val value) {
    return isList ? e.reshape(value, {value.size()}) : e.transpose(value, perm);
  };
  Val from = !isTurned ? x : isList ? e.reshape(x, {x.size(), 1}) : turn(x);
  int64_t along = isTurned && !isList ? axis - 1 : axis;
  llvm::SmallVector<Val> parts;
  addRuns(e, from, along, before, parts);
  size_t place = parts.size();
  addRuns(e, from, along, after, parts);
  if (isTurned)
    for (Val &part : parts)
      part = turn(part);
  parts.insert(parts.begin() + place, x);
  return e.concat(parts, axis);
}

/// Adds elements of `value` before and after each axis.
static Val paddedWith(Emitter &e, Val x, const Shape &pads, double value) {
  DType dtype = x.dtype();
  DType wide = dtype == DType::FP16 ? DType::FP16 : DType::FP32;
  return e.cast(e.make(ops::Pad, {e.cast(x, wide)},
                       {{param::pad, pads},
                        {param::padMode, PadMode::Constant},
                        {param::constantVal, Constant::scalar(wide, value)}}),
                dtype);
}

/// Whether an axis of `x` or of the padded result has no elements: then that is
/// known, and the output of the node.
static bool padsNothing(Node &node, Val x, llvm::ArrayRef<int64_t> axes,
                        llvm::ArrayRef<int64_t> pads, Outside mode,
                        double value) {
  Emitter &e = node.e;
  Shape shape = x.shape();
  bool cutsAll = false;
  for (size_t i = 0; i != axes.size(); ++i) {
    int64_t before = pads[i], after = pads[axes.size() + i];
    int64_t &extent = shape[size_t(axes[i])];
    cutsAll |=
        extent + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0) < 1;
    extent += before + after;
    if (extent < 0) {
      node.fail("more is cut off than there is");
      return true;
    }
  }
  bool isEmpty = llvm::is_contained(shape, 0);
  if (isEmpty)
    node.out(e.empty(x.dtype(), shape));
  else if (cutsAll && mode == Outside::Constant)
    node.out(e.filled(x.dtype(), shape, value));
  else if (cutsAll)
    node.fail("there are no elements to pad with");
  return isEmpty || cutsAll;
}

static void pad(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  bool attributes = node.opset() < 11;
  Shape pads = attributes ? node.attrInts("pads") : node.ints(1);
  // PyTorch writes `wrap`, which is from version 19 on, in version 18 too, and
  // onnxruntime reads it.
  auto mode = choiceOf<Outside>(node, "mode", node.opset() < 18 ? 3 : 4);
  double value = 0;
  if (attributes)
    value = node.attrNumber("value", 0);
  else if (node.has(2))
    value = node.number(2);
  // In their order, which is that of the pads.
  Shape axes;
  if (node.opset() >= 18 && node.has(3))
    for (int64_t axis : node.ints(3))
      axes.push_back(node.normalized(axis, x.rank()));
  else
    for (int64_t axis = 0; axis != x.rank(); ++axis)
      axes.push_back(axis);
  if (node.failed() || !x)
    return;
  size_t count = axes.size();
  if (pads.size() != 2 * count)
    return node.fail("`pads` must have two numbers for each axis");
  if (padsNothing(node, x, axes, pads, mode, value))
    return;
  Shape constantPad(size_t(2 * x.rank()), 0);
  bool hasPadding = false;
  for (size_t i = 0; i != count; ++i) {
    int64_t axis = axes[i], before = pads[i], after = pads[count + i];
    int64_t begin = std::max<int64_t>(0, -before);
    int64_t end = x.dim(axis) - std::max<int64_t>(0, -after);
    x = e.slice(x, axis, begin, end);
    before = std::max<int64_t>(0, before);
    after = std::max<int64_t>(0, after);
    if (before == 0 && after == 0)
      continue;
    if (mode != Outside::Constant) {
      if (!node.affords(x.dim(axis) + before + after))
        return;
      Shape indices = paddedIndices(x.dim(axis), before, after, mode);
      x = between(e, x, axis, llvm::ArrayRef(indices).take_front(before),
                  llvm::ArrayRef(indices).take_back(after));
      continue;
    }
    constantPad[size_t(2 * axis)] = before;
    constantPad[size_t(2 * axis + 1)] = after;
    hasPadding = true;
  }
  node.out(hasPadding ? paddedWith(e, x, constantPad, value) : x);
}

/// Cuts each axis around its middle, or adds zeros around it.
static void centerCropPad(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  Shape extents = node.ints(1), axes = node.attrInts("axes");
  if (!node.hasAttr("axes"))
    for (int64_t axis = 0; axis != x.rank(); ++axis)
      axes.push_back(axis);
  if (node.failed())
    return;
  if (axes.size() != extents.size())
    return node.fail("there must be an extent for each axis");
  Shape pads(size_t(2 * x.rank()), 0);
  bool hasPadding = false;
  for (auto [given, extent] : llvm::zip_equal(axes, extents)) {
    int64_t axis = node.normalized(given, x.rank());
    if (node.failed())
      return;
    if (extent < 1)
      return node.refuse("its result is empty");
    int64_t missing = extent - x.dim(axis),
            cut = std::max<int64_t>(0, -missing);
    x = e.slice(x, axis, cut / 2, cut / 2 + x.dim(axis) - cut);
    if (missing <= 0)
      continue;
    pads[size_t(2 * axis)] = missing / 2;
    pads[size_t(2 * axis + 1)] = missing - missing / 2;
    hasPadding = true;
  }
  node.out(hasPadding ? paddedWith(e, x, pads, 0) : x);
}

namespace {
/// Which of the three axes that channels become is the slowest: the rows of
/// blocks, or the channels that are left.
ANEC_ENUM(BlockOrder, (DepthFirst, "DCR"), (ChannelsFirst, "CRD"))
} // namespace

/// Blocks of channels become blocks of the plane.
static void depthToSpace(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  int64_t block = node.attr("blocksize", 0);
  if (x.rank() != 4 || block < 1 || block > x.dim(1) ||
      x.dim(1) % (block * block) != 0)
    return node.fail("the channels of a tensor of rank 4 must be a multiple "
                     "of the block");
  int64_t n = x.dim(0), c = x.dim(1) / (block * block), h = x.dim(2),
          w = x.dim(3);
  bool columnsFirst = node.opset() < 11 || choiceOf<BlockOrder>(node, "mode") ==
                                               BlockOrder::DepthFirst;
  Val parts = columnsFirst ? e.reshape(x, {n, block, block, c, h, w})
                           : e.reshape(x, {n, c, block, block, h, w});
  Val moved = columnsFirst ? e.transpose(parts, {0, 3, 4, 1, 5, 2})
                           : e.transpose(parts, {0, 1, 4, 2, 5, 3});
  node.out(e.reshape(moved, {n, c, h * block, w * block}));
}

static void spaceToDepth(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  int64_t block = node.attr("blocksize", 0);
  if (x.rank() != 4 || block < 1 || block > x.dim(2) || x.dim(2) % block != 0 ||
      x.dim(3) % block != 0)
    return node.fail("the plane of a tensor of rank 4 must be a multiple of "
                     "the block");
  int64_t n = x.dim(0), c = x.dim(1), h = x.dim(2) / block,
          w = x.dim(3) / block;
  bool columnsFirst = node.opset() < 28 || choiceOf<BlockOrder>(node, "mode") ==
                                               BlockOrder::DepthFirst;
  Val parts = e.reshape(x, {n, c, h, block, w, block});
  Val moved = columnsFirst ? e.transpose(parts, {0, 3, 5, 1, 2, 4})
                           : e.transpose(parts, {0, 1, 3, 5, 2, 4});
  node.out(e.reshape(moved, {n, c * block * block, h, w}));
}

/// Keeps a triangle of the last two axes.
static void trilu(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  int64_t k = node.has(1) ? node.integer(1) : 0;
  bool upper = node.attr("upper", 1) != 0;
  if (node.failed() || x.rank() < 2)
    return node.failed() ? void() : node.fail("the input must be a matrix");
  int64_t rows = x.dim(-2), columns = x.dim(-1);
  if (!node.affords({rows, columns}))
    return;
  std::vector<double> keep;
  for (int64_t row = 0; row != rows; ++row)
    for (int64_t column = 0; column != columns; ++column)
      keep.push_back(upper ? column - row >= k : column - row <= k);
  Val mask =
      e.constant(Constant::fromDoubles({DType::Bool, {rows, columns}}, keep));
  node.out(e.select(mask, x, e.scalar(x.dtype(), 0)));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow shapeTable[] = {
    {"CenterCropPad", centerCropPad, 18, "the shape must be known"},
    {"Concat", concat, 4},
    {"DepthToSpace", depthToSpace},
    {"Expand", expand, 8, "the shape must be known"},
    {"Flatten", flatten},
    {"Pad", pad, 2, "the padding must be known"},
    {"Reshape", reshape, 5, "the shape must be known"},
    {"Slice", slice, 1, "the bounds must be known"},
    {"SpaceToDepth", spaceToDepth},
    {"Split", split, 2, "the sizes must be known"},
    {"Squeeze", squeeze, 1, "the axes must be known"},
    {"Tile", tile, 6, "the repeats must be known"},
    {"Transpose", transpose},
    {"Trilu", trilu, 14},
    {"Unsqueeze", unsqueeze, 1, "the axes must be known"},
};

llvm::ArrayRef<OpRow> onnx::shapeRows() { return shapeTable; }
