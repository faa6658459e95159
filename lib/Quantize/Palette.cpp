//===- Palette.cpp - palettes with the least error ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// In one dimension, the clusters of k-means are intervals, so that dynamic
/// programming over sorted values finds the best ones: the least cost of the
/// first j values in k clusters is the least cost of the first i in k - 1, plus
/// that of i to j as one cluster. The best i does not decrease with j, which
/// divides the search in halves.
///
//===----------------------------------------------------------------------===//

#include "anec/Quantize/QuantizeArray.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace anec;

namespace {

/// Values in ascending order, each with the sum of its weights.
struct Histogram {
  std::vector<double> values, weights;
};

/// A sum with the rounding errors of its additions.
struct Sum {
  double high = 0, low = 0;

  Sum operator+(double term) const {
    double sum = high + term, part = sum - high;
    double error = (high - (sum - part)) + (term - part);
    return {sum, low + error};
  }
  double operator-(const Sum &other) const {
    return (high - other.high) + (low - other.low);
  }
};

class Clusters {
public:
  Clusters(const Histogram &histogram, unsigned most);
  std::vector<double> means();

private:
  double cost(size_t begin, size_t end) const;
  void solve(unsigned cluster, size_t begin, size_t end, size_t first,
             size_t last);

  const Histogram &histogram;
  size_t count;
  unsigned most;
  std::vector<Sum> weights, values, squares; ///< of the first i
  std::vector<double> before, now;           ///< least costs of the first i
  /// For each cluster and end, where the cluster starts.
  std::vector<std::vector<uint32_t>> starts;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static Histogram histogramOf(llvm::ArrayRef<float> values,
                             llvm::ArrayRef<double> weights) {
  std::vector<std::pair<float, double>> sorted(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    // No negative zero, which is equal to zero.
    sorted[i] = {values[i] + 0.0f, weights.empty() ? 1.0 : weights[i]};
  // Weights in the order of their positions, so that sums are the same.
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  Histogram histogram;
  for (auto [value, weight] : sorted) {
    if (histogram.values.empty() || histogram.values.back() != value) {
      histogram.values.push_back(value);
      histogram.weights.push_back(0);
    }
    histogram.weights.back() += weight;
  }
  return histogram;
}

/// Replaces runs of neighbors by their means, so that `most` remain.
static Histogram coarser(const Histogram &fine, size_t most) {
  size_t count = fine.values.size();
  if (count <= most)
    return fine;
  Histogram coarse;
  for (size_t run = 0; run < most; ++run) {
    double weight = 0, sum = 0;
    size_t begin = count * run / most, end = count * (run + 1) / most;
    for (size_t i = begin; i < end; ++i) {
      weight += fine.weights[i];
      sum += fine.weights[i] * fine.values[i];
    }
    coarse.values.push_back(weight > 0 ? sum / weight : fine.values[begin]);
    coarse.weights.push_back(weight);
  }
  return coarse;
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

Clusters::Clusters(const Histogram &histogram, unsigned most)
    : histogram(histogram), count(histogram.values.size()),
      most(unsigned(std::min<size_t>(most, count))), weights(count + 1),
      values(count + 1), squares(count + 1), before(count + 1), now(count + 1) {
  for (size_t i = 0; i < count; ++i) {
    double weight = histogram.weights[i], value = histogram.values[i];
    double weighted = weight * value;
    weights[i + 1] = weights[i] + weight;
    values[i + 1] = values[i] + weighted;
    squares[i + 1] = squares[i] + weighted * value;
  }
}

/// The sum of squared distances of values `begin` to `end` to their mean.
double Clusters::cost(size_t begin, size_t end) const {
  double weight = weights[end] - weights[begin];
  if (weight <= 0)
    return 0;
  double sum = values[end] - values[begin];
  double square = squares[end] - squares[begin];
  return std::max(0.0, square - sum * sum / weight);
}

/// Finds the least costs of the first i values, for i in [begin, end), where
/// the last cluster starts in [first, last].
void Clusters::solve(unsigned cluster, size_t begin, size_t end, size_t first,
                     size_t last) {
  if (begin >= end)
    return;
  size_t middle = begin + (end - begin) / 2, best = first;
  double least = std::numeric_limits<double>::infinity();
  for (size_t start = first; start <= std::min(last, middle - 1); ++start) {
    double sum = before[start] + cost(start, middle);
    if (sum < least) {
      least = sum;
      best = start;
    }
  }
  now[middle] = least;
  starts[cluster][middle] = uint32_t(best);
  solve(cluster, begin, middle, first, best);
  solve(cluster, middle + 1, end, best, last);
}

std::vector<double> Clusters::means() {
  starts.assign(most, std::vector<uint32_t>(count + 1));
  for (size_t i = 1; i <= count; ++i)
    before[i] = cost(0, i);
  for (unsigned cluster = 1; cluster < most; ++cluster) {
    // Each of the clusters has a value.
    solve(cluster, cluster + 1, count + 1, cluster, count - 1);
    std::swap(before, now);
  }
  std::vector<double> means;
  size_t end = count;
  for (unsigned cluster = most; cluster-- > 0;) {
    size_t begin = starts[cluster][end];
    double weight = weights[end] - weights[begin];
    double first = histogram.values[begin], last = histogram.values[end - 1];
    double mean = weight > 0 ? (values[end] - values[begin]) / weight : first;
    means.push_back(std::clamp(mean, first, last));
    end = begin;
  }
  std::reverse(means.begin(), means.end());
  return means;
}

std::vector<double> anec::optimalPalette(llvm::ArrayRef<float> values,
                                         llvm::ArrayRef<double> weights,
                                         unsigned entries) {
  constexpr size_t mostValues = 1 << 16;
  if (values.empty())
    return {};
  Histogram histogram = coarser(histogramOf(values, weights), mostValues);
  return Clusters(histogram, entries).means();
}

unsigned anec::nearestEntry(llvm::ArrayRef<double> palette, double value) {
  size_t above = size_t(llvm::lower_bound(palette, value) - palette.begin());
  if (above == palette.size())
    --above;
  while (above > 0 && value - palette[above - 1] <= palette[above] - value)
    --above;
  return unsigned(above);
}
