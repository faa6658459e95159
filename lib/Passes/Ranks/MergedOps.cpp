//===- MergedOps.cpp - ops on merged axes ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AxisMerger.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Params/Pad.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Attention.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Reverse.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Slices.h"

using namespace anec;
using namespace anec::ranks;
using llvm::ArrayRef;

static int64_t positive(int64_t axis, size_t rank) {
  return axis < 0 ? axis + int64_t(rank) : axis;
}

static int64_t product(ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// `shape` with axes of one element before it.
static Shape aligned(ArrayRef<int64_t> shape, size_t rank) {
  Shape result(rank - shape.size(), 1);
  llvm::append_range(result, shape);
  return result;
}

/// Groups of axes along which the same of `shapes` are repeated.
static AxisGroups broadcastGroups(ArrayRef<Shape> shapes) {
  llvm::SmallVector<int, 8> keys;
  for (size_t axis = 0; axis < shapes[0].size(); ++axis) {
    int key = 0;
    for (auto [index, shape] : llvm::enumerate(shapes))
      key |= (shape[axis] != 1) << index;
    keys.push_back(key ? key : AxisGroups::any);
  }
  return AxisGroups::of(keys);
}

static Results elementwise(AxisMerger &m) {
  const Shape &shape = m.op.result()->type.shape;
  llvm::SmallVector<Value *> operands = m.op.operandValues();
  llvm::SmallVector<Shape, 3> shapes;
  for (Value *operand : operands)
    if (operand)
      shapes.push_back(aligned(operand->type.shape, shape.size()));
  AxisGroups groups = broadcastGroups(shapes);
  bool fits = groups.fit();
  if (!fits)
    groups = AxisGroups::of(llvm::SmallVector<int, 8>(shape.size(), 0));
  for (Value *&operand : operands) {
    if (!operand || operand->type.isScalar())
      continue;
    Shape full = aligned(operand->type.shape, shape.size());
    if (!fits && operand->type.numElements() != 1) {
      operand = m.spread(operand, shape);
      full = shape;
    }
    operand = m.view(operand, groups.merged(full));
  }
  return m.remake(operands);
}

//===----------------------------------------------------------------------===//
// Along one axis
//===----------------------------------------------------------------------===//

/// `shape` as [before, axis, after].
static Shape around(ArrayRef<int64_t> shape, size_t axis) {
  return {product(shape.take_front(axis)), shape[axis],
          product(shape.drop_front(axis + 1))};
}

static Results alongAxis(AxisMerger &m) {
  int64_t axis = positive(m.op.get(param::axis), m.shape().size());
  llvm::SmallVector<Value *> operands;
  for (Value *operand : m.op.operandValues())
    operands.push_back(m.view(operand, around(operand->type.shape, axis)));
  return m.remake(operands, Attr(param::axis, 1));
}

/// The result has an axis more than operands.
static Results alongNewAxis(AxisMerger &m) {
  int64_t axis = positive(m.op.get(param::axis), m.shape().size() + 1);
  llvm::SmallVector<Value *> operands;
  for (Value *operand : m.op.operandValues()) {
    ArrayRef<int64_t> shape = operand->type.shape;
    operands.push_back(m.view(operand, {product(shape.take_front(axis)),
                                        product(shape.drop_front(axis))}));
  }
  return m.remake(operands, Attr(param::axis, 1));
}

static Results gather(AxisMerger &m) {
  ArrayRef<int64_t> x = m.shape(0), indices = m.shape(1);
  size_t axis = size_t(positive(m.op.get(param::axis), x.size()));
  size_t batch = size_t(m.op.get(param::batchDims));
  Shape from = {product(x.slice(batch, axis - batch)), x[axis],
                product(x.drop_front(axis + 1))};
  Shape at = {product(indices.drop_front(batch))};
  if (batch) {
    int64_t extent = product(x.take_front(batch));
    from.insert(from.begin(), extent);
    at.insert(at.begin(), extent);
  }
  return m.remake(
      {m.view(m.op.operand(0u), from), m.view(m.op.operand(1u), at)},
      {{param::axis, batch ? 2 : 1}, {param::batchDims, batch ? 1 : 0}});
}

/// Axes that indices do not select are one.
static Results gatherNd(AxisMerger &m) {
  ArrayRef<int64_t> x = m.shape(0), indices = m.shape(1);
  size_t batch = size_t(m.op.get(param::batchDims));
  size_t depth = size_t(indices.back());
  Shape from(x.slice(batch, depth));
  from.push_back(product(x.drop_front(batch + depth)));
  Shape at = {product(indices.drop_front(batch).drop_back()), indices.back()};
  if (batch) {
    int64_t extent = product(x.take_front(batch));
    from.insert(from.begin(), extent);
    at.insert(at.begin(), extent);
  }
  if (from.size() > mostAxes)
    return {};
  return m.remake(
      {m.view(m.op.operand(0u), from), m.view(m.op.operand(1u), at)},
      Attr(param::batchDims, batch ? 1 : 0));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The axes of a reduction as flags.
static llvm::SmallVector<bool, 8> flags(const Op &op, size_t rank) {
  llvm::SmallVector<bool, 8> result(rank, false);
  for (int64_t axis : op.get(param::axes))
    result[size_t(positive(axis, rank))] = true;
  return result;
}

static Results reduction(AxisMerger &m) {
  ArrayRef<int64_t> shape = m.shape();
  llvm::SmallVector<bool, 8> reduced = flags(m.op, shape.size());
  llvm::SmallVector<int, 8> keys;
  for (auto [flag, extent] : llvm::zip_equal(reduced, shape))
    keys.push_back(flag ? 1 : extent == 1 ? AxisGroups::any : 0);
  AxisGroups groups = AxisGroups::of(keys);
  Value *x = m.x();
  Shape axes, extents;
  if (groups.fit()) {
    extents = groups.merged(shape);
    for (auto [axis, flag] : llvm::enumerate(reduced))
      if (flag && !llvm::is_contained(axes, groups.ofAxis[axis]))
        axes.push_back(groups.ofAxis[axis]);
  } else {
    // Reduced axes come last.
    Shape perm, last;
    extents = {1, 1};
    for (auto [axis, flag] : llvm::enumerate(reduced)) {
      (flag ? last : perm).push_back(int64_t(axis));
      extents[flag] *= shape[axis];
    }
    llvm::append_range(perm, last);
    x = transposed(m, x, shape, perm);
    axes = {1};
  }
  return m.remake({m.view(x, extents)}, Attr(param::axes, axes));
}

/// Normalization of the last axes.
static Results layerNorm(AxisMerger &m) {
  ArrayRef<int64_t> shape = m.shape();
  size_t count = m.op.get(param::axes).size(), first = shape.size() - count;
  llvm::SmallVector<bool, 8> reduced = flags(m.op, shape.size());
  if (llvm::is_contained(ArrayRef(reduced).drop_front(first), false))
    return {};
  int64_t outer = product(shape.take_front(first));
  int64_t inner = product(shape.drop_front(first));
  llvm::SmallVector<Value *> operands = m.op.operandValues();
  operands[0] = m.view(operands[0], {outer, inner});
  for (Value *&scale : llvm::MutableArrayRef(operands).drop_front())
    if (scale)
      scale = m.view(scale, {inner});
  return m.remake(operands, Attr(param::axes, {1}));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Results matmul(AxisMerger &m) {
  ArrayRef<int64_t> x = m.shape(0), y = m.shape(1);
  if (x.size() < 2 || y.size() < 2)
    return {};
  size_t batches = m.op.result()->type.rank() - 2;
  Shape result(
      ArrayRef<int64_t>(m.op.result()->type.shape).take_front(batches));
  Shape shapes[] = {aligned(x.drop_back(2), batches),
                    aligned(y.drop_back(2), batches)};
  AxisGroups groups = broadcastGroups(shapes);
  bool fits = groups.count + 2 <= mostAxes;
  if (!fits)
    groups = AxisGroups::of(llvm::SmallVector<int, 8>(batches, 0));
  llvm::SmallVector<Value *> operands = m.op.operandValues();
  for (unsigned slot : {0u, 1u}) {
    ArrayRef<int64_t> matrix = ArrayRef(m.shape(slot)).take_back(2);
    if (!fits) {
      Shape full = result;
      llvm::append_range(full, matrix);
      operands[slot] = m.spread(operands[slot], full);
      shapes[slot] = result;
    }
    Shape extents = groups.merged(shapes[slot]);
    llvm::append_range(extents, matrix);
    operands[slot] = m.view(operands[slot], extents);
  }
  return m.remake(operands);
}

static Results linear(AxisMerger &m) {
  ArrayRef<int64_t> shape = m.shape();
  llvm::SmallVector<Value *> operands = m.op.operandValues();
  operands[0] = m.view(operands[0], {product(shape.drop_back()), shape.back()});
  return m.remake(operands);
}

/// Attention whose heads and batches are the same for all operands.
static Results attention(AxisMerger &m) {
  ArrayRef<int64_t> batch = ArrayRef(m.shape()).drop_back(2);
  llvm::SmallVector<Value *> operands = m.op.operandValues();
  for (Value *&operand : operands) {
    if (!operand)
      continue;
    ArrayRef<int64_t> shape = operand->type.shape;
    if (shape.drop_back(2) == batch)
      operand = m.view(operand,
                       {product(batch), shape.take_back(2)[0], shape.back()});
    else if (operand->type.numElements() == product(shape.take_back(2)))
      operand = m.view(operand, shape.take_back(2));
    else
      return {};
  }
  return m.remake(operands);
}

//===----------------------------------------------------------------------===//
// Each axis by itself
//===----------------------------------------------------------------------===//

/// Applies an op that treats each axis by itself, in as few steps as have
/// values of few axes. `step(x, axes)` builds the op that changes axis
/// `axes[i]` at axis i of `x`, or none there for -1; `changed` tells which axes
/// it does something with.
static Results
axisByAxis(AxisMerger &m, llvm::function_ref<bool(size_t)> changed,
           llvm::function_ref<Value *(Value *, ArrayRef<int>)> step) {
  Shape shape = m.shape();
  Value *value = m.x();
  for (size_t next = 0; next < shape.size();) {
    // The most axes from `next` on that fit.
    llvm::SmallVector<int, 8> keys(shape.size(), 0);
    AxisGroups groups = AxisGroups::of(keys);
    size_t end = next;
    for (; end < shape.size(); ++end) {
      if (!changed(end))
        continue;
      keys[end] = int(end) + 1;
      AxisGroups more = AxisGroups::of(keys);
      if (!more.fit()) {
        keys[end] = 0;
        break;
      }
      groups = more;
    }
    llvm::SmallVector<int, 8> axes(groups.count, -1);
    for (size_t axis = 0; axis < keys.size(); ++axis)
      if (keys[axis] > 0)
        axes[groups.ofAxis[axis]] = int(axis);
    value = step(m.view(value, groups.merged(shape)), axes);
    for (auto [group, axis] : llvm::enumerate(axes))
      if (axis >= 0)
        shape[size_t(axis)] = value->type.shape[group];
    next = end;
  }
  return m.finish(value);
}

static Results reverse(AxisMerger &m) {
  llvm::SmallVector<bool, 8> reversed = flags(m.op, m.shape().size());
  return axisByAxis(
      m, [&](size_t axis) { return reversed[axis]; },
      [&](Value *x, ArrayRef<int> axes) {
        Shape list;
        for (auto [group, axis] : llvm::enumerate(axes))
          if (axis >= 0)
            list.push_back(int64_t(group));
        return list.empty() ? x
                            : m.make(ops::Reverse, {x}, {{param::axes, list}});
      });
}

static Results tile(AxisMerger &m) {
  Shape reps = m.op.get(param::reps);
  return axisByAxis(
      m, [&](size_t axis) { return reps[axis] != 1; },
      [&](Value *x, ArrayRef<int> axes) {
        Shape list;
        for (int axis : axes)
          list.push_back(axis < 0 ? 1 : reps[size_t(axis)]);
        return m.make(ops::Tile, {x}, {{param::reps, list}});
      });
}

static Results pad(AxisMerger &m) {
  Shape amounts = m.op.get(param::pad);
  Shape pads(2 * m.shape().size() - amounts.size(), 0);
  llvm::append_range(pads, amounts);
  return axisByAxis(
      m,
      [&](size_t axis) {
        return pads[2 * axis] != 0 || pads[2 * axis + 1] != 0;
      },
      [&](Value *x, ArrayRef<int> axes) {
        Shape list;
        for (int axis : axes)
          if (axis < 0)
            list.append({0, 0});
          else
            list.append({pads[2 * size_t(axis)], pads[2 * size_t(axis) + 1]});
        return m.make(
            ops::Pad, {x},
            {{param::pad, list},
             {param::padMode, m.op.constant(param::padMode)},
             {param::constantVal, m.op.constant(param::constantVal)}});
      });
}

namespace {
/// A range of an axis.
struct Range {
  int64_t first = 0, step = 1, count = 1;
};
} // namespace

/// Cuts the ranges, one for each axis, out of the op's first operand.
static Results cut(AxisMerger &m, ArrayRef<Range> ranges) {
  ArrayRef<int64_t> shape = m.shape();
  return axisByAxis(
      m,
      [&](size_t axis) {
        return ranges[axis].count != shape[axis] || ranges[axis].step < 0;
      },
      [&](Value *x, ArrayRef<int> axes) {
        Shape begin, end, stride;
        llvm::SmallVector<bool, 8> masks;
        for (auto [group, axis] : llvm::enumerate(axes)) {
          Range range = axis < 0 ? Range{0, 1, x->type.shape[group]}
                                 : ranges[size_t(axis)];
          int64_t last = range.first + range.step * (range.count - 1);
          int64_t after = last + (range.step < 0 ? -1 : 1);
          begin.push_back(range.first);
          stride.push_back(range.step);
          end.push_back(std::max<int64_t>(after, 0));
          masks.push_back(after < 0);
        }
        llvm::SmallVector<Attr, 4> attrs = {
            {param::begin, begin}, {param::end, end}, {param::stride, stride}};
        if (llvm::is_contained(masks, true))
          attrs.push_back({param::endMask, Constant::booleans(masks)});
        return m.make(ops::SliceByIndex, {x}, attrs);
      });
}

static Results sliceByIndex(AxisMerger &m) {
  ArrayRef<int64_t> shape = m.shape();
  Selection selection = selectElements(m.op, shape);
  Shape strides = rowMajorStrides(shape);
  llvm::SmallVector<Range, 8> ranges;
  const Constant *dropped = m.op.constant(param::squeezeMask);
  int64_t place = selection.first;
  size_t kept = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    Range range;
    range.first = place / strides[axis];
    place %= strides[axis];
    if (!dropped || dropped->intAt(int64_t(axis)) == 0) {
      range.step = selection.strides[kept] / strides[axis];
      range.count = m.op.result()->type.shape[kept++];
    }
    ranges.push_back(range);
  }
  return cut(m, ranges);
}

static Results sliceBySize(AxisMerger &m) {
  const Constant *begin = m.op.constant(param::begin);
  if (!begin)
    return {};
  llvm::SmallVector<Range, 8> ranges;
  for (auto [axis, extent] : llvm::enumerate(m.shape()))
    ranges.push_back({positive(begin->intAt(int64_t(axis)), size_t(extent)), 1,
                      m.op.result()->type.shape[axis]});
  return cut(m, ranges);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static Results transpose(AxisMerger &m) {
  Shape perm = m.op.get(param::perm);
  for (int64_t &axis : perm)
    axis = positive(axis, perm.size());
  return m.finish(transposed(m, m.x(), m.shape(), perm));
}

static Results sameElements(AxisMerger &m) { return m.finish(m.x()); }

static Results bandPart(AxisMerger &m) {
  ArrayRef<int64_t> shape = m.shape();
  return m.remake({m.view(m.x(), {product(shape.drop_back(2)),
                                  shape.take_back(2)[0], shape.back()})});
}

static Results fill(AxisMerger &m) {
  return m.remake({}, Attr(param::shape, {m.op.result()->type.numElements()}));
}

static Results fillLike(AxisMerger &m) {
  return m.remake({m.view(m.x(), {m.x()->type.numElements()})});
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
struct Row {
  const OpDef *op;
  Results (*merge)(AxisMerger &merger);
};
} // namespace

Results ranks::onMergedAxes(AxisMerger &m) {
  static constexpr Row rows[] = {
      {&ops::BandPart, bandPart},
      {&ops::ExpandDims, sameElements},
      {&ops::Fill, fill},
      {&ops::FillLike, fillLike},
      {&ops::Flatten2d, sameElements},
      {&ops::Gather, gather},
      {&ops::GatherNd, gatherNd},
      {&ops::LayerNorm, layerNorm},
      {&ops::Linear, linear},
      {&ops::Matmul, matmul},
      {&ops::OneHot, alongNewAxis},
      {&ops::Pad, pad},
      {&ops::Reverse, reverse},
      {&ops::ScaledDotProductAttention, attention},
      {&ops::SliceByIndex, sliceByIndex},
      {&ops::SliceBySize, sliceBySize},
      {&ops::Squeeze, sameElements},
      {&ops::Stack, alongNewAxis},
      {&ops::Tile, tile},
      {&ops::Transpose, transpose},
  };
  for (const Row &row : rows)
    if (m.op.is(*row.op))
      return row.merge(m);
  if (m.op.def().has(trait::AlongAxis))
    return alongAxis(m);
  if (m.op.def().has(trait::Elementwise))
    return elementwise(m);
  if (m.op.def().has(trait::Reduction))
    return reduction(m);
  return {};
}
