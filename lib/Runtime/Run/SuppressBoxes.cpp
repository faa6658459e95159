//===- SuppressBoxes.cpp - boxes of objects that are kept -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/SuppressBoxes.h"
#include "lib/Ops/KeepBoxes.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

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
  ScoredBoxes boxes{confidence->type().shape[0], confidence->type().shape[1],
                    coordinates->asDoubles(), confidence->asDoubles()};
  boxes.count = std::min(boxes.count, coordinates->type().shape[0]);
  BoxLimits limits;
  limits.overlap = threshold(rules.overlapInput, rules.overlapThreshold);
  limits.score = threshold(rules.confidenceInput, rules.confidenceThreshold);
  limits.isPerClass = rules.isPerClass;
  if (rules.most >= 0)
    limits.most = rules.most;
  std::vector<int64_t> kept = keepBoxes(boxes, limits);
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
