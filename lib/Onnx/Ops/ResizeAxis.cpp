//===- ResizeAxis.cpp - resizing along one axis ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ResizeAxis.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

double ResizeAxis::positionOf(const ResizeMode &mode, int64_t i) const {
  // In fp32, as others compute it: it decides which element is nearest.
  auto at = float(i), inputs = float(extent), scale = float(this->scale),
       start = float(this->start), end = float(this->end);
  // The length of the output before it is rounded down.
  float length = inputs * scale;
  switch (mode.coordinates) {
  case Coordinates::AlignCorners:
    return length == 1 ? 0 : at * (inputs - 1) / (length - 1);
  case Coordinates::Asymmetric:
    return at / scale;
  case Coordinates::HalfPixel:
    return (at + 0.5f) / scale - 0.5f;
  case Coordinates::HalfPixelSymmetric: {
    float adjustment = float(count) / length, center = inputs / 2;
    return center * (1 - adjustment) + (at + 0.5f) / scale - 0.5f;
  }
  case Coordinates::PyTorchHalfPixel:
    return length > 1 ? (at + 0.5f) / scale - 0.5f : 0;
  case Coordinates::CropAndResize:
    return length > 1 ? start * (inputs - 1) +
                            at * (end - start) * (inputs - 1) / (length - 1)
                      : (start + end) * (inputs - 1) / 2;
  case Coordinates::HalfPixelForNearest:
    return (at + 0.5f) / scale;
  }
  llvm_unreachable("an unknown correspondence");
}

bool ResizeAxis::isOutside(const ResizeMode &mode, int64_t i) const {
  double position = positionOf(mode, i);
  return mode.coordinates == Coordinates::CropAndResize &&
         (position < 0 || position > double(extent - 1));
}

static double rounded(double position, PositionRounding rounding,
                      double scale) {
  switch (rounding) {
  case PositionRounding::Ceil:
    return std::ceil(position);
  case PositionRounding::Floor:
    return std::floor(position);
  case PositionRounding::PreferCeil:
    return std::floor(position + 0.5);
  case PositionRounding::PreferFloor:
    return std::ceil(position - 0.5);
  case PositionRounding::CeilWhereSmaller:
    return scale < 1 ? std::ceil(position) : std::floor(position);
  }
  llvm_unreachable("an unknown rounding");
}

/// The weight of a pixel at a distance, by Keys' cubic with parameter a.
static double cubic(double distance, double a) {
  double t = std::fabs(distance);
  if (t <= 1)
    return ((a + 2) * t - (a + 3)) * t * t + 1;
  if (t < 2)
    return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
  return 0;
}

std::vector<double> ResizeAxis::weights(const ResizeMode &mode) const {
  std::vector<double> all(size_t(count * extent));
  for (int64_t i = 0; i != count; ++i) {
    double *row = &all[size_t(i * extent)];
    double position = positionOf(mode, i);
    // Positions far outside read the edge, or are replaced.
    position = std::fmin(std::fmax(position, -2.0), double(extent) + 2);
    auto add = [&](int64_t at, double weight) {
      row[std::clamp<int64_t>(at, 0, extent - 1)] += weight;
    };
    if (mode.kind == ResizeKind::Nearest) {
      add(int64_t(rounded(position, mode.rounding, scale)), 1);
      continue;
    }
    auto below = int64_t(std::floor(position));
    // A smaller result reads as many pixels as each of its own stands for.
    double shrink = mode.antialias ? std::fmin(scale, 1.0) : 1;
    auto reach =
        int64_t(std::ceil((mode.kind == ResizeKind::Cubic ? 2 : 1) / shrink));
    double sum = 0;
    for (int64_t at = below - reach + 1; at <= below + reach; ++at) {
      double distance = (position - double(at)) * shrink;
      double weight = mode.kind == ResizeKind::Cubic
                          ? cubic(distance, mode.cubicA)
                          : std::fmax(0.0, 1 - std::fabs(distance));
      if (mode.excludeOutside && (at < 0 || at >= extent))
        continue;
      add(at, weight);
      sum += weight;
    }
    if ((mode.excludeOutside || shrink < 1) && sum != 0)
      for (int64_t at = 0; at != extent; ++at)
        row[at] /= sum;
  }
  return all;
}
