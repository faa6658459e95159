//===- Chart.cpp - line charts as SVG -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Chart.h"
#include "lib/Support/ShownText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace anec;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

ChartAxis ChartAxis::around(double low, double high, unsigned count,
                            double leastStep) {
  if (high <= low)
    high = low + std::max(std::abs(low) * 0.1, leastStep);
  double rough = (high - low) / count;
  double power = std::pow(10, std::floor(std::log10(rough)));
  double digit = rough / power;
  double round = digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10;
  ChartAxis axis;
  axis.step = std::max(round * power, leastStep);
  axis.low = std::floor(low / axis.step) * axis.step;
  axis.high = std::ceil(high / axis.step) * axis.step;
  return axis;
}

ChartAxis ChartAxis::logarithmic(double low, double high) {
  ChartAxis axis;
  axis.isLogarithmic = true;
  // Slightly wider than the required range.
  axis.low = low / 1.2;
  axis.high = high * 1.2;
  return axis;
}

ChartAxis ChartAxis::named(std::vector<std::string> names) {
  ChartAxis axis;
  axis.low = -0.5;
  axis.high = double(names.size()) - 0.5;
  axis.names = std::move(names);
  return axis;
}

std::vector<double> ChartAxis::ticks() const {
  std::vector<double> ticks;
  if (!isLogarithmic) {
    double end = high + (high - low) * 1e-9;
    for (unsigned i = 0; (hasNames() ? i : low + i * step) <= end; ++i)
      ticks.push_back(hasNames() ? i : low + i * step);
    return ticks;
  }
  constexpr double manyDecades = 100;
  bool isLong = high / low > manyDecades;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high;
       power *= 10)
    for (double digit : {1, 2, 5})
      if (double tick = digit * power;
          tick >= low && tick <= high && (digit == 1 || !isLong))
        ticks.push_back(tick);
  return ticks;
}

std::string ChartAxis::labelOf(double tick) const {
  if (hasNames())
    return names[size_t(std::lround(tick))];
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (isLogarithmic) {
    stream << llvm::format("%.4g", tick);
    return text;
  }
  int digits = std::max(0, int(std::ceil(-std::log10(step) - 1e-9)));
  stream << llvm::format("%.*f", digits, tick);
  return text;
}

double ChartAxis::part(double value) const {
  if (isLogarithmic)
    return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

//===----------------------------------------------------------------------===//
// The drawing
//===----------------------------------------------------------------------===//

namespace {

constexpr double height = 480, left = 70, top = 44;

class Drawing {
public:
  Drawing(const Chart &chart, llvm::raw_ostream &out)
      : chart(chart), out(out), width(chart.legendBeside ? 1080 : 800),
        right(chart.legendBeside ? 330 : 20),
        bottom(chart.horizontal.hasNames() ? 130 : 56) {}
  void draw();

private:
  void drawGrid();
  void drawAxes();
  void labelAxes();
  void text(double x, double y, llvm::StringRef anchor, llvm::StringRef what,
            llvm::StringRef more = "");
  void drawSeries(const Chart::Series &series);
  void drawMark(double x, double y, const Chart::Series &series);
  void drawLegend();
  double x(double value) const {
    return left + chart.horizontal.part(value) * (width - left - right);
  }
  double y(double value) const {
    return height - bottom -
           chart.vertical.part(value) * (height - top - bottom);
  }

  const Chart &chart;
  llvm::raw_ostream &out;
  double width, right, bottom;
};

} // namespace

void Drawing::text(double x, double y, llvm::StringRef anchor,
                   llvm::StringRef what, llvm::StringRef more) {
  out << llvm::format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"", x, y)
      << anchor << "\"" << more << ">";
  llvm::printHTMLEscaped(showText(what), out);
  out << "</text>\n";
}

void Drawing::drawGrid() {
  out << "<g stroke=\"#dddddd\" stroke-width=\"1\">\n";
  for (double tick : chart.vertical.ticks())
    out << llvm::format(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", left,
        y(tick), width - right, y(tick));
  out << "</g>\n";
}

