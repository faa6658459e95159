//===- Boxes.cpp - suppression of boxes -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include <algorithm>
#include <numeric>

using namespace anec;
using namespace anec::onnx;

namespace {
struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

struct Suppression {
  int64_t most = 0;
  double overlap = 0;
  bool hasScore = false;
  double score = 0;
};
} // namespace

static Box boxAt(const double *at, bool byCenter) {
  if (byCenter)
    return {at[1] - at[3] / 2, at[0] - at[2] / 2, at[1] + at[3] / 2,
            at[0] + at[2] / 2};
  return {std::min(at[0], at[2]), std::min(at[1], at[3]),
          std::max(at[0], at[2]), std::max(at[1], at[3])};
}

/// The part of two boxes that both cover.
static double overlapOf(const Box &a, const Box &b) {
  double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0)
    return 0;
  double both = height * width;
  return both / (a.area() + b.area() - both);
}

/// The boxes that are kept, the best first.
static Shape keep(llvm::ArrayRef<Box> boxes, llvm::ArrayRef<double> scores,
                  const Suppression &limits) {
  Shape order(boxes.size()), kept;
  std::iota(order.begin(), order.end(), 0);
  llvm::erase_if(order, [&](int64_t i) {
    return limits.hasScore && !(scores[size_t(i)] > limits.score);
  });
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    return scores[size_t(a)] > scores[size_t(b)];
  });
  for (int64_t i : order) {
    if (int64_t(kept.size()) >= limits.most)
      break;
    if (llvm::none_of(kept, [&](int64_t other) {
          return overlapOf(boxes[size_t(i)], boxes[size_t(other)]) >
                 limits.overlap;
        }))
      kept.push_back(i);
  }
  return kept;
}

/// Boxes [images, boxes, 4] and scores [images, classes, boxes] to rows of
/// image, class and box. Both must be known, because the number of rows depends
/// on them.
static void readNonMaxSuppression(Node &n) {
  ConstantRef boxes = n.known(0), scores = boxes ? n.known(1) : nullptr;
  if (!boxes || !scores)
    return;
  const Shape &shape = scores->type().shape;
  if (shape.size() != 3 || boxes->type().shape != Shape{shape[0], shape[2], 4})
    return n.fail("boxes must be [images, boxes, 4], and scores [images, "
                  "classes, boxes]");
  Suppression limits;
  // Exporters write the largest number for all boxes.
  Shape most = n.has(2) ? n.wideInts(2) : Shape{0};
  limits.overlap = n.has(3) ? n.number(3) : 0;
  limits.hasScore = n.has(4);
  limits.score = n.has(4) ? n.number(4) : 0;
  if (n.failed())
    return;
  if (most.size() != 1)
    return n.fail("the number of boxes must be one number");
  limits.most = most.front();
  int64_t images = shape[0], classes = shape[1], count = shape[2];
  limits.most = std::min(limits.most, count);
  limits.most = std::max<int64_t>(limits.most, 0);
  if (!n.e.takeSteps(checkedNumElements({images, classes, count, limits.most})
                         .value_or(-1)))
    return n.refuse("so many boxes");
  bool byCenter = n.attr("center_point_box", 0) != 0;
  std::vector<double> corners = boxes->asDoubles();
  std::vector<double> all = scores->asDoubles(), rows;
  for (int64_t image = 0; image != images; ++image) {
    std::vector<Box> own;
    for (int64_t i = 0; i != count; ++i)
      own.push_back(boxAt(&corners[size_t((image * count + i) * 4)], byCenter));
    for (int64_t label = 0; label != classes; ++label) {
      auto part = llvm::ArrayRef(all).slice(
          size_t((image * classes + label) * count), size_t(count));
      for (int64_t i : keep(own, part, limits))
        rows.insert(rows.end(), {double(image), double(label), double(i)});
    }
  }
  TensorType type(DType::Int32, {int64_t(rows.size() / 3), 3});
  n.out(n.e.constant(Constant::fromDoubles(type, rows)));
}

static constexpr OpRow boxTable[] = {
    {.name = "NonMaxSuppression",
     .read = readNonMaxSuppression,
     .since = 10,
     .limits = "inputs must be known"},
};

llvm::ArrayRef<OpRow> onnx::boxRows() { return boxTable; }
