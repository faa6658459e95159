//===- Boxes.cpp - the boxes of objects that are kept ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The number of boxes that are kept depends on their values; the results have
/// room for `max_boxes`.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Boxes.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/Ops/KeepBoxes.h"
#include "lib/Ops/Params/Sampling.h"
#include "lib/Ops/Positions.h"
#include <algorithm>

namespace anec::param {
ANEC_PARAM(iouThreshold, "iou_threshold", Float)
ANEC_PARAM(maxBoxes, "max_boxes", Int)
ANEC_PARAM(perClassSuppression, "per_class_suppression", Bool)
ANEC_PARAM(scores, "scores", Value)
} // namespace anec::param

using namespace anec;

//===----------------------------------------------------------------------===//
// Suppression
//===----------------------------------------------------------------------===//

/// The length that two intervals, given by centers and lengths, share.
static double shared(double center, double length, double otherCenter,
                     double otherLength) {
  double begin = std::max(center - length / 2, otherCenter - otherLength / 2);
  double end = std::min(center + length / 2, otherCenter + otherLength / 2);
  return std::max(end - begin, 0.0);
}

/// The area of the intersection over that of the union.
static double overlap(const double *left, const double *right) {
  double both = shared(left[0], left[2], right[0], right[2]) *
                shared(left[1], left[3], right[1], right[3]);
  double either = left[2] * left[3] + right[2] * right[3] - both;
  return either > 0 ? both / either : 0;
}

/// NaN is less than all numbers.
static bool isLess(double lhs, double rhs) {
  return std::isnan(lhs) ? !std::isnan(rhs) : lhs < rhs;
}

std::vector<int64_t> anec::keepBoxes(const ScoredBoxes &boxes,
                                     const BoxLimits &limits) {
  std::vector<double> best;
  std::vector<int64_t> labels, order, kept;
  for (int64_t box = 0; box < boxes.count; ++box) {
    auto scores =
        llvm::ArrayRef(boxes.scores)
            .slice(size_t(box * boxes.classes), size_t(boxes.classes));
    const double *largest =
        std::max_element(scores.begin(), scores.end(), isLess);
    best.push_back(scores.empty() ? 0 : *largest);
    labels.push_back(largest - scores.begin());
    if (best.back() >= limits.score) // not if it is NaN
      order.push_back(box);
  }
  llvm::stable_sort(
      order, [&](int64_t lhs, int64_t rhs) { return best[lhs] > best[rhs]; });
  auto isFree = [&](int64_t box) {
    return llvm::none_of(kept, [&](int64_t other) {
      return (!limits.isPerClass || labels[box] == labels[other]) &&
             overlap(&boxes.places[size_t(box) * 4],
                     &boxes.places[size_t(other) * 4]) > limits.overlap;
    });
  };
  for (int64_t box : order) {
    if (int64_t(kept.size()) >= limits.most)
      break;
    if (isFree(box))
      kept.push_back(box);
  }
  return kept;
}

//===----------------------------------------------------------------------===//
// non_maximum_suppression
//===----------------------------------------------------------------------===//

namespace {
/// The two forms of the op: `[batch, boxes, ...]` up to ios16, and
/// `[batch, ..., boxes]` without `score_threshold` from ios17 on.
struct Form {
  explicit Form(bool boxesFirst)
      : boxAxis(boxesFirst ? 1 : 2), otherAxis(boxesFirst ? 2 : 1) {}

  unsigned boxAxis, otherAxis;

  /// The elements of an image, a row for each box.
  std::vector<double> rows(const RefTensor &x, int64_t image) const {
    int64_t boxes = x.type.shape[boxAxis], others = x.type.shape[otherAxis];
    std::vector<double> result;
    for (int64_t box = 0; box < boxes; ++box)
      for (int64_t i = 0; i < others; ++i)
        result.push_back(x.data[at(x.type.shape, image, box, i)]);
    return result;
  }
  size_t at(const Shape &shape, int64_t image, int64_t box, int64_t i) const {
    int64_t place = boxAxis == 1 ? box * shape[2] + i : i * shape[2] + box;
    return size_t(image * shape[1] * shape[2] + place);
  }
};
} // namespace

