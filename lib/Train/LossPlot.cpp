//===- LossPlot.cpp - a loss curve as SVG ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/LossPlot.h"
#include "anec/Support/AtomicFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace anec;
using Point = LossSeries::Point;
using Points = llvm::ArrayRef<Point>;

namespace {

constexpr double width = 800, height = 480;
constexpr double left = 70, right = 20, top = 44, bottom = 56;

/// A range of values, and round numbers in it.
struct Axis {
  double low = 0, high = 1, step = 1;

  /// Widens the range to ticks of 1, 2 or 5 times a power of ten, about
  /// `count` of them.
  static Axis around(double low, double high, unsigned count,
                     double leastStep) {
    if (high <= low)
      high = low + std::max(std::abs(low) * 0.1, leastStep);
    double rough = (high - low) / count;
    double power = std::pow(10, std::floor(std::log10(rough)));
    double digit = rough / power;
    double round = digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10;
    Axis axis;
    axis.step = std::max(round * power, leastStep);
    axis.low = std::floor(low / axis.step) * axis.step;
    axis.high = std::ceil(high / axis.step) * axis.step;
    return axis;
  }
  unsigned ticks() const { return unsigned(std::lround((high - low) / step)); }
  double part(double value) const { return (value - low) / (high - low); }
};

class Drawing {
public:
  Drawing(const LossHistory &history, llvm::raw_ostream &out)
      : history(history), out(out) {}
  void draw();

private:
  void findAxes();
  void drawAxes();
  void text(double x, double y, llvm::StringRef anchor, const llvm::Twine &what,
            llvm::StringRef more = "");
  void curve(Points points, llvm::StringRef color, double stroke,
             double opacity);
  void legend(bool hasMean);
  double x(double step) const {
    return left + horizontal.part(step) * (width - left - right);
  }
  double y(double loss) const {
    return height - bottom - vertical.part(loss) * (height - top - bottom);
  }

  const LossHistory &history;
  llvm::raw_ostream &out;
  Axis horizontal, vertical;
};

} // namespace

/// The running mean, over about a fiftieth of the run, begun without a bias
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

void Drawing::findAxes() {
  double low = INFINITY, high = -INFINITY, last = 1;
  for (Points points : {history.training.points(), history.validation.points()})
    for (const Point &point : points) {
      low = std::min(low, point.loss);
      high = std::max(high, point.loss);
      last = std::max(last, double(point.step));
    }
  double first = double(history.training.points().front().step);
  horizontal = Axis::around(first <= last / 10 ? 0 : first, last, 8, 1);
  horizontal.high = std::max(last, horizontal.low + 1);
  vertical = Axis::around(low, high, 6, 1e-9);
}

void Drawing::text(double x, double y, llvm::StringRef anchor,
                   const llvm::Twine &what, llvm::StringRef more) {
  out << llvm::format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"", x, y)
      << anchor << "\"" << more << ">" << what << "</text>\n";
}

static std::string label(double value, double step) {
  int digits = std::max(0, int(std::ceil(-std::log10(step) - 1e-9)));
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f", digits, value);
  return text;
}

void Drawing::drawAxes() {
  out << "<g stroke=\"#dddddd\" stroke-width=\"1\">\n";
  for (unsigned i = 0; i <= vertical.ticks(); ++i) {
    double at = y(vertical.low + i * vertical.step);
    out << llvm::format(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", left, at,
        width - right, at);
  }
  out << "</g>\n<g stroke=\"#444444\" stroke-width=\"1\">\n";
  out << llvm::format("<path fill=\"none\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n",
                      left, top, height - bottom, width - right);
  double end = horizontal.high * (1 + 1e-9);
  for (double step = horizontal.low; step <= end; step += horizontal.step)
    out << llvm::format("<path d=\"M%.1f %.1fv5\"/>\n", x(step),
                        height - bottom);
  for (unsigned i = 0; i <= vertical.ticks(); ++i)
    out << llvm::format("<path d=\"M%.1f %.1fh-5\"/>\n", left,
                        y(vertical.low + i * vertical.step));
  out << "</g>\n";
  for (double step = horizontal.low; step <= end; step += horizontal.step)
    text(x(step), height - bottom + 20, "middle", label(step, 1));
  for (unsigned i = 0; i <= vertical.ticks(); ++i) {
    double loss = vertical.low + i * vertical.step;
    text(left - 9, y(loss) + 4, "end", label(loss, vertical.step));
  }
  text((left + width - right) / 2, height - 14, "middle", "step");
  text(0, 0, "middle", "loss (nats per token)",
       " transform=\"translate(18 " + std::to_string(int(height / 2)) +
           ") rotate(-90)\"");
}

void Drawing::curve(Points points, llvm::StringRef color, double stroke,
                    double opacity) {
  if (points.empty())
    return;
  if (points.size() == 1) {
    out << llvm::format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"",
                        x(double(points[0].step)), y(points[0].loss))
        << color << "\"/>\n";
    return;
  }
  out << "<polyline fill=\"none\" stroke=\"" << color
      << llvm::format("\" stroke-width=\"%.1f\" stroke-opacity=\"%.2f\" "
                      "stroke-linejoin=\"round\" points=\"",
                      stroke, opacity);
  const char *separator = "";
  for (const Point &point : thinned(points, 1500)) {
    out << separator
        << llvm::format("%.1f,%.1f", x(double(point.step)), y(point.loss));
    separator = " ";
  }
  out << "\"/>\n";
}

void Drawing::legend(bool hasMean) {
  double at = width - right - 170, line = top + 14;
  auto entry = [&](llvm::StringRef name, llvm::StringRef color, double stroke,
                   double opacity) {
    out << llvm::format("<path d=\"M%.1f %.1fh26\" stroke-width=\"%.1f\" "
                        "stroke-opacity=\"%.2f\" stroke=\"",
                        at, line, stroke, opacity)
        << color << "\"/>\n";
    text(at + 34, line + 4, "start", name);
    line += 20;
  };
  entry(hasMean ? "training, each step" : "training", "#4c78a8", 1.2, 0.45);
  if (hasMean)
    entry("training, running mean", "#1f4e8c", 2, 1);
  if (!history.validation.points().empty())
    entry("validation", "#d9541e", 2, 1);
}

void Drawing::draw() {
  std::vector<Point> mean = runningMean(history.training.points());
  bool hasMean = mean.size() > 2;
  findAxes();
  out << llvm::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
      "width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n",
      width, height, width, height);
  out << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  text(width / 2, 26, "middle", "Loss", " font-size=\"16\"");
  drawAxes();
  curve(history.training.points(), "#4c78a8", 1.2, 0.45);
  if (hasMean)
    curve(mean, "#1f4e8c", 2, 1);
  curve(history.validation.points(), "#d9541e", 2, 1);
  legend(hasMean);
  out << "</svg>\n";
}

void anec::drawLosses(const LossHistory &history, llvm::raw_ostream &out) {
  assert(!history.training.points().empty());
  Drawing(history, out).draw();
}

bool anec::writeLossPlot(const LossHistory &history, llvm::StringRef path,
                         Diagnostics &diags) {
  AtomicFiles files(diags);
  OutputFile *file = files.add(path);
  if (!file)
    return false;
  drawLosses(history, *file);
  return files.commit();
}
