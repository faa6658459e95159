//===- LossPlot.cpp - a loss curve as SVG ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Train/LossPlot.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/Chart.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;
using Point = LossSeries::Point;
using Points = llvm::ArrayRef<Point>;

/// The running mean over about a fiftieth of the run, corrected for the bias
/// towards its first value.
static std::vector<Point> runningMean(Points points) {
  double keep = 1 - 1 / std::max(2.0, double(points.size()) / 50);
  double sum = 0, weight = 0;
  std::vector<Point> mean;
  for (const Point &point : points) {
    sum = keep * sum + (1 - keep) * point.loss;
    weight = keep * weight + (1 - keep);
    mean.push_back({point.step, sum / weight});
  }
  return mean;
}

/// At most `most` points: each the mean of a few.
static std::vector<Point> thinned(Points points, size_t most) {
  size_t group = (points.size() + most - 1) / most;
  std::vector<Point> fewer;
  for (size_t begin = 0; begin < points.size(); begin += group) {
    size_t end = std::min(begin + group, points.size());
    double sum = 0;
    for (size_t i = begin; i < end; ++i)
      sum += points[i].loss;
    fewer.push_back(
        {points[(begin + end - 1) / 2].step, sum / double(end - begin)});
  }
  return fewer;
}

static void setAxes(Chart &chart, llvm::ArrayRef<Points> curves) {
  double low = INFINITY, high = -INFINITY, first = INFINITY, last = 1;
  for (Points points : curves)
    for (const Point &point : points) {
      low = std::min(low, point.loss);
      high = std::max(high, point.loss);
      first = std::min(first, double(point.step));
      last = std::max(last, double(point.step));
    }
  chart.horizontal =
      ChartAxis::around(first <= last / 10 ? 0 : first, last, 8, 1);
  chart.horizontal.high = std::max(last, chart.horizontal.low + 1);
  chart.horizontal.label = "step";
  chart.vertical = ChartAxis::around(low, high, 6, 1e-9);
  chart.vertical.label = "loss (nats per token)";
}

static void add(Chart &chart, const llvm::Twine &name, Points points,
                const char *color, double stroke = 2, double opacity = 1) {
  Chart::Series &series = chart.series.emplace_back();
  series.name = name.str();
  series.color = color;
  series.stroke = stroke;
  series.opacity = opacity;
  // More points than the drawing can resolve.
  constexpr size_t most = 1500;
  for (const Point &point : thinned(points, most))
    series.points.push_back({double(point.step), point.loss});
}

void anec::drawLosses(const LossHistory &history, llvm::raw_ostream &out) {
  assert(!history.training.points().empty());
  std::vector<Point> mean = runningMean(history.training.points());
  bool hasMean = mean.size() > 2;
  Chart chart;
  chart.title = "Loss";
  setAxes(chart, {history.training.points(), history.validation.points()});
  add(chart, hasMean ? "training, each step" : "training",
      history.training.points(), "#4c78a8", 1.2, 0.45);
  if (hasMean)
    add(chart, "training, running mean", mean, "#1f4e8c");
  add(chart, "validation", history.validation.points(), "#d9541e");
  chart.print(out);
}

void anec::drawLosses(llvm::ArrayRef<NamedHistory> runs,
                      llvm::raw_ostream &out) {
  // Colors that people who see few of them tell apart (Okabe and Ito).
  static constexpr const char *colors[] = {"#0072b2", "#d55e00", "#009e73",
                                           "#cc79a7", "#e69f00", "#56b4e9",
                                           "#000000", "#999999"};
  std::vector<std::vector<Point>> means;
  for (const NamedHistory &run : runs)
    means.push_back(runningMean(run.history.training.points()));
  std::vector<Points> curves(means.begin(), means.end());
  for (const NamedHistory &run : runs)
    curves.push_back(run.history.validation.points());
  Chart chart;
  chart.title = "Loss (running mean; dots: validation)";
  chart.legendBeside = true;
  setAxes(chart, curves);
  for (auto [index, run] : llvm::enumerate(runs)) {
    const char *color = colors[index % std::size(colors)];
    add(chart, run.name, means[index], color);
    add(chart, run.name + ", validation", run.history.validation.points(),
        color, 1);
    chart.series.back().mark = Chart::Mark::Dots;
  }
  chart.print(out);
}

template <typename Drawn>
static bool write(const Drawn &drawn, llvm::StringRef name,
                  AtomicFiles &&files) {
  OutputFile *file = files.add(name);
  if (!file)
    return false;
  drawLosses(drawn, *file);
  return files.commit();
}

bool anec::writeLossPlot(llvm::ArrayRef<NamedHistory> runs,
                         llvm::StringRef path, Diagnostics &diags) {
  return runs.size() == 1
             ? write(runs.front().history, path, AtomicFiles(diags))
             : write(runs, path, AtomicFiles(diags));
}

bool anec::writeLossPlot(const LossHistory &history,
                         std::shared_ptr<const Folder> folder,
                         llvm::StringRef name, Diagnostics &diags) {
  return write(history, name, AtomicFiles(std::move(folder), diags));
}