static bool inferSuppression(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, 3) || !checkRank(ctx, 1, 3, 3)) // C1
    return false;
  bool boxesFirst = ctx.constant(param::scoreThreshold) != nullptr;
  Form form(boxesFirst);
  TensorType boxes = ctx.type(0), scores = ctx.type(1);
  Shape expected = scores.shape;
  expected[form.otherAxis] = 4;
  if (!checkShape(ctx, 0, expected) ||      // C2
      !checkRange(ctx, param::maxBoxes, 1)) // C3
    return false;
  int64_t most = ctx.get(param::maxBoxes);
  boxes.shape[form.boxAxis] = scores.shape[form.boxAxis] = most;
  int64_t images = boxes.shape[0];
  ctx.results = {boxes, scores, {DType::Int32, {images, most}}};
  if (boxesFirst)
    ctx.results.push_back({DType::Int32, {images}});
  return true;
}

static void evalSuppression(EvalContext &ctx) {
  const RefTensor &boxes = *ctx.in[0], &scores = *ctx.in[1];
  bool boxesFirst = ctx.constant(param::scoreThreshold) != nullptr;
  Form form(boxesFirst);
  BoxLimits limits;
  limits.overlap = ctx.get(param::iouThreshold);
  if (boxesFirst)
    limits.score = ctx.get(param::scoreThreshold);
  limits.isPerClass = ctx.get(param::perClassSuppression);
  limits.most = ctx.get(param::maxBoxes);
  for (RefTensor &result : ctx.out)
    std::fill(result.data.begin(), result.data.end(),
              &result == &ctx.out[2] ? -1 : 0);
  auto copy = [&](const RefTensor &from, RefTensor &to, int64_t image,
                  int64_t box, int64_t row) {
    for (int64_t i = 0; i < from.type.shape[form.otherAxis]; ++i)
      to.data[form.at(to.type.shape, image, row, i)] =
          from.data[form.at(from.type.shape, image, box, i)];
  };
  for (int64_t image = 0; image < boxes.type.shape[0]; ++image) {
    ScoredBoxes own{boxes.type.shape[form.boxAxis],
                    scores.type.shape[form.otherAxis], form.rows(boxes, image),
                    form.rows(scores, image)};
    std::vector<int64_t> kept = keepBoxes(own, limits);
    if (kept.empty()) { // Core ML keeps the best one then.
      BoxLimits any;
      any.most = 1;
      kept = keepBoxes(own, any);
      if (kept.empty())
        kept = {0}; // all scores are NaN
    }
    for (auto [row, box] : llvm::enumerate(kept)) {
      copy(boxes, ctx.out[0], image, box, int64_t(row));
      copy(scores, ctx.out[1], image, box, int64_t(row));
      ctx.out[2].data[size_t(image * limits.most) + row] = double(box);
    }
    if (boxesFirst)
      ctx.out[3].data[size_t(image)] = double(kept.size());
  }
}

constinit const OpDef ops::NonMaximumSuppression = {
    .name = "non_maximum_suppression",
    .summary =
        "The boxes that overlap no better one by more than `iou_threshold`, "
        "the best first: boxes, scores, indices, and up to ios16 their number "
        "for each image. A box counts by its largest score, whose class is its "
        "own. There are `max_boxes` results; after the last box that is kept, "
        "boxes and scores are 0 and indices -1. Where no score reaches "
        "`score_threshold`, the best box is kept.",
    .family = "boxes",
    .params =
        {value(param::boxes, floats, 'T',
               "[images, boxes, 4] with `score_threshold`, otherwise [images, "
               "4, boxes]: center x and y, width, height"),
         value(param::scores, floats, 'T',
               "the same with a score for each class in place of the 4"),
         number(param::iouThreshold, "", 'T', floats,
                "the most intersection over union with a better box"),
         ParamDef{param::scoreThreshold, ParamKind::OptionalConstant, floats,
                  'T', 0, "",
                  "boxes with a smaller score are left out; only up to ios16"},
         integer(param::maxBoxes, "", "the number of results for each image"),
         boolean(param::perClassSuppression, "false",
                 "whether only boxes of the same class suppress each other")},
    .traits = trait::Mil,
    .constraints = {"`boxes` and `scores` have rank 3",
                    "they have the same images and boxes, and a box has four "
                    "numbers",
                    "`max_boxes` is at least 1"},
    .infer = inferSuppression,
    .eval = evalSuppression,
    .positions = {positions::combined},
};
