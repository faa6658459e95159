//===- SuiteReport.cpp - what suites measured -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Bench/SuiteReport.h"
#include "lib/Ops/Cost.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec;

const MeasuredRow *SuiteReport::base(const MeasuredRow &row) const {
  for (const MeasuredRow &candidate : rows)
    if (candidate.row.label == row.row.label)
      return candidate.result.isMeasured() ? &candidate : nullptr;
  return nullptr;
}

std::optional<double> anec::shareOfPeak(const MeasuredRow &row,
                                        const Target *target) {
  if (!target || !row.result.isMeasured())
    return std::nullopt;
  return row.result.teraflops(row.row) / target->cost.convTeraflops;
}

static double megabytes(const SuiteRow &row) {
  return double(row.weightBytes()) * 1e-6;
}

static double gigaflopsPerMegabyte(const MeasuredRow &row) {
  return row.result.teraflops(row.row) * 1e3 / megabytes(row.row);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string columnTitle(SuiteColumn column,
                               const SuiteContext &context) {
  switch (column) {
  case SuiteColumn::Percent:
    if (context.target)
      return llvm::formatv("% of {0:f1}",
                           context.target->cost.convTeraflops.value);
    return "% of peak";
  case SuiteColumn::PerMegabyte:
    return "GFLOP/s/MB";
  case SuiteColumn::PerKernel:
    return "ms/kernel";
  case SuiteColumn::Ratio:
    return "faster by";
  }
  llvm_unreachable("all columns handled");
}

static std::string columnText(const SuiteReport &report, const MeasuredRow &row,
                              const SuiteContext &context) {
  switch (report.suite->column) {
  case SuiteColumn::Percent:
    if (auto share = shareOfPeak(row, context.target))
      return llvm::formatv("{0:f1}", *share * 100);
    return "-";
  case SuiteColumn::PerMegabyte:
    return llvm::formatv("{0:f1}", gigaflopsPerMegabyte(row));
  case SuiteColumn::PerKernel:
    return llvm::formatv("{0:f4}", row.result.timing.median() /
                                       double(row.row.kernels.size()));
  case SuiteColumn::Ratio:
    if (const MeasuredRow *base = report.base(row))
      return llvm::formatv("{0:f2}", base->result.timing.median() /
                                         row.result.timing.median());
    return "-";
  }
  llvm_unreachable("all columns handled");
}

static void printLabel(llvm::StringRef label, llvm::StringRef form,
                       llvm::raw_ostream &out) {
  out << llvm::formatv("  {0,-24} {1,-18}", label, form);
}

void anec::printSuiteHeading(const SuiteReport &report,
                             const SuiteContext &context,
                             llvm::raw_ostream &out) {
  out << report.suite->name << ": " << report.suite->summary << '\n'
      << "  " << context.machine.chip << ", " << context.machine.system
      << ", backend " << context.machine.backend
      << (context.machine.path.empty() ? "" : " by " + context.machine.path)
      << "; " << report.warmup << " runs to warm up, " << report.iterations
      << " timed\n";
  printLabel("", "", out);
  out << llvm::formatv("{0,7} {1,7} {2,9} {3,9} {4,9} {5,9}  {6,8} {7,11} "
                       "{8,8}\n",
                       "W MB", "GFLOP", "median ms", "min", "p95", "p99",
                       "TFLOP/s", columnTitle(report.suite->column, context),
                       "error");
}

void anec::printSuiteRow(const SuiteReport &report, const MeasuredRow &row,
                         const SuiteContext &context, llvm::raw_ostream &out) {
  const RowResult &result = row.result;
  printLabel(row.row.label, describe(row.row.form()), out);
  if (!result.isMeasured()) {
    out << ' ' << spelling(result.outcome) << ": " << result.message << '\n';
    out.flush();
    return;
  }
  out << llvm::format("%7.3g %7.3g %9.4f %9.4f %9.4f %9.4f  %8.4f ",
                      megabytes(row.row), double(row.row.flops()) * 1e-9,
                      result.timing.median(), result.timing.least(),
                      result.timing.quantile(0.95),
                      result.timing.quantile(0.99), result.teraflops(row.row))
      << llvm::formatv("{0,11} ", columnText(report, row, context))
      << llvm::format("%8.1e\n", result.error);
  out.flush();
}

static std::string sourceOf(const PublishedFigure &figure) {
  std::string source = figure.source.str();
  if (figure.path != "in-memory")
    source += ", by " + figure.path.str();
  return source;
}

/// The value, or `-` when it is not known.
static std::string orDash(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g", value);
  return value ? text : "-";
}

/// Prints a figure in the columns of the median and of TFLOP/s.
static void printFigure(const SuiteRow &row, double milliseconds,
                        double teraflops, llvm::StringRef from,
                        llvm::raw_ostream &out) {
  printLabel(row.label, describe(row.form()), out);
  out << llvm::formatv("{0,15} {1,9} {2,39}   {3}\n", "", orDash(milliseconds),
                       orDash(teraflops), from);
}

void anec::printOtherFigures(const SuiteReport &report,
                             const SuiteContext &context,
                             llvm::raw_ostream &out) {
  for (const OtherReport &other : context.others) {
    out << "  measured on " << other.machine << ", with outputs checked:\n";
    for (const MeasuredRow &row : report.rows)
      if (const OtherReport::Figure *figure =
              other.find(*report.suite, row.row))
        printFigure(row.row, figure->milliseconds, figure->teraflops,
                    other.machine, out);
  }
  bool isFirst = true;
  for (const MeasuredRow &row : report.rows)
    for (const PublishedFigure *figure : publishedFor(*report.suite, row.row)) {
      if (isFirst)
        out << "  published by others, on their machines, with outputs that "
               "nobody checked:\n";
      isFirst = false;
      printFigure(row.row, figure->milliseconds, figure->teraflops,
                  figure->chip.str() + " (" + sourceOf(*figure) + ")", out);
    }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void printKernel(const SuiteKernel &kernel, llvm::json::OStream &json) {
  json.attributeObject("kernel", [&] {
    json.attribute("form", spelling(kernel.form));
    json.attribute("outputs", kernel.outputs);
    json.attribute("inputs", kernel.inputs);
    json.attribute("height", kernel.height);
    json.attribute("width", kernel.width);
    json.attribute("depth", int64_t(kernel.depth));
  });
}

static void printFigures(const SuiteReport &report, const MeasuredRow &row,
                         const SuiteContext &context,
                         llvm::json::OStream &json) {
  const RowResult &result = row.result;
  json.attribute("load_ms", result.loadMs);
  json.attribute("median_ms", result.timing.median());
  json.attribute("min_ms", result.timing.least());
  json.attribute("p95_ms", result.timing.quantile(0.95));
  json.attribute("p99_ms", result.timing.quantile(0.99));
  if (result.engine.size())
    json.attribute("engine_median_ms", result.engine.median());
  json.attribute("tflops", result.teraflops(row.row));
  if (auto share = shareOfPeak(row, context.target))
    json.attribute("percent_of_peak", *share * 100);
  if (report.suite->column == SuiteColumn::PerMegabyte)
    json.attribute("gflops_per_mb", gigaflopsPerMegabyte(row));
  if (report.suite->column == SuiteColumn::PerKernel)
    json.attribute("ms_per_kernel",
                   result.timing.median() / double(row.row.kernels.size()));
  const MeasuredRow *base = report.base(row);
  if (report.suite->column == SuiteColumn::Ratio && base)
    json.attribute("faster_by",
                   base->result.timing.median() / result.timing.median());
}

/// JSON has no infinity and no NaN: they become the largest double.
static double finiteOrMost(double value) {
  return std::isfinite(value) ? value : std::numeric_limits<double>::max();
}

static void printRowJson(const SuiteReport &report, const MeasuredRow &row,
                         const SuiteContext &context,
                         llvm::json::OStream &json) {
  const RowResult &result = row.result;
  json.object([&] {
    json.attribute("row", row.row.label);
    json.attribute("form", spelling(row.row.form()));
    json.attribute("outcome", spelling(result.outcome));
    if (!result.message.empty())
      json.attribute("message", result.message);
    json.attribute("kernels", int64_t(row.row.kernels.size()));
    printKernel(row.row.kernels.front(), json);
    json.attribute("weight_bytes", int64_t(row.row.weightBytes()));
    json.attribute("flop", row.row.flops());
    if (result.isMeasured())
      printFigures(report, row, context, json);
    if (result.isMeasured() || result.outcome == RowResult::Wrong) {
      json.attribute("error", finiteOrMost(result.error));
      json.attribute("error_to_cpu", finiteOrMost(result.errorToCpu));
    }
    json.attribute("error_of_cpu", finiteOrMost(result.cpuError));
    json.attribute("tolerance", result.tolerance);
    json.attributeArray("published", [&] {
      for (const PublishedFigure *figure : publishedFor(*report.suite, row.row))
        json.object([&] {
          json.attribute("chip", figure->chip);
          json.attribute("path", figure->path);
          if (figure->milliseconds)
            json.attribute("mean_ms", figure->milliseconds);
          if (figure->teraflops)
            json.attribute("tflops", figure->teraflops);
          json.attribute("source", figure->source);
        });
    });
  });
}

void anec::printSuiteReports(llvm::ArrayRef<SuiteReport> reports,
                             const SuiteContext &context,
                             llvm::raw_ostream &out) {
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attribute("benchmark", 1);
    json.attribute("anec", ANEC_VERSION);
    json.attribute("chip", context.machine.chip);
    json.attribute("system", context.machine.system);
    json.attribute("backend", context.machine.backend);
    if (!context.machine.path.empty()) {
      json.attribute("path", context.machine.path);
      json.attribute("framework", context.machine.framework);
    }
    json.attribute("mil_version", context.milVersion);
    if (const Target *target = context.target) {
      json.attribute("target", target->name);
      json.attribute("peak_tflops", target->cost.convTeraflops.value);
      json.attribute("peak_source", target->cost.convTeraflops.source);
    }
    json.attributeArray("suites", [&] {
      for (const SuiteReport &report : reports)
        json.object([&] {
          json.attribute("suite", report.suite->name);
          json.attribute("warmup", int64_t(report.warmup));
          json.attribute("iterations", int64_t(report.iterations));
          json.attributeArray("rows", [&] {
            for (const MeasuredRow &row : report.rows)
              printRowJson(report, row, context, json);
          });
        });
    });
  });
  out << '\n';
}
