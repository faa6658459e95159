//===- CopyView.cpp - copies the elements of a view -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Steps in canonical order (slice, pad, permute, then any reshape) are one
/// copy between two strided boxes. A view needs one copy for each such run of
/// steps; most views have one run.
///
//===----------------------------------------------------------------------===//

#include "anec/IR/ArrayView.h"
#include "llvm/ADT/STLExtras.h"
#include <array>
#include <cstring>
#include <vector>

using namespace anec;
using Kind = ViewStep::Kind;

namespace {

/// An axis of a copied box; strides are in elements.
struct CopyAxis {
  int64_t extent, fromStride, toStride;
};

/// A copy of a box of elements.
struct BoxCopy {
  llvm::SmallVector<CopyAxis, 8> axes; ///< outermost first, as in the result
  int64_t fromOffset = 0, toOffset = 0;
  int64_t count = 0; ///< elements of the result
  bool fills = true; ///< the box covers the whole result
};

} // namespace

/// Drops axes of extent 1, and merges axes that are contiguous on both sides.
static void simplify(BoxCopy &box) {
  llvm::SmallVector<CopyAxis, 8> joined;
  for (const CopyAxis &axis : box.axes) {
    if (axis.extent == 1)
      continue;
    if (!joined.empty() &&
        joined.back().fromStride == axis.extent * axis.fromStride &&
        joined.back().toStride == axis.extent * axis.toStride)
      joined.back() = {joined.back().extent * axis.extent, axis.fromStride,
                       axis.toStride};
    else
      joined.push_back(axis);
  }
  box.axes = std::move(joined);
}

/// The copy for `steps`, which are of different kinds and in canonical order,
/// of an array of `shape`, which is set to the shape of the result.
static BoxCopy boxOf(llvm::ArrayRef<ViewStep> steps, Shape &shape) {
  Shape fromStrides = rowMajorStrides(shape), extents = shape;
  Shape before(shape.size(), 0), order;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    order.push_back(int64_t(axis));
  BoxCopy box;
  for (const ViewStep &step : steps) {
    if (step.kind == Kind::Slice) {
      for (size_t axis = 0; axis < shape.size(); ++axis)
        box.fromOffset += step.first[axis] * fromStrides[axis];
      extents = step.apply(shape);
    } else if (step.kind == Kind::Pad) {
      before = step.first;
      box.fills = false;
    } else if (step.kind == Kind::Permute) {
      order = step.first;
    }
    // A reshape is the last step, and moves no elements.
    if (step.kind != Kind::Reshape)
      shape = step.apply(shape);
  }
  Shape toStrides = rowMajorStrides(shape);
  for (size_t axis = 0; axis < order.size(); ++axis) {
    auto from = size_t(order[axis]);
    box.axes.push_back({extents[from], fromStrides[from], toStrides[axis]});
    box.toOffset += before[from] * toStrides[axis];
  }
  box.count = TensorType(DType::FP32, shape).numElements();
  if (!steps.empty() && steps.back().kind == Kind::Reshape)
    shape = steps.back().first;
  simplify(box);
  return box;
}

namespace {
/// An element at any address: arrays of mapped files are not aligned.
template <size_t N>
struct Element {
  std::array<uint8_t, N> bytes = {};
};
} // namespace

/// Copies a plane whose elements are contiguous along `down` on one side and
/// along `across` on the other, in square tiles that fit into the cache.
template <typename T>
static void copyTransposed(const T *from, T *to, const CopyAxis &down,
                           const CopyAxis &across) {
  constexpr int64_t edge = 32;
  for (int64_t top = 0; top < down.extent; top += edge)
    for (int64_t left = 0; left < across.extent; left += edge) {
      int64_t bottom = std::min(top + edge, down.extent);
      int64_t right = std::min(left + edge, across.extent);
      for (int64_t i = top; i < bottom; ++i) {
        const T *source = from + i * down.fromStride;
        T *target = to + i * down.toStride;
        for (int64_t j = left; j < right; ++j)
          target[j * across.toStride] = source[j * across.fromStride];
      }
    }
}

/// Copies the elements of the one or two `inner` axes.
template <typename T>
static void copyInner(const T *from, T *to, llvm::ArrayRef<CopyAxis> inner) {
  if (inner.size() == 2)
    return copyTransposed(from, to, inner[0], inner[1]);
  if (inner.empty()) {
    *to = *from;
    return;
  }
  const CopyAxis &axis = inner[0];
  if (axis.fromStride == 1 && axis.toStride == 1) {
    std::memcpy(to, from, size_t(axis.extent) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < axis.extent; ++i)
    to[i * axis.toStride] = from[i * axis.fromStride];
}

template <typename T>
static void copyBox(const BoxCopy &box, const T *from, T *to) {
  if (!box.fills)
    std::fill_n(to, box.count, T());
  // The last axis, and the one along which the source is contiguous.
  llvm::SmallVector<CopyAxis, 8> outer = box.axes;
  llvm::SmallVector<CopyAxis, 2> inner;
  if (!outer.empty())
    inner.push_back(outer.pop_back_val());
  if (!inner.empty() && inner[0].fromStride != 1)
    if (auto *unit = llvm::find_if(
            outer, [](const CopyAxis &axis) { return axis.fromStride == 1; });
        unit != outer.end()) {
      inner.insert(inner.begin(), *unit);
      outer.erase(unit);
    }
  llvm::SmallVector<int64_t, 8> index(outer.size(), 0);
  from += box.fromOffset;
  to += box.toOffset;
  while (true) {
    copyInner<T>(from, to, inner);
    size_t axis = outer.size();
    for (; axis > 0; --axis) {
      const CopyAxis &moved = outer[axis - 1];
      from += moved.fromStride;
      to += moved.toStride;
      if (++index[axis - 1] < moved.extent)
        break;
      from -= moved.fromStride * moved.extent;
      to -= moved.toStride * moved.extent;
      index[axis - 1] = 0;
    }
    if (axis == 0)
      return;
  }
}

static void copyBox(const BoxCopy &box, const void *from, void *to,
                    unsigned width) {
  auto as = [&](auto element) {
    using T = decltype(element);
    copyBox(box, static_cast<const T *>(from), static_cast<T *>(to));
  };
  switch (width) {
  case 1:
    return as(Element<1>());
  case 2:
    return as(Element<2>());
  case 4:
    return as(Element<4>());
  default:
    assert(width == 8);
    return as(Element<8>());
  }
}

void ArrayView::copy(const void *from, void *to, unsigned width) const {
  // Each run of steps in canonical order is one copy.
  llvm::SmallVector<BoxCopy, 2> boxes;
  Shape shape = source;
  for (llvm::ArrayRef<ViewStep> rest = list; !rest.empty();) {
    size_t count = 1;
    while (count < rest.size() && rest[count - 1].kind < rest[count].kind)
      ++count;
    boxes.push_back(boxOf(rest.take_front(count), shape));
    rest = rest.drop_front(count);
  }
  if (boxes.empty())
    boxes.push_back(boxOf({}, shape));
  std::vector<uint64_t> held; // the result of the previous copy
  for (size_t index = 0; index < boxes.size(); ++index) {
    bool isLast = index + 1 == boxes.size();
    size_t words = isLast ? 0 : (size_t(boxes[index].count) * width + 7) / 8;
    std::vector<uint64_t> next(words);
    copyBox(boxes[index], from, isLast ? to : next.data(), width);
    held = std::move(next);
    from = held.data();
  }
}
