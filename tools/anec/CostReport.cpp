//===- CostReport.cpp - what people see of predictions --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CostReport.h"
#include "anec/IR/OpDef.h"
#include "anec/Ops/Cost.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

/// Programs and host functions: what runs on the chip, and what does not.
static std::vector<const Function *> programs(const Module &module) {
  std::vector<const Function *> result;
  for (const auto &function : module.functions)
    if (function->kind != FunctionKind::Host)
      result.push_back(function.get());
  return result;
}

static double milli(double micro) { return micro / 1000; }
static double mega(double value) { return value / 1e6; }

static Prediction sum(const Module &module, const Target &target) {
  Prediction total;
  for (const Function *function : programs(module)) {
    Prediction one = predict(*function, target);
    total.work.convFlops += one.work.convFlops;
    total.work.otherFlops += one.work.otherFlops;
    total.work.bytes += one.work.bytes;
    total.numbers.ops += one.numbers.ops;
    total.floor += one.floor;
    total.compute += one.compute;
    total.move += one.move;
    total.total += one.total;
    total.least += one.least;
    total.most += one.most;
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printAnchor(llvm::StringRef what, const Quoted<double> &anchor,
                        llvm::StringRef unit, llvm::raw_ostream &out) {
  out << llvm::format("  %-22s %6.4g ", what.str().c_str(), double(anchor))
      << unit << "  (" << anchor.source << "; " << spelling(anchor.confidence)
      << " confidence)\n";
}

static void printTimes(llvm::StringRef name, const Prediction &cost,
                       const Target &target, llvm::raw_ostream &out) {
  out << llvm::format(
      "  %-16s %5u ops, %.4g MFLOP, %.4g MB moved: %.4g ms (%.3g to %.3g), "
      "%.1f %% of the peak, by ",
      name.str().c_str(), cost.numbers.ops,
      mega(double(cost.work.convFlops + cost.work.otherFlops)),
      mega(double(cost.work.bytes)), milli(cost.total), milli(cost.least),
      milli(cost.most), 100 * cost.utilization(target));
  out << cost.bound() << '\n';
}

void anec::printCost(const Module &module, const Target &target,
                     llvm::raw_ostream &out) {
  out << "predicted for " << target.name << ", from anchors that others "
      << "published:\n";
  for (const Function *function : programs(module)) {
    Prediction cost = predict(*function, target);
    printTimes(function->name, cost, target, out);
    out << llvm::format(
        "                   depth %u; dispatch %.4g, computing %.4g, moving "
        "%.4g ms; at "
        "most %.4g MB alive, %.3g %% of the chip's\n",
        cost.depth, milli(cost.floor), milli(cost.compute), milli(cost.move),
        mega(double(cost.numbers.activationPeak)), 100 * cost.share(target));
  }
  if (programs(module).size() > 1)
    printTimes("all, once each", sum(module, target), target, out);
  const CostAnchors &anchors = target.cost;
  printAnchor("dispatch", anchors.floorMicroseconds, "us", out);
  printAnchor("convolutions", anchors.convTeraflops, "TFLOP/s", out);
  printAnchor("other ops", anchors.matmulTeraflops, "TFLOP/s", out);
  printAnchor("bandwidth", anchors.gigabytesPerSecond, "GB/s", out);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeTimes(const Prediction &cost, const Target &target,
                       llvm::json::OStream &json) {
  json.attribute("ops", int64_t(cost.numbers.ops));
  json.attribute("conv_flop", cost.work.convFlops);
  json.attribute("other_flop", cost.work.otherFlops);
  json.attribute("bytes_moved", int64_t(cost.work.bytes));
  json.attribute("dispatch_microseconds", cost.floor);
  json.attribute("compute_microseconds", cost.compute);
  json.attribute("move_microseconds", cost.move);
  json.attribute("microseconds", cost.total);
  json.attribute("least_microseconds", cost.least);
  json.attribute("most_microseconds", cost.most);
  json.attribute("utilization", cost.utilization(target));
  json.attribute("bound", cost.bound());
}

static void writeAnchor(llvm::StringRef name, const Quoted<double> &anchor,
                        llvm::json::OStream &json) {
  json.attributeObject(name, [&] {
    json.attribute("value", double(anchor));
    json.attribute("source", anchor.source);
    json.attribute("confidence", spelling(anchor.confidence));
  });
}

void anec::printCost(const Module &module, const Target &target,
                     llvm::json::OStream &json) {
  json.attributeObject("predicted", [&] {
    json.attribute("target", target.name);
    json.attributeArray("programs", [&] {
      for (const Function *function : programs(module))
        json.object([&] {
          Prediction cost = predict(*function, target);
          json.attribute("name", function->name);
          json.attribute("depth", int64_t(cost.depth));
          json.attribute("share_of_sram", cost.share(target));
          writeTimes(cost, target, json);
        });
    });
    json.attributeObject(
        "total", [&] { writeTimes(sum(module, target), target, json); });
    json.attributeObject("anchors", [&] {
      const CostAnchors &anchors = target.cost;
      writeAnchor("dispatch_microseconds", anchors.floorMicroseconds, json);
      writeAnchor("conv_teraflops", anchors.convTeraflops, json);
      writeAnchor("other_teraflops", anchors.matmulTeraflops, json);
      writeAnchor("gigabytes_per_second", anchors.gigabytesPerSecond, json);
      json.attribute("error_factor", anchors.errorFactor);
    });
  });
}

//===----------------------------------------------------------------------===//
// HTML
//===----------------------------------------------------------------------===//

static std::string escaped(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  llvm::printHTMLEscaped(text, stream);
  return result;
}

namespace {

/// The ops of a program, a row for each step from the inputs.
class Graph {
public:
  explicit Graph(const Function &function) {
    for (const Op &op : function.body())
      if (!op.is(ops::Const) && !op.is(ops::Weight) &&
          !op.def().has(trait::Constexpr))
        place(op);
  }

  void print(llvm::raw_ostream &out) const {
    size_t widest = 1;
    for (const auto &row : rows)
      widest = std::max(widest, row.size());
    out << "<svg viewBox=\"0 0 " << widest * stepX << ' ' << rows.size() * stepY
        << "\" width=\"" << widest * stepX
        << "\" role=\"img\" aria-label=\"graph\">\n";
    for (const auto &row : rows)
      for (const Op *op : row)
        printEdges(*op, out);
    for (const auto &row : rows)
      for (const Op *op : row)
        printNode(*op, out);
    out << "</svg>\n";
  }

private:
  static constexpr size_t stepX = 150, stepY = 44, width = 130, height = 28;
  struct Place {
    size_t row, column;
  };

  void place(const Op &op) {
    size_t row = 0;
    for (const Value *operand : op.operandValues())
      if (operand && places.count(operand->definingOp()))
        row = std::max(row, places.lookup(operand->definingOp()).row + 1);
    if (row >= rows.size())
      rows.resize(row + 1);
    places[&op] = {row, rows[row].size()};
    rows[row].push_back(&op);
  }

  void printEdges(const Op &op, llvm::raw_ostream &out) const {
    Place to = places.lookup(&op);
    for (const Value *operand : op.operandValues()) {
      if (!operand || !places.count(operand->definingOp()))
        continue;
      Place from = places.lookup(operand->definingOp());
      out << "<line x1=\"" << from.column * stepX + width / 2 << "\" y1=\""
          << from.row * stepY + height << "\" x2=\""
          << to.column * stepX + width / 2 << "\" y2=\"" << to.row * stepY
          << "\"/>\n";
    }
  }

  void printNode(const Op &op, llvm::raw_ostream &out) const {
    Place at = places.lookup(&op);
    out << "<g><title>";
    for (const Value *result : op.resultValues())
      out << escaped(result->name) << ": " << escaped(result->type.str())
          << "; ";
    out << countFlops(op) << " FLOP</title><rect class=\""
        << (op.is(ops::Conv) || op.is(ops::Matmul) ? "product" : "op")
        << "\" x=\"" << at.column * stepX << "\" y=\"" << at.row * stepY
        << "\" width=\"" << width << "\" height=\"" << height
        << "\"/><text x=\"" << at.column * stepX + width / 2 << "\" y=\""
        << at.row * stepY + 18 << "\">" << escaped(op.def().name.take_front(18))
        << "</text></g>\n";
  }

  std::vector<std::vector<const Op *>> rows;
  llvm::DenseMap<const Op *, Place> places;
};

} // namespace

static constexpr char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;"
    "padding:0 1em;color:#222}table{border-collapse:collapse}td,th{padding:"
    ".3em .8em;border-bottom:1px solid #ddd;text-align:right}td:first-child,"
    "th:first-child{text-align:left}.bar{display:flex;height:1em;width:30em;"
    "margin:.5em 0}.dispatch{background:#888}.compute{background:#3b7dd8}"
    ".move{background:#e0963c}.graph{overflow-x:auto}svg text{font-size:11px;"
    "text-anchor:middle}svg line{stroke:#999}svg rect{fill:#eef;stroke:#99b}"
    "svg rect.product{fill:#cde;stroke:#3b7dd8}footer{color:#666}";

static void printRow(llvm::StringRef name, const Prediction &cost,
                     const Target &target, llvm::raw_ostream &out) {
  out << "<tr><td>" << escaped(name) << "</td><td>" << cost.numbers.ops
      << llvm::format("</td><td>%.4g</td><td>%.4g</td><td>%.4g (%.3g to "
                      "%.3g)</td><td>%.1f %%</td><td>",
                      mega(double(cost.work.convFlops + cost.work.otherFlops)),
                      mega(double(cost.work.bytes)), milli(cost.total),
                      milli(cost.least), milli(cost.most),
                      100 * cost.utilization(target))
      << cost.bound() << "</td></tr>\n";
}

static void printBar(const Prediction &cost, llvm::raw_ostream &out) {
  double whole = std::max(cost.floor + cost.compute + cost.move, 1e-9);
  out << "<div class=\"bar\">";
  auto part = [&](llvm::StringRef name, double time) {
    out << "<div class=\"" << name << "\" title=\"" << name
        << llvm::format(" %.4g ms\" style=\"width:%.2f%%\"></div>", milli(time),
                        100 * time / whole);
  };
  part("dispatch", cost.floor);
  part("compute", cost.compute);
  part("move", cost.move);
  out << "</div>\n";
}

void anec::printCostPage(const Module &module, const Target &target,
                         llvm::raw_ostream &out) {
  out << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<title>Predicted for "
      << target.name << "</title><style>" << style
      << "</style></head><body>\n<h1>Predicted for " << target.name
      << "</h1>\n<p>From anchors that others published; nothing here was "
         "measured.</p>\n<table><tr><th>program</th><th>ops</th>"
         "<th>MFLOP</th><th>MB moved</th><th>ms</th><th>of the peak</th>"
         "<th>by</th></tr>\n";
  for (const Function *function : programs(module))
    printRow(function->name, predict(*function, target), target, out);
  if (programs(module).size() > 1)
    printRow("all, once each", sum(module, target), target, out);
  out << "</table>\n";
  for (const Function *function : programs(module)) {
    Prediction cost = predict(*function, target);
    out << "<h2>" << escaped(function->name) << "</h2>\n";
    printBar(cost, out);
    out << llvm::format(
        "<p>dispatch %.4g, computing %.4g, moving %.4g ms; depth %u; at most "
        "%.4g MB alive, %.3g %% of the chip's</p>\n<div class=\"graph\">",
        milli(cost.floor), milli(cost.compute), milli(cost.move), cost.depth,
        mega(double(cost.numbers.activationPeak)), 100 * cost.share(target));
    Graph(*function).print(out);
    out << "</div>\n";
  }
  out << "<footer><ul>\n";
  auto anchor = [&](llvm::StringRef what, const Quoted<double> &figure,
                    llvm::StringRef unit) {
    out << "<li>" << what << llvm::format(" %.4g ", double(figure)) << unit
        << ": " << escaped(figure.source) << " (" << spelling(figure.confidence)
        << " confidence)</li>\n";
  };
  anchor("dispatch", target.cost.floorMicroseconds, "us");
  anchor("convolutions", target.cost.convTeraflops, "TFLOP/s");
  anchor("other ops", target.cost.matmulTeraflops, "TFLOP/s");
  anchor("bandwidth", target.cost.gigabytesPerSecond, "GB/s");
  out << "</ul></footer></body></html>\n";
}
