//===- Chart.h - line charts as SVG -----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_CHART_H
#define ANEC_LIB_SUPPORT_CHART_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace anec {

/// A range of values and its ticks.
class ChartAxis {
public:
  std::string label;
  double low = 0, high = 1;

  /// About `count` ticks, at multiples of 1, 2 or 5 times a power of ten, at
  /// least `leastStep` apart; the range is widened to them.
  static ChartAxis around(double low, double high, unsigned count,
                          double leastStep);
  /// A logarithmic axis of positive values, with ticks at 1, 2 and 5 times
  /// powers of ten, or only at powers of ten when there are many.
  static ChartAxis logarithmic(double low, double high);
  /// One position for each name: 0, 1, ...
  static ChartAxis named(std::vector<std::string> names);

  std::vector<double> ticks() const;
  std::string labelOf(double tick) const;
  /// The position of `value` in the range, from 0 to 1.
  double part(double value) const;
  bool hasNames() const { return !names.empty(); }

private:
  double step = 1;
  bool isLogarithmic = false;
  std::vector<std::string> names;
};

/// A title, axes, curves or marks, and a legend.
class Chart {
public:
  struct Point {
    double x, y;
  };
  enum class Mark : uint8_t {
    Line, ///< through the points; a single point is a dot
    Dots, ///< a line, and a dot at each point
    Rings ///< at each point, without a line
  };
  struct Series {
    std::string name;
    std::vector<Point> points; ///< when empty, the series is omitted
    std::string color;
    Mark mark = Mark::Line;
    double stroke = 2, opacity = 1;
  };

  std::string title;
  ChartAxis horizontal, vertical;
  std::vector<Series> series;
  /// Next to the drawing, where it covers nothing, or in its upper right
  /// corner.
  bool legendBeside = false;

  void print(llvm::raw_ostream &out) const;
};

} // namespace anec

#endif // ANEC_LIB_SUPPORT_CHART_H
