//===- SuiteCharts.cpp - charts of what suites measured -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Bench/SuiteCharts.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/Chart.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>

using namespace anec;

namespace {
/// A chart that grows series by series.
class SuiteChart {
public:
  SuiteChart(const SuiteReport &report, const SuiteContext &context)
      : report(report), context(context) {
    chart.legendBeside = true;
    chart.title = report.suite->name.str() + ": " + context.machine.chip +
                  ", " + context.machine.system + ", backend " +
                  context.machine.backend;
    if (!context.machine.path.empty())
      chart.title += " by " + context.machine.path;
  }
  Chart draw();

private:
  Chart::Series &series(const std::string &name, Chart::Mark mark);
  void drawLabels();
  void drawMegabytes();
  void drawShares();
  /// Sets the vertical axis, from zero to the largest point.
  void finish(llvm::StringRef label);
  double largest(double Chart::Point::*coordinate) const;

  const SuiteReport &report;
  const SuiteContext &context;
  Chart chart;
};
} // namespace

/// The series of that name, or a new one with its own color.
Chart::Series &SuiteChart::series(const std::string &name, Chart::Mark mark) {
  static constexpr const char *colors[] = {"#1f4e8c", "#d9541e", "#3a8f4d",
                                           "#8a4fa3", "#b08c1d", "#4fa3a3",
                                           "#a33a5a", "#666666"};
  for (Chart::Series &known : chart.series)
    if (known.name == name)
      return known;
  Chart::Series &made = chart.series.emplace_back();
  made.name = name;
  made.mark = mark;
  made.color = colors[(chart.series.size() - 1) % std::size(colors)];
  return made;
}

double SuiteChart::largest(double Chart::Point::*coordinate) const {
  double value = 0;
  for (const Chart::Series &series : chart.series)
    for (const Chart::Point &point : series.points)
      value = std::max(value, point.*coordinate);
  return value;
}

void SuiteChart::finish(llvm::StringRef label) {
  chart.vertical = ChartAxis::around(0, largest(&Chart::Point::y), 6, 1e-9);
  chart.vertical.label = label.str();
}

/// `M4 Max, by direct (published)`.
static std::string nameOf(const PublishedFigure &figure,
                          llvm::StringRef details = "") {
  std::string name = figure.chip.str();
  if (!details.empty())
    name += ", " + details.str();
  if (figure.path != "in-memory")
    name += ", by " + figure.path.str();
  return name + " (published)";
}

/// Draws TFLOP/s of each form, by label.
void SuiteChart::drawLabels() {
  std::vector<std::string> labels;
  auto place = [&](const SuiteRow &row) {
    auto found = llvm::find(labels, row.label);
    if (found == labels.end())
      found = labels.insert(found, row.label);
    return double(found - labels.begin());
  };
  for (const MeasuredRow &row : report.rows) {
    double x = place(row.row);
    if (row.result.isMeasured())
      series(describe(row.row.form()).str(), Chart::Mark::Dots)
          .points.push_back({x, row.result.teraflops(row.row)});
  }
  for (const OtherReport &other : context.others)
    for (const MeasuredRow &row : report.rows)
      if (const auto *figure = other.find(*report.suite, row.row))
        series(other.machine + ", " + describe(row.row.form()).str(),
               Chart::Mark::Dots)
            .points.push_back({place(row.row), figure->teraflops});
  for (const MeasuredRow &row : report.rows)
    for (const PublishedFigure *figure : publishedFor(*report.suite, row.row))
      if (figure->teraflops)
        series(nameOf(*figure, describe(row.row.form())), Chart::Mark::Rings)
            .points.push_back({place(row.row), figure->teraflops});
  chart.horizontal = ChartAxis::named(std::move(labels));
  finish("TFLOP/s");
}

/// Draws GFLOP/s for each MB of weights, by MB.
void SuiteChart::drawMegabytes() {
  double least = INFINITY;
  for (const MeasuredRow &row : report.rows) {
    double megabytes = double(row.row.weightBytes()) * 1e-6;
    least = std::min(least, megabytes);
    if (row.result.isMeasured())
      series("measured", Chart::Mark::Dots)
          .points.push_back(
              {megabytes, row.result.teraflops(row.row) * 1e3 / megabytes});
    for (const OtherReport &other : context.others)
      if (const auto *figure = other.find(*report.suite, row.row))
        series(other.machine, Chart::Mark::Dots)
            .points.push_back({megabytes, figure->teraflops * 1e3 / megabytes});
    for (const PublishedFigure *figure : publishedFor(*report.suite, row.row))
      series(nameOf(*figure), Chart::Mark::Rings)
          .points.push_back({megabytes, double(row.row.flops()) * 1e-6 /
                                            figure->milliseconds / megabytes});
  }
  chart.horizontal = ChartAxis::logarithmic(least, largest(&Chart::Point::x));
  chart.horizontal.label = "MB of weights";
  finish("GFLOP/s for each MB");
}

/// Draws the percentage of runs that took at most a given time per kernel.
void SuiteChart::drawShares() {
  double least = INFINITY;
  for (const MeasuredRow &row : report.rows) {
    if (!row.result.isMeasured())
      continue;
    const Timing &timing = row.result.timing;
    double kernels = double(row.row.kernels.size());
    // The few slowest runs would compress the rest of the curve.
    constexpr unsigned mostPercent = 99;
    Chart::Series &curve = series(row.row.label, Chart::Mark::Line);
    for (unsigned percent = 0; percent <= mostPercent; ++percent)
      curve.points.push_back(
          {timing.quantile(percent / 100.0) / kernels, double(percent)});
    least = std::min(least, timing.least() / kernels);
  }
  for (const MeasuredRow &row : report.rows)
    for (const PublishedFigure *figure : publishedFor(*report.suite, row.row)) {
      double each = figure->milliseconds / double(row.row.kernels.size());
      least = std::min(least, each);
      std::string color = series(row.row.label, Chart::Mark::Line).color;
      Chart::Series &ring =
          series(nameOf(*figure, row.row.label), Chart::Mark::Rings);
      ring.color = color;
      ring.points.push_back({each, 50});
    }
  chart.horizontal = ChartAxis::logarithmic(least, largest(&Chart::Point::x));
  chart.horizontal.label = "ms for each kernel";
  chart.vertical = ChartAxis::around(0, 100, 5, 1);
  chart.vertical.label = "% of runs that took at most so long";
}

Chart SuiteChart::draw() {
  switch (report.suite->column) {
  case SuiteColumn::Percent:
  case SuiteColumn::Ratio:
    drawLabels();
    break;
  case SuiteColumn::PerMegabyte:
    drawMegabytes();
    break;
  case SuiteColumn::PerKernel:
    drawShares();
    break;
  }
  return std::move(chart);
}

bool anec::writeSuiteCharts(llvm::ArrayRef<SuiteReport> reports,
                            const SuiteContext &context, llvm::StringRef folder,
                            Diagnostics &diags) {
  AtomicFiles files(diags);
  for (const SuiteReport &report : reports) {
    bool hasFigures = llvm::any_of(report.rows, [](const MeasuredRow &row) {
      return row.result.isMeasured();
    });
    if (!hasFigures)
      continue;
    OutputFile *file = files.add(folder, (report.suite->name + ".svg").str());
    if (!file)
      return false;
    SuiteChart(report, context).draw().print(*file);
  }
  return files.commit();
}
