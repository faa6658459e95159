//===- SuppressBoxes.cpp - boxes of objects that are kept -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/SuppressBoxes.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace anec;

namespace {

/// The boxes of an image: center, width and height, as Core ML has them.
struct Boxes {
  std::vector<double> confidence, coordinates;
  int64_t count = 0, classes = 0;

  llvm::ArrayRef<double> scores(int64_t box) const {
    return llvm::ArrayRef(confidence)
        .slice(size_t(box * classes), size_t(classes));
  }
  int64_t classOf(int64_t box) const {
    llvm::ArrayRef<double> all = scores(box);
    return std::max_element(all.begin(), all.end()) - all.begin();
  }
  double best(int64_t box) const {
    return classes ? scores(box)[size_t(classOf(box))] : 0;
  }
  llvm::ArrayRef<double> place(int64_t box) const {
    return llvm::ArrayRef(coordinates).slice(size_t(box * 4), 4);
  }
};

} // namespace

/// The length that two intervals, given by centers and lengths, share.
static double shared(double center, double length, double otherCenter,
                     double otherLength) {
  double begin = std::max(center - length / 2, otherCenter - otherLength / 2);
  double end = std::min(center + length / 2, otherCenter + otherLength / 2);
  return std::max(end - begin, 0.0);
}

/// The area of the intersection over that of the union.
static double overlap(llvm::ArrayRef<double> left,
                      llvm::ArrayRef<double> right) {
  double both = shared(left[0], left[2], right[0], right[2]) *
                shared(left[1], left[3], right[1], right[3]);
  double either = left[2] * left[3] + right[2] * right[3] - both;
  return either > 0 ? both / either : 0;
}

static std::vector<int64_t> keptBoxes(const Boxes &boxes, double most,
                                      double least, bool isPerClass) {
  std::vector<int64_t> order(size_t(boxes.count)), kept;
  std::iota(order.begin(), order.end(), 0);
  llvm::erase_if(order, [&](int64_t box) {
    return !(boxes.best(box) >= least); // NaN too
  });
  llvm::stable_sort(order, [&](int64_t lhs, int64_t rhs) {
    return boxes.best(lhs) > boxes.best(rhs);
  });
  for (int64_t box : order)
    if (llvm::none_of(kept, [&](int64_t other) {
          return (!isPerClass || boxes.classOf(box) == boxes.classOf(other)) &&
                 overlap(boxes.place(box), boxes.place(other)) > most;
        }))
      kept.push_back(box);
  return kept;
}

/// The rows of `all`, with zeros after them up to `count`.
static ConstantRef rows(const Constant &all, llvm::ArrayRef<int64_t> kept,
                        int64_t count) {
  int64_t width = all.type().shape[1];
  std::vector<double> values(size_t(count * width));
  for (auto [row, box] : llvm::enumerate(kept))
    for (int64_t column = 0; column < width; ++column)
      values[row * size_t(width) + size_t(column)] =
          all.doubleAt(box * width + column);
  return Constant::fromDoubles(TensorType(all.dtype(), Shape{count, width}),
                               values);
}

void anec::suppressBoxes(const FunctionDescription &description,
                         std::vector<Port> &ports,
                         std::vector<ConstantRef> &values) {
  const BoxSuppression &rules = *description.suppression;
  auto valueOf = [&](llvm::StringRef name) -> ConstantRef {
    for (auto [port, value] : llvm::zip_equal(ports, values))
      if (port.name == name)
        return value;
    return nullptr;
  };
  ConstantRef confidence = valueOf(rules.confidence);
  ConstantRef coordinates = valueOf(rules.coordinates);
  auto threshold = [&](llvm::StringRef input, double byDefault) {
    ConstantRef given = input.empty() ? nullptr : valueOf(input);
    return given ? given->doubleAt(0) : byDefault;
  };
  Boxes boxes{confidence->asDoubles(), coordinates->asDoubles(),
              confidence->type().shape[0], confidence->type().shape[1]};
  boxes.count = std::min(boxes.count, coordinates->type().shape[0]);
  std::vector<int64_t> kept =
      keptBoxes(boxes, threshold(rules.overlapInput, rules.overlapThreshold),
                threshold(rules.confidenceInput, rules.confidenceThreshold),
                rules.isPerClass);
  if (rules.most >= 0 && int64_t(kept.size()) > rules.most)
    kept.resize(size_t(rules.most));
  int64_t count = std::max(int64_t(kept.size()), rules.fewest);

  std::vector<Port> shownPorts;
  std::vector<ConstantRef> shown;
  auto add = [&](llvm::StringRef name, ConstantRef value) {
    Port &port = shownPorts.emplace_back();
    port.name = name.str();
    port.type = value->type();
    shown.push_back(std::move(value));
  };
  for (const FeatureDescription &output : description.outputs) {
    if (output.name == rules.keptConfidence)
      add(output.name, rows(*confidence, kept, count));
    else if (output.name == rules.keptCoordinates)
      add(output.name, rows(*coordinates, kept, count));
    else if (ConstantRef value = valueOf(output.name))
      add(output.name, std::move(value));
  }
  auto isHidden = [&](llvm::StringRef name) {
    return name == rules.confidence || name == rules.coordinates ||
           name == rules.overlapInput || name == rules.confidenceInput;
  };
  for (auto [port, value] : llvm::zip_equal(ports, values))
    if (!isHidden(port.name) && !description.output(port.name))
      add(port.name, value);
  ports = std::move(shownPorts);
  values = std::move(shown);
}
