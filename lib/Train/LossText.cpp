//===- LossText.cpp - a loss curve as text --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A drawing of rows of characters: `*` for the mean of the losses of the steps
// that share a column, `o` for the validation loss.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Chart.h"
#include "lib/Train/LossPlot.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>
#include <vector>

using namespace anec;
using Points = llvm::ArrayRef<LossSeries::Point>;

namespace {
class TextDrawing {
public:
  static constexpr size_t columns = 64, rows = 12;

  TextDrawing(ChartAxis steps, ChartAxis losses)
      : steps(std::move(steps)), losses(std::move(losses)),
        lines(rows, std::string(columns, ' ')) {}

  size_t columnOf(uint64_t step) const {
    return cell(steps.part(double(step)), columns);
  }
  void set(size_t column, double loss, char mark) {
    if (std::isfinite(loss))
      lines[rows - 1 - cell(losses.part(loss), rows)][column] = mark;
  }
  void print(llvm::raw_ostream &out) const;

private:
  static size_t cell(double part, size_t count) {
    // Not a number where the range is wider than the largest double.
    if (!(part >= 0))
      part = 0;
    return size_t(std::lround(std::min(part, 1.0) * double(count - 1)));
  }

  ChartAxis steps, losses;
  std::vector<std::string> lines; // from the top
};
} // namespace

void TextDrawing::print(llvm::raw_ostream &out) const {
  std::vector<std::string> labels(rows);
  size_t width = 0;
  for (double tick : losses.ticks()) {
    std::string &label = labels[rows - 1 - cell(losses.part(tick), rows)];
    label = losses.labelOf(tick);
    width = std::max(width, label.size());
  }
  for (auto [label, line] : llvm::zip_equal(labels, lines))
    out << std::string(width + 2 - label.size(), ' ') << label << " |"
        << llvm::StringRef(line).rtrim() << '\n';
  std::string last = steps.labelOf(steps.high),
              first = steps.labelOf(steps.low);
  std::string indent(width + 3, ' ');
  out << indent << '+' << std::string(columns, '-') << '\n'
      << indent << ' ' << first
      << std::string(columns - first.size() - last.size(), ' ') << last << '\n';
}

void anec::printLosses(const LossHistory &history, llvm::raw_ostream &out) {
  Points training = history.training.points();
  Points validation = history.validation.points();
  assert(!training.empty());
  double low = INFINITY, high = -INFINITY;
  for (Points points : {training, validation})
    for (const LossSeries::Point &point : points)
      if (std::isfinite(point.loss)) {
        low = std::min(low, point.loss);
        high = std::max(high, point.loss);
      }
  if (low > high)
    low = high = 0;
  ChartAxis steps;
  steps.low = 0;
  steps.high = std::max(1.0, double(training.back().step));
  TextDrawing drawing(steps, ChartAxis::around(low, high, 5, 1e-9));
  for (size_t begin = 0, end; begin < training.size(); begin = end) {
    size_t column = drawing.columnOf(training[begin].step);
    double sum = 0;
    for (end = begin; end < training.size() &&
                      drawing.columnOf(training[end].step) == column;
         ++end)
      sum += training[end].loss;
    drawing.set(column, sum / double(end - begin), '*');
  }
  for (const LossSeries::Point &point : validation)
    drawing.set(drawing.columnOf(point.step), point.loss, 'o');
  out << "  loss: * training" << (validation.empty() ? "" : ", o validation")
      << ", over steps\n";
  drawing.print(out);
}
