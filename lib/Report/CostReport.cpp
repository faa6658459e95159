//===- CostReport.cpp - predicted costs as text and JSON ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/CostReport.h"
#include "ScaledNumber.h"
#include "lib/IR/OpDef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

std::vector<const RunCost::Program *>
anec::distinctPrograms(llvm::ArrayRef<RunCost> runs) {
  std::vector<const RunCost::Program *> programs;
  llvm::StringSet<> names;
  for (const RunCost &run : runs)
    for (const RunCost::Program &program : run.programs)
      if (names.insert(program.name).second)
        programs.push_back(&program);
  return programs;
}

/// A run of one dispatch equals its program, which is printed anyway.
static bool isWorthASum(const RunCost &run) {
  return run.dispatches() > 1 || run.hostOps > 0;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static constexpr char indent[] = "                   ";

static void printAnchor(llvm::StringRef what, const Quoted<double> &anchor,
                        llvm::StringRef unit, llvm::raw_ostream &out) {
  out << llvm::format("  %-22s %6.4g ", what.str().c_str(), double(anchor))
      << unit << "  (" << anchor.source << "; " << spelling(anchor.confidence)
      << " confidence)\n";
}

static void printTimes(llvm::StringRef name, const Prediction &cost,
                       const Target &target, llvm::raw_ostream &out) {
  std::string flops =
      scaled(double(cost.work.convFlops + cost.work.otherFlops), "FLOP");
  std::string bytes = scaled(double(cost.work.bytes), "B");
  out << llvm::format("  %-16s %5u ops, %s, %s moved: %.4g ms (%.3g to %.3g), "
                      "%.1f %% of the peak, by ",
                      name.str().c_str(), cost.numbers.ops, flops.c_str(),
                      bytes.c_str(), milli(cost.total), milli(cost.least),
                      milli(cost.most), 100 * cost.utilization(target));
  out << cost.bound() << '\n';
}

/// Prints a bar of height 0 to 8 for each depth.
static void printDepths(const Function &function, const Target &target,
                        llvm::raw_ostream &out) {
  static constexpr const char *blocks[] = {"_", "▁", "▂", "▃", "▄",
                                           "▅", "▆", "▇", "█"};
  constexpr size_t widest = 60;
  std::vector<DepthCost> costs = costByDepth(function, target);
  size_t columns = std::min(costs.size(), widest);
  std::vector<double> times(columns, 0);
  for (size_t depth = 0; depth < costs.size(); ++depth)
    times[depth * columns / costs.size()] += costs[depth].compute;
  double most = 0;
  for (double time : times)
    most = std::max(most, time);
  if (most == 0)
    return;
  out << indent << "computing by depth, inputs first: ";
  for (double time : times)
    out << blocks[time > 0 ? 1 + int(7 * time / most) : 0];
  out << '\n';
}

static void printShapes(const Function &function, const Target &target,
                        llvm::raw_ostream &out) {
  constexpr size_t most = 5;
  constexpr double leastShown = 0.1; // microseconds
  std::vector<ShapeCost> costs = costByShape(function, target);
  for (const ShapeCost &cost : llvm::ArrayRef(costs).take_front(most)) {
    out << indent << cost.count << " x " << cost.def->name << ' ' << cost.shape
        << ": " << scaled(double(cost.flops), "FLOP")
        << llvm::format(", computing %.3g ms", milli(cost.compute));
    if (cost.stream >= leastShown)
      out << llvm::format(", weights %.3g ms", milli(cost.stream));
    out << llvm::format(", %.1f %% of the peak at most\n",
                        100 * cost.utilization(target));
  }
  if (costs.size() > most)
    out << indent << "and " << costs.size() - most << " cheaper shapes\n";
}

static void printProgram(const RunCost::Program &program, const Target &target,
                         llvm::raw_ostream &out) {
  const Prediction &cost = program.cost;
  printTimes(program.name, cost, target, out);
  out << indent
      << llvm::format("depth %u, %u tasks; dispatch %.4g, computing %.4g, "
                      "moving %.4g, elements %.4g ms; at most %s live, "
                      "%.3g %% of the chip's\n",
                      cost.depth, cost.tasks, milli(cost.floor),
                      milli(cost.compute), milli(cost.move),
                      milli(cost.elements),
                      scaled(double(cost.numbers.activationPeak), "B").c_str(),
                      100 * cost.share(target));
  printDepths(*program.function, target, out);
  printShapes(*program.function, target, out);
}

static void printRun(const RunCost &run, const Target &target,
                     llvm::raw_ostream &out) {
  Prediction sum = run.sum();
  printTimes(run.name, sum, target, out);
  out << indent
      << llvm::format("%u dispatches, %u tasks; dispatch %.4g, computing "
                      "%.4g, moving %.4g, elements %.4g ms\n",
                      run.dispatches(), sum.tasks, milli(sum.floor),
                      milli(sum.compute), milli(sum.move), milli(sum.elements));
  for (const RunCost::Program &program : run.programs)
    out << indent
        << llvm::format("%4.1f %%  %4u x %8.4g ms  ",
                        100 * program.total() / sum.total, program.runs,
                        milli(program.cost.total))
        << program.name << ", by " << program.cost.bound() << '\n';
  if (run.hostOps)
    out << indent << "the host runs " << run.hostOps << " ops with "
        << scaled(double(run.hostFlops), "FLOP")
        << ", whose time is not predicted\n";
}

void anec::printCost(llvm::ArrayRef<RunCost> runs, const Target &target,
                     llvm::raw_ostream &out) {
  out << "predicted for " << target.name << ", from published anchors:\n";
  for (const RunCost &run : runs)
    if (isWorthASum(run) && run.hostOps)
      printRun(run, target, out);
  for (const RunCost::Program *program : distinctPrograms(runs))
    printProgram(*program, target, out);
  for (const RunCost &run : runs)
    if (isWorthASum(run) && !run.hostOps)
      printTimes(run.name, run.sum(), target, out);
  const CostAnchors &anchors = target.cost;
  printAnchor("dispatch", anchors.floorMicroseconds, "us", out);
  printAnchor("convolutions", anchors.convTeraflops, "TFLOP/s", out);
  printAnchor("other ops", anchors.matmulTeraflops, "TFLOP/s", out);
  printAnchor("bandwidth", anchors.gigabytesPerSecond, "GB/s", out);
  printAnchor("elements", anchors.elementGigabytesPerSecond, "GB/s", out);
  out << "  times are " << describeError(target) << '\n';
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeTimes(const Prediction &cost, const Target &target,
                       llvm::json::OStream &json) {
  json.attribute("ops", int64_t(cost.numbers.ops));
  json.attribute("conv_flop", cost.work.convFlops);
  json.attribute("other_flop", cost.work.otherFlops);
  json.attribute("tasks", int64_t(cost.tasks));
  json.attribute("bytes_moved", int64_t(cost.work.bytes));
  json.attribute("element_bytes", int64_t(cost.work.elementBytes));
  json.attribute("dispatch_microseconds", cost.floor);
  json.attribute("compute_microseconds", cost.compute);
  json.attribute("move_microseconds", cost.move);
  json.attribute("element_microseconds", cost.elements);
  json.attribute("microseconds", cost.total);
  json.attribute("least_microseconds", cost.least);
  json.attribute("most_microseconds", cost.most);
  json.attribute("utilization", cost.utilization(target));
  json.attribute("bound", cost.bound());
}

static void writeParts(const Function &function, const Target &target,
                       llvm::json::OStream &json) {
  json.attributeArray("by_shape", [&] {
    for (const ShapeCost &cost : costByShape(function, target))
      json.object([&] {
        json.attribute("op", cost.def->name);
        json.attribute("shape", cost.shape);
        json.attribute("count", int64_t(cost.count));
        json.attribute("flop", cost.flops);
        json.attribute("weight_bytes", int64_t(cost.weightBytes));
        json.attribute("compute_microseconds", cost.compute);
        json.attribute("weights_microseconds", cost.stream);
        json.attribute("utilization", cost.utilization(target));
      });
  });
  json.attributeArray("by_depth", [&] {
    for (const DepthCost &cost : costByDepth(function, target))
      json.object([&] {
        json.attribute("ops", int64_t(cost.ops));
        json.attribute("flop", cost.flops);
        json.attribute("compute_microseconds", cost.compute);
      });
  });
}

static void writeRun(const RunCost &run, const Target &target,
                     llvm::json::OStream &json) {
  json.attribute("name", run.name);
  json.attribute("dispatches", int64_t(run.dispatches()));
  json.attribute("host_ops", int64_t(run.hostOps));
  json.attribute("host_flop", run.hostFlops);
  Prediction sum = run.sum();
  json.attributeArray("programs", [&] {
    for (const RunCost::Program &program : run.programs)
      json.object([&] {
        json.attribute("name", program.name);
        json.attribute("runs", int64_t(program.runs));
        json.attribute("microseconds", program.total());
        json.attribute("share", program.total() / sum.total);
      });
  });
  writeTimes(sum, target, json);
}

static void writeAnchor(llvm::StringRef name, const Quoted<double> &anchor,
                        llvm::json::OStream &json) {
  json.attributeObject(name, [&] {
    json.attribute("value", double(anchor));
    json.attribute("source", anchor.source);
    json.attribute("confidence", spelling(anchor.confidence));
  });
}

void anec::printCost(llvm::ArrayRef<RunCost> runs, const Target &target,
                     llvm::json::OStream &json) {
  json.attributeObject("predicted", [&] {
    json.attribute("target", target.name);
    json.attributeArray("programs", [&] {
      for (const RunCost::Program *program : distinctPrograms(runs))
        json.object([&] {
          json.attribute("name", program->name);
          json.attribute("depth", int64_t(program->cost.depth));
          json.attribute("share_of_sram", program->cost.share(target));
          writeTimes(program->cost, target, json);
          writeParts(*program->function, target, json);
        });
    });
    json.attributeArray("runs", [&] {
      for (const RunCost &run : runs)
        json.object([&] { writeRun(run, target, json); });
    });
    json.attributeObject("anchors", [&] {
      const CostAnchors &anchors = target.cost;
      writeAnchor("dispatch_microseconds", anchors.floorMicroseconds, json);
      writeAnchor("conv_teraflops", anchors.convTeraflops, json);
      writeAnchor("other_teraflops", anchors.matmulTeraflops, json);
      writeAnchor("gigabytes_per_second", anchors.gigabytesPerSecond, json);
      writeAnchor("element_gigabytes_per_second",
                  anchors.elementGigabytesPerSecond, json);
      json.attribute("error_factor", anchors.errorFactor);
    });
  });
}
