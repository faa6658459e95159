//===- Differences.cpp - gradients beside finite differences --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BlockBuilder.h"
#include "Reference.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;
using namespace anec::fuzz;

namespace {

/// A direction in which weights change.
struct Direction {
  std::map<std::string, Elements> steps;
  std::string name; ///< of the weight, or empty for all of them
  double slope = 0; ///< by the gradients
  double scale = 0; ///< the norms of the direction and of the gradients
};

/// The loss along a direction, near and nearer.
struct Line {
  double slopes[2], bends[2];
};

} // namespace

static Direction anyDirection(const Reference &reference, const Results &exact,
                              bool isWhole, Random &random) {
  std::vector<std::string> names;
  for (const auto &[name, weight] : reference.weights())
    names.push_back(name);
  Direction result;
  if (!isWhole)
    names = {result.name = random.oneOf(names)};
  double gradientNorm = 0, directionNorm = 0;
  for (const std::string &name : names) {
    Elements &steps = result.steps[name];
    auto gradient = exact.gradients.find(name);
    size_t size = reference.weights().at(name).elements.size();
    for (size_t i = 0; i < size; ++i) {
      double by = double(random.number(-1000, 1000)) / 1000;
      steps.push_back(by);
      directionNorm += by * by;
      if (gradient == exact.gradients.end())
        continue;
      double along = gradient->second[i];
      result.slope += by * along;
      gradientNorm += along * along;
    }
  }
  result.scale = std::sqrt(gradientNorm * directionNorm);
  return result;
}

static bool follow(Reference &reference, const Direction &direction,
                   double loss, Line &line, Diagnostics &diags) {
  for (int nearer : {0, 1}) {
    double step = nearer ? 1e-6 : 8e-6, losses[2];
    for (int side : {0, 1}) {
      std::map<std::string, Elements> steps = direction.steps;
      for (auto &[name, elements] : steps)
        for (double &element : elements)
          element *= side ? step : -step;
      if (!reference.loss(steps, losses[side], diags))
        return false;
    }
    line.slopes[nearer] = (losses[1] - losses[0]) / (2 * step);
    line.bends[nearer] = (losses[1] + losses[0] - 2 * loss) / step;
  }
  return true;
}

static double slopeAlong(const Direction &direction, const Results &results) {
  double slope = 0;
  for (const auto &[name, steps] : direction.steps)
    if (auto gradient = results.gradients.find(name);
        gradient != results.gradients.end())
      for (auto [step, along] : llvm::zip_equal(steps, gradient->second))
        slope += step * along;
  return slope;
}

/// Whether rounding each value to fp32 moves the slope as far. Rules have
/// constants that are rounded to fp32, such as 1/35, and where the terms of a
/// gradient cancel, only what rounding does to them is left.
static bool isRounding(Reference &reference, const Direction &direction,
                       double error, uint64_t seed, Diagnostics &diags) {
  Random random(seed);
  double most = 0;
  for (unsigned i = 0; i < 4; ++i) {
    double scale = 1 + double(random.number(0, 1 << 20)) / (1 << 20);
    Evaluation evaluation;
    evaluation.disturb = [=](double x) {
      return roundTo(24, x * scale) / scale;
    };
    Results results;
    if (!reference.evaluate(evaluation, results, diags))
      return false;
    most = std::max(
        most, std::fabs(slopeAlong(direction, results) - direction.slope));
  }
  return error <= 8 * most;
}

bool anec::fuzz::compareWithDifferences(Reference &reference,
                                        const Results &exact, uint64_t seed,
                                        std::string &difference,
                                        Diagnostics &diags) {
  if (reference.weights().empty())
    return true;
  Random random(seed + 5);
  // All weights together, and some by themselves.
  for (unsigned i = 0; i < 4; ++i) {
    Direction direction = anyDirection(reference, exact, i == 0, random);
    Line line;
    if (!follow(reference, direction, exact.loss, line, diags))
      return false;
    double tolerance = 1e-5 * direction.scale + 1e-7 +
                       1e-8 * std::max(1.0, std::fabs(exact.loss));
    // A kink has a slope of its own on each side, however near. What is smooth
    // bends less and less.
    bool hasKink =
        std::fabs(line.slopes[0] - line.slopes[1]) > tolerance ||
        std::fabs(line.bends[1]) > tolerance + 0.5 * std::fabs(line.bends[0]);
    double error = std::fabs(line.slopes[1] - direction.slope);
    if (hasKink || error <= 4 * tolerance ||
        isRounding(reference, direction, error, seed + i, diags))
      continue;
    difference =
        "the loss changes by " + std::to_string(line.slopes[1]) +
        " along a direction of " +
        (direction.name.empty() ? "all weights" : "`" + direction.name + "`") +
        ", and by " + std::to_string(direction.slope) + " by its gradient";
    return true;
  }
  return true;
}