void Drawing::drawAxes() {
  out << "<g stroke=\"#444444\" stroke-width=\"1\">\n";
  out << llvm::format("<path fill=\"none\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n",
                      left, top, height - bottom, width - right);
  for (double tick : chart.horizontal.ticks())
    out << llvm::format("<path d=\"M%.1f %.1fv5\"/>\n", x(tick),
                        height - bottom);
  for (double tick : chart.vertical.ticks())
    out << llvm::format("<path d=\"M%.1f %.1fh-5\"/>\n", left, y(tick));
  out << "</g>\n";
}

void Drawing::labelAxes() {
  for (double tick : chart.horizontal.ticks()) {
    std::string label = chart.horizontal.labelOf(tick);
    if (!chart.horizontal.hasNames()) {
      text(x(tick), height - bottom + 20, "middle", label);
      continue;
    }
    // Names are long, so they are rotated down to the left.
    std::string turned;
    llvm::raw_string_ostream(turned)
        << llvm::format(" transform=\"translate(%.1f %.1f) rotate(-35)\"",
                        x(tick) + 4, height - bottom + 18);
    text(0, 0, "end", label, turned);
  }
  for (double tick : chart.vertical.ticks())
    text(left - 9, y(tick) + 4, "end", chart.vertical.labelOf(tick));
  text((left + width - right) / 2, height - 14, "middle",
       chart.horizontal.label);
  text(0, 0, "middle", chart.vertical.label,
       " transform=\"translate(18 " + std::to_string(int(height / 2)) +
           ") rotate(-90)\"");
}

void Drawing::drawMark(double x, double y, const Chart::Series &series) {
  bool isRing = series.mark == Chart::Mark::Rings;
  out << llvm::format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" ", x, y,
                      isRing ? 4 : 3)
      << (isRing ? "fill=\"none\" stroke=\"" : "fill=\"") << series.color
      << (isRing ? "\" stroke-width=\"1.5\"/>\n" : "\"/>\n");
}

void Drawing::drawSeries(const Chart::Series &series) {
  bool isLine = series.mark != Chart::Mark::Rings && series.points.size() > 1;
  if (!isLine || series.mark == Chart::Mark::Dots)
    for (const Chart::Point &point : series.points)
      drawMark(x(point.x), y(point.y), series);
  if (!isLine)
    return;
  out << "<polyline fill=\"none\" stroke=\"" << series.color
      << llvm::format("\" stroke-width=\"%.1f\" stroke-opacity=\"%.2f\" "
                      "stroke-linejoin=\"round\" points=\"",
                      series.stroke, series.opacity);
  const char *separator = "";
  for (const Chart::Point &point : series.points) {
    out << separator << llvm::format("%.1f,%.1f", x(point.x), y(point.y));
    separator = " ";
  }
  out << "\"/>\n";
}

void Drawing::drawLegend() {
  double at = chart.legendBeside ? width - right + 16 : width - right - 170;
  double line = top + 14;
  for (const Chart::Series &series : chart.series) {
    if (series.points.empty())
      continue;
    if (series.mark == Chart::Mark::Rings)
      drawMark(at + 13, line, series);
    else
      out << llvm::format("<path d=\"M%.1f %.1fh26\" stroke-width=\"%.1f\" "
                          "stroke-opacity=\"%.2f\" stroke=\"",
                          at, line, series.stroke, series.opacity)
          << series.color << "\"/>\n";
    text(at + 34, line + 4, "start", series.name);
    line += 20;
  }
}

void Drawing::draw() {
  out << llvm::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
      "width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n",
      width, height, width, height);
  out << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  text(width / 2, 26, "middle", chart.title, " font-size=\"16\"");
  drawGrid();
  drawAxes();
  labelAxes();
  for (const Chart::Series &series : chart.series)
    drawSeries(series);
  drawLegend();
  out << "</svg>\n";
}

void Chart::print(llvm::raw_ostream &out) const { Drawing(*this, out).draw(); }
